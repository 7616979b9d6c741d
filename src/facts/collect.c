/*
 * collect.c - reads the world once, in one order, and closes it again.
 *
 * Everything that later steps see is in struct facts. The order: who is meant, the host (its
 * boot time gives processes their start), the processes, what they share, the bill.
 */
#include "facts/collect.h"

#include <errno.h>
#include <time.h>

#include "base/number.h"
#include "facts/frames.h"
#include "facts/process.h"
#include "facts/target.h"

/* All facts of a host with 100,000 processes fit; a hostile one cannot take more. */
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

static void begin(struct facts *facts)
{
    *facts = (struct facts){.schema = FACTS_SCHEMA, .target_cgroup = -1};
    region_init(&facts->region, FACTS_MAX_BYTES);
    facts->taken_at_unix_ns = (int64_t)clock_ns(CLOCK_REALTIME);
}

static int read_members(
    struct process_reader *reader, const struct target *target, struct error *error)
{
    struct facts *facts = reader->facts;
    int rc = -ESRCH;

    facts->processes =
        region_alloc(&facts->region, target->count * sizeof(*facts->processes));
    if (facts->processes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < target->count; i++) {
        rc = process_read(
            reader, target->pids[i], &facts->processes[facts->process_count]);
        if (rc != 0) {
            return error_set(error, rc, "cannot read process %d: %s", target->pids[i],
                rc == -ESRCH ? "it ended while it was read" : "it has no memory");
        }
        facts->process_count++;
    }
    return 0;
}

static int collect(struct facts_root *root, const char *text, unsigned what,
    struct facts *facts, struct error *error)
{
    struct process_reader reader = {.root = root, .facts = facts, .what = what};
    struct target target;
    int rc = target_find(root, NULL, text, &facts->region, &target, error);

    if (rc != 0) {
        return rc;
    }
    facts->target_kind = target.kind;
    facts->target_name = target.name;
    rc = read_members(&reader, &target, error);
    if (rc == 0 && (what & COLLECT_FRAMES) != 0) {
        rc = frames_read(root, facts);
    }
    return rc;
}

int facts_collect(struct facts_root *root, const char *target, unsigned what,
    struct facts *facts, struct error *error)
{
    const uint64_t start_ns = clock_ns(CLOCK_MONOTONIC);
    const uint64_t bytes_before = root->bytes_read;

    begin(facts);
    int rc = collect(root, target, what, facts, error);
    facts->cost_wall_us = (clock_ns(CLOCK_MONOTONIC) - start_ns) / NS_PER_US;
    facts->cost_bytes_read = root->bytes_read - bytes_before;
    if (rc != 0) {
        region_release(&facts->region);
    }
    return rc;
}
