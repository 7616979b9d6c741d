/*
 * heap_strata.c - one reading of the statistics region of libstrata-malloc.so, in order.
 *
 * The region is found and copied (heap_strata_source.c, heap_strata_copy.c), its numbers are
 * checked and added up (heap_strata_figures.c), and where the process's memory may be read,
 * its places become spans (heap_strata_places.c). A heap that did not hold still is
 * stale, with the distance between two copies as its uncertainty.
 */
#include "facts/heap_strata.h"

#include <errno.h>
#include <strata/layout.h>

#include "base/number.h"
#include "facts/heap_strata_copy.h"
#include "facts/heap_strata_figures.h"
#include "facts/heap_strata_places.h"
#include "facts/root.h"

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static uint64_t larger(uint64_t a, uint64_t b)
{
    return a > b ? a : b;
}

static int set_why(
    struct region *region, struct strata_facts *facts, uint32_t state, const char *why)
{
    facts->state = state;
    facts->why = region_copy_text(region, why);
    return facts->why == NULL ? -ENOMEM : 0;
}

/* Two copies that differ bound what is true in between. */
static int judge(const struct heap_strata_copy *copy, struct region *region,
    struct strata_facts *facts)
{
    struct strata_facts before;

    facts->state = FACT_OK;
    if (copy->settled) {
        return 0;
    }
    if (heap_strata_sums(copy->before, &before) != 0) {
        facts->plus_minus_bytes = larger(facts->in_use_bytes, facts->free_bytes);
    } else {
        facts->plus_minus_bytes =
            larger(distance(facts->in_use_bytes, before.in_use_bytes),
                larger(distance(facts->cached_bytes, before.cached_bytes),
                    distance(facts->held_bytes, before.held_bytes)));
    }
    return set_why(region, facts, FACT_STALE, "the heap changed while it was read");
}

/* Of a copy that moved, the sums may contradict each other without any lie. */
static int read_figures(const struct heap_strata_copy *copy, struct region *region,
    struct strata_facts *facts)
{
    int rc = heap_strata_figures(copy->last, region, facts);

    if (rc == -EINVAL && !copy->settled) {
        rc = heap_strata_figures(copy->before, region, facts);
    }
    if (rc == -EINVAL) {
        *facts = (struct strata_facts){0};
        return set_why(region, facts, FACT_MALFORMED,
            copy->settled ? "the figures of its region contradict each other"
                          : "the heap changes too fast to be read");
    }
    return rc != 0 ? rc : judge(copy, region, facts);
}

/* A child that no handler of fork ran in still has its parent's. */
static bool is_of_another(
    const struct process_facts *process, const struct strata_region *copy)
{
    const int32_t known =
        process->namespace_pid != 0 ? process->namespace_pid : process->pid;

    return copy->process_id != known;
}

static int read_source(struct heap_strata_source *source, struct region *region,
    struct process_facts *process)
{
    struct strata_facts *facts = &process->strata;
    struct heap_strata_copy copy;
    int rc = heap_strata_copy_take(source, &copy);

    if (rc == 0 && is_of_another(process, copy.last)) {
        rc = set_why(region, facts, FACT_ABSENT,
            "its region is the parent's: it was forked without the handlers of fork");
    } else if (rc == 0) {
        rc = read_figures(&copy, region, facts);
        facts->shared = source->segment != NULL;
    } else if (rc == -EPROTO) {
        rc = set_why(region, facts, FACT_MALFORMED,
            "its region has another version than this strata knows");
    } else if (rc != -ESRCH && rc != -ENOMEM) {
        rc = set_why(region, facts, rc == -EINVAL ? FACT_MALFORMED : facts_state_of(rc),
            rc == -EINVAL ? "its region is not what it claims to be"
                          : "its region could not be read");
    }
    heap_strata_copy_release(&copy);
    if (rc == 0 && (facts->state == FACT_OK || facts->state == FACT_STALE)) {
        rc = heap_strata_places_read(source, region, process);
    }
    return rc;
}

int heap_strata_read(struct process_folder *folder, struct memory *memory,
    struct region *region, struct process_facts *process)
{
    struct heap_strata_source source;
    int rc = heap_strata_source_open(folder, memory, process, &source);

    process->strata = (struct strata_facts){0};
    if (rc == -ENOENT) {
        return 0;
    }
    if (rc == -ESRCH || rc == -ENOMEM) {
        return rc;
    }
    if (rc != 0) {
        return set_why(region, &process->strata, facts_state_of(rc),
            "it has a segment of shared memory like a statistics region, which is not "
            "shared with this user (STRATA_REGION_FOR=all in its environment would)");
    }
    rc = read_source(&source, region, process);
    if (folder != NULL) {
        folder->root->bytes_read += source.bytes_read;
    }
    heap_strata_source_close(&source);
    return rc;
}
