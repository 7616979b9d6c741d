/*
 * The order is that of the way back: quarantine, CPUs, classes, tails, spans. What one level gives up
 * the next can purge.
 *
 * A refused request is tried again once. Purging cannot help when the request alone is
 * above the limit; nor when it needs addresses that the system has not got, since regions
 * are never unmapped: then only a request that fits into one is worth the time.
 */
#include "relief.h"

#include <errno.h>
#include <stdint.h>

#include "central_sweep.h"
#include "hard.h"
#include "large_books.h"
#include "limit.h"
#include "metadata.h"
#include "percpu.h"
#include "units.h"

size_t strata__relief_purge(void)
{
    int saved = errno;
    size_t purged = 0;
    strata__hard_flush();
    strata__percpu_drain(1);
    purged += strata__central_sweep(1);
    purged += strata__large_sweep(1);
    purged += strata__units_purge(UINT32_MAX, 0);
    purged += strata__metadata_sweep(1);
    strata__limit_purged();
    errno = saved;
    return purged;
}

int strata__relief_after_refusal(size_t bytes)
{
    size_t most = strata__limit_hard();
    if (bytes > most || (most == SIZE_MAX && bytes > strata__units_mapped_bytes())) {
        return 0;
    }
    (void)strata__relief_purge();
    return 1;
}

void strata__relief_under_pressure(void)
{
    (void)strata__relief_purge();
    strata__limit_count_pressure();
}

void strata__relief_note_alloc(void)
{
    if (strata__limit_wants_purge()) {
        (void)strata__relief_purge();
    }
}
