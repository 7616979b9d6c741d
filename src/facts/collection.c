/*
 * collection.c - the frame around every reading: clock, memory, cgroups, cost.
 *
 * Everything that is read belongs to the region of the facts, so a reading that fails
 * is undone by releasing that.
 */
#include "facts/collection.h"

#include <time.h>

/* The facts of a host with 100,000 processes fit; a hostile one cannot take more. */
#define FACTS_MAX_BYTES ((size_t)1 << 31)

enum { NS_PER_SECOND = 1000000000, NS_PER_US = 1000 };

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now;

    if (clock_gettime(clock, &now) != 0) {
        return 0;
    }
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

int collection_begin(struct collection *collection, struct facts_root *root,
    unsigned what, struct facts *facts)
{
    *facts = (struct facts){.schema = FACTS_SCHEMA, .target_cgroup = -1};
    region_init(&facts->region, FACTS_MAX_BYTES);
    facts->taken_at_unix_ns = (int64_t)clock_ns(CLOCK_REALTIME);
    *collection = (struct collection){.started_ns = clock_ns(CLOCK_MONOTONIC),
        .bytes_before = root->bytes_read,
        .reader = {
            .root = root, .facts = facts, .cgroups = &collection->cgroups, .what = what}};
    return cgroup_reader_init(&collection->cgroups, root, &facts->region);
}

uint64_t collection_elapsed_ns(const struct collection *collection)
{
    return clock_ns(CLOCK_MONOTONIC) - collection->started_ns;
}

uint64_t collection_cpu_ns(void)
{
    return clock_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int collection_end(struct collection *collection, int rc)
{
    struct facts *facts = collection->reader.facts;

    cgroup_reader_release(&collection->cgroups);
    facts->cost_wall_us = collection_elapsed_ns(collection) / NS_PER_US;
    facts->cost_bytes_read =
        collection->reader.root->bytes_read - collection->bytes_before;
    if (rc != 0) {
        region_release(&facts->region);
        *facts = (struct facts){.schema = FACTS_SCHEMA, .target_cgroup = -1};
    }
    return rc;
}
