/* collect.h - reads the world once: a target's name in, all its facts out. */
#ifndef STRATA_FACTS_COLLECT_H
#define STRATA_FACTS_COLLECT_H

#include "base/error.h"
#include "facts/root.h"
#include "facts_types/facts.h"

/* What to read; decided before reading, from the command and its rules. */
enum collect_what {
    COLLECT_STATUS = 1, /* stat, status, names: always read, no permission needed */
    COLLECT_ROLLUP = 2, /* smaps_rollup: walks the page tables under the target's lock */
    COLLECT_SMAPS = 4,  /* every mapping with its numbers */
    COLLECT_ALLOCATOR = 8, /* which allocators, from mapped files and memory; settings */
    COLLECT_HEAPS = 16,    /* walk the heaps: glibc arenas, Zend chunks */
    COLLECT_FRAMES = 32,   /* unique and exclusive frames of the members */
    COLLECT_CGROUP = 64,
    COLLECT_HOST = 128,
    COLLECT_SERVICES = 256, /* what servers say of themselves: FPM, MySQL */
    COLLECT_EXPLAIN = 511,
    COLLECT_OVERVIEW = COLLECT_STATUS | COLLECT_ROLLUP | COLLECT_CGROUP | COLLECT_HOST,
    COLLECT_CLOSELY =
        1 << 16,             /* of a host: status and cgroup of all, not of the largest */
    COLLECT_AGAIN = 1 << 17, /* one of many readings: no look for competitors, nor for
                                who came or went meanwhile */
};

/*
 * Finds target (see target.h) and reads it. 0; -ENOENT nothing matches, or only what has
 * no memory of its own (kernel thread, zombie); -EEXIST several match where one is needed
 * (error lists them); -ESRCH it ended while it was read; -EACCES nothing could be read at
 * all; -EINVAL /proc holds nonsense; -ENOMEM. What is only partly missing is in
 * facts->gaps. On 0 the caller releases facts->region; on failure nothing is left to release.
 * Members of a pool stand in the order of their start, so parents before children.
 */
int facts_collect(struct facts_root *root, const char *target, unsigned what,
    struct facts *facts, struct error *error);

/* A process as it was seen before; the start time tells it from another with its pid. */
struct process_identity {
    int32_t pid;
    uint64_t start_time_ticks;
};

/* Processes that the caller has chosen, parents before children, and what they are to be called. */
struct chosen_members {
    enum target_kind kind; /* TARGET_PROCESS (then count is 1) or TARGET_POOL */
    const char *name;
    const struct process_identity *processes;
    size_t count;
};

/*
 * Reads these processes as one target, as facts_collect() would. Those that ended are left
 * out, and are gaps. -ESRCH: none is left. Other errors as above.
 */
int facts_collect_members(struct facts_root *root, const struct chosen_members *chosen,
    unsigned what, struct facts *facts, struct error *error);

/*
 * Reads every process of the host but kernel threads and zombies, largest resident set first.
 * Of all: name, parent, resident set. Status, title and cgroup only of the largest and
 * of whoever may be in one pool with them; with COLLECT_ROLLUP smaps_rollup of the largest
 * of these within a budget of time; COLLECT_CLOSELY: of all. The rest is absent, and gaps say
 * for how many.
 * Mappings, heaps and frames are never read. Errors as above.
 */
int facts_collect_host(
    struct facts_root *root, unsigned what, struct facts *facts, struct error *error);

#endif
