/*
 * Fork takes every lock, in the order of their ranks, so that the child finds nothing half
 * done; and gives the child a region of its own.
 *
 * Lock ranks, outermost first: CPU tables, classes in their order, tails of large
 * blocks, unit heap, metadata, kept ranges.
 */
#include "fork.h"

#include "busy.h"
#include "central.h"
#include "decay.h"
#include "front.h"
#include "hard.h"
#include "kept.h"
#include "large_books.h"
#include "metadata.h"
#include "percpu.h"
#include "publish.h"
#include "region.h"
#include "tags.h"
#include "units.h"

/* A handler that forks inside of a slow path gets a child in the midst of the same step,
 * which goes on when the handler returns. What CPUs kept is lost to it, as to a child that
 * no handler of fork ran in. While there are other threads it may be stuck, as with glibc. */
void strata__fork_prepare(void)
{
    if (!strata__busy_enter()) { /* nor can handlers that come in between */
        strata__busy_begin_fork();
        return;
    }
    strata__percpu_fork_prepare(strata__decay_fork_prepare());
    strata__tags_lock();
    strata__central_lock();
    strata__large_lock();
    strata__units_lock();
    strata__metadata_lock();
    strata__kept_lock();
    strata__hard_lock();
}

void strata__fork_parent(void)
{
    if (strata__busy_end_fork()) {
        return;
    }
    strata__hard_unlock();
    strata__kept_unlock();
    strata__metadata_unlock();
    strata__units_unlock();
    strata__large_unlock();
    strata__central_unlock();
    strata__tags_unlock();
    strata__percpu_fork_parent();
    strata__front_leave();
}

void strata__fork_child(void)
{
    if (strata__busy_end_fork()) {
        strata__region_leave();
        return;
    }
    int renewed = strata__region_renew();
    strata__kept_reset_lock();
    strata__metadata_reset_lock();
    strata__units_reset_lock();
    strata__large_reset_lock();
    strata__central_reset_locks();
    strata__tags_fork_child();
    strata__publish_all();
    strata__percpu_fork_child(renewed);
    strata__hard_fork_child();
    strata__decay_fork_child();
    strata__front_leave();
}
