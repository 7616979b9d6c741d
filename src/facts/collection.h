/* collection.h - one reading of the world: where from, into what, at what cost. */
#ifndef STRATA_FACTS_COLLECTION_H
#define STRATA_FACTS_COLLECTION_H

#include <stdint.h>

#include "facts/cgroup.h"
#include "facts/process.h"
#include "facts/root.h"
#include "facts_types/facts.h"

struct collection {
    struct process_reader reader;
    struct cgroup_reader cgroups;
    uint64_t started_ns; /* monotonic */
    uint64_t bytes_before;
};

/* Makes facts empty, takes the time and opens the cgroup hierarchies. 0 or -ENOMEM. */
int collection_begin(struct collection *collection, struct facts_root *root,
    unsigned what, struct facts *facts);

/*
 * Closes what was opened and states the cost; when rc, the outcome so far, is a
 * failure, facts is emptied. Returns rc. Right after a failed collection_begin() too.
 */
int collection_end(struct collection *collection, int rc);

/* Time since the begin. */
uint64_t collection_elapsed_ns(const struct collection *collection);

/* CPU time that this process has taken so far: a budget in it means the same under load. */
uint64_t collection_cpu_ns(void);

#endif
