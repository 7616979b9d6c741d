/*
 * collect_host.c - every process of the host, cheaply.
 *
 * Measured on Linux 6.18, CPU time for one process: stat 10 us, status 13, cgroup 9, cmdline 8;
 * smaps_rollup 75 for a tiny one and 10 ms for each GiB, under the target's lock. A
 * host has many processes and few that matter, so there are three looks, the second one
 * through a single descriptor for each:
 *   1. stat of all: name, parent, resident set;
 *   2. status, title and cgroup of the largest, and their smaps_rollup within a budget
 *      of CPU time;
 *   3. the same without smaps_rollup of whoever may be in one pool with them.
 * What a process was not looked at for is absent, and a gap says for how many.
 */
#include "facts/collect_host.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/quantity.h"
#include "base/descriptor.h"
#include "facts/collect.h"
#include "facts/gap.h"
#include "facts/host.h"
#include "facts/host_choice.h"
#include "facts/process_list.h"

enum { CLOSE_LOOKS = 32, STAT_MAX_BYTES = 16 << 10 };

/* No single one may take longer than this, at 10 ms for each GiB. */
#define ROLLUP_RSS_MAX_BYTES (UINT64_C(4) << 30)
/* Enough for all looks at small processes. */
#define ROLLUP_BUDGET_NS (UINT64_C(2500) * 1000)

static uint64_t resident(const struct process_facts *process)
{
    const struct fact *rss = &process->values[PROCESS_FACT_VM_RSS];

    return rss->state == FACT_OK ? rss->value : 0;
}

static int compare_resident(const void *left, const void *right)
{
    const struct process_facts *a = left;
    const struct process_facts *b = right;
    const uint64_t a_bytes = resident(a);
    const uint64_t b_bytes = resident(b);

    if (a_bytes != b_bytes) {
        return a_bytes > b_bytes ? -1 : 1;
    }
    return (a->pid > b->pid) - (a->pid < b->pid);
}

static void sort_by_resident(struct facts *facts)
{
    if (facts->process_count > 0) {
        qsort(facts->processes, facts->process_count, sizeof(*facts->processes),
            compare_resident);
    }
}

/*
 * stat is made by one show function into a buffer of its own (fs/proc/array.c, seq_file.h), so
 * a first read with room enough gives all of it; asking for its end costs as much again.
 */
static int read_stat(struct process_reader *reader, int32_t pid, struct buffer *buffer,
    struct process_stat *stat)
{
    char name[sizeof("2147483647/stat")];

    (void)snprintf(name, sizeof(name), "%d/stat", pid);
    buffer_reset(buffer);
    int fd = facts_open_process_file(reader->root, reader->root->proc_fd, name);
    if (fd < 0) {
        return fd;
    }
    char *place = buffer_reserve(buffer, STAT_MAX_BYTES);
    ssize_t got = place == NULL ? -ENOMEM : descriptor_read(fd, place, STAT_MAX_BYTES);
    close(fd);
    if (got < 0) {
        return (int)got;
    }
    buffer_commit(buffer, (size_t)got);
    reader->root->bytes_read += (uint64_t)got;
    return process_stat_parse(buffer_text(buffer), buffer->length_bytes, stat);
}

static void report_hidden(struct facts *facts, size_t hidden)
{
    if (hidden > 0) {
        char *why = region_printf(&facts->region,
            "/proc hides %s from this user (hidepid): run with sudo",
            quantity_count(hidden, "process").text);
        gap_add(facts, "process", 0, FACT_DENIED, why != NULL ? why : "hidden");
    }
}

/*
 * The first look. Processes that end meanwhile, kernel threads, and zombies whose memory is
 * gone are no rows of the overview.
 */
static int read_all_stats(struct process_reader *reader, const struct pid_list *pids)
{
    struct facts *facts = reader->facts;
    struct process_stat stat;
    struct buffer buffer;
    size_t hidden = 0;
    int rc = 0;

    facts->processes =
        region_alloc(&facts->region, pids->count * sizeof(*facts->processes));
    if (facts->processes == NULL) {
        return -ENOMEM;
    }
    buffer_init(&buffer);
    for (size_t i = 0; rc != -ENOMEM && i < pids->count; i++) {
        struct process_facts *process = &facts->processes[facts->process_count];
        rc = read_stat(reader, pids->pids[i], &buffer, &stat);
        hidden += rc == -EACCES || rc == -EPERM;
        if (rc != 0 || stat.kernel_thread ||
            (stat.run_state == 'Z' && stat.thread_count <= 1)) {
            continue;
        }
        rc = process_take_stat(reader, pids->pids[i], &stat, process);
        facts->process_count += rc == 0;
    }
    buffer_release(&buffer);
    report_hidden(facts, hidden);
    return rc == -ENOMEM ? rc : 0;
}

struct close_looks {
    struct process_reader *reader;
    bool *chosen;
    uint64_t rollup_ns; /* what is left of the time for smaps_rollup */
    size_t rollups;     /* how many were tried */
};

/* One that ended since the first look loses its place: it has no figures at all. */
static int look_closely(struct close_looks *looks, size_t place, bool rollup)
{
    struct process_facts *process = &looks->reader->facts->processes[place];
    struct process_facts closer;
    const bool tried = rollup && looks->rollup_ns > 0;
    int rc = process_read_shortly(
        looks->reader, process->pid, tried ? &looks->rollup_ns : NULL, &closer);

    looks->rollups += tried;
    if (rc == 0) {
        *process = closer;
    } else if (rc == -ESRCH || rc == -ENODATA) {
        looks->rollups -= tried;
        process->values[PROCESS_FACT_VM_RSS].state = FACT_GONE;
    }
    return rc == -ENOMEM ? rc : 0;
}

/* The second look at the first count, and the third. */
static int read_chosen(struct close_looks *looks, size_t count)
{
    struct facts *facts = looks->reader->facts;
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < facts->process_count && i < count; i++) {
        looks->chosen[i] = true;
        rc = look_closely(looks, i,
            i < CLOSE_LOOKS && resident(&facts->processes[i]) <= ROLLUP_RSS_MAX_BYTES);
    }
    if (rc == 0) {
        rc = host_choice_add_relatives(facts, &facts->region, looks->chosen);
    }
    for (size_t i = count; rc == 0 && i < facts->process_count; i++) {
        if (looks->chosen[i]) {
            rc = look_closely(looks, i, false);
        }
    }
    return rc;
}

static void drop_gone(struct facts *facts)
{
    size_t kept = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        if (facts->processes[i].values[PROCESS_FACT_VM_RSS].state != FACT_GONE) {
            facts->processes[kept++] = facts->processes[i];
        }
    }
    facts->process_count = kept;
}

static void report_many(
    struct facts *facts, const char *fact, enum fact_state state, size_t count)
{
    if (count > 0) {
        char *why = region_printf(&facts->region,
            state != FACT_DENIED
                ? "of %zu processes: read for the largest only, to keep the overview "
                  "cheap; explain one to see it"
            : geteuid() == 0
                ? "of %zu processes: this root has no CAP_SYS_PTRACE over them"
                : "of %zu processes: run with sudo, or give CAP_SYS_PTRACE",
            count);
        gap_add(facts, fact, 0, state, why != NULL ? why : "not read");
    }
}

static void report_far(struct facts *facts, const bool *chosen)
{
    size_t far = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        far += !chosen[i];
    }
    report_many(facts, "status", FACT_ABSENT, far);
}

/* One gap for all processes says more than one for each. tried: of those that are left. */
static void report_rollups(struct facts *facts, size_t tried)
{
    size_t denied = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        denied += facts->processes[i].values[PROCESS_FACT_PSS].state == FACT_DENIED;
    }
    report_many(facts, "smaps_rollup", FACT_DENIED, denied);
    report_many(facts, "smaps_rollup", FACT_ABSENT, facts->process_count - tried);
}

static int read_processes(struct process_reader *reader, const struct pid_list *pids)
{
    struct facts *facts = reader->facts;
    const bool rollups = (reader->what & COLLECT_ROLLUP) != 0;
    const bool closely = (reader->what & COLLECT_CLOSELY) != 0;
    int rc = read_all_stats(reader, pids);

    if (rc != 0) {
        return rc;
    }
    struct close_looks looks = {.reader = reader,
        .chosen =
            region_alloc(&facts->region, facts->process_count * sizeof(*looks.chosen)),
        .rollup_ns = rollups ? ROLLUP_BUDGET_NS : 0};
    if (looks.chosen == NULL) {
        return -ENOMEM;
    }
    sort_by_resident(facts);
    rc = read_chosen(&looks, closely ? facts->process_count : CLOSE_LOOKS);
    if (rc != 0) {
        return rc;
    }
    report_far(facts, looks.chosen);
    drop_gone(facts);
    sort_by_resident(facts);
    if (rollups) {
        report_rollups(facts, looks.rollups);
    }
    return 0;
}

int collect_host(struct collection *collection, struct error *error)
{
    struct process_reader *reader = &collection->reader;
    struct facts *facts = reader->facts;
    struct pid_list pids;

    facts->target_kind = TARGET_HOST;
    facts->target_name = region_copy_text(&facts->region, "host");
    if (facts->target_name == NULL) {
        return -ENOMEM;
    }
    int rc = (reader->what & COLLECT_HOST) == 0
                 ? 0
                 : host_read(reader->root, &facts->region, &facts->host);
    if (rc == 0) {
        rc = pid_list_read(reader->root, &facts->region, &pids);
    }
    if (rc == 0 && pids.count == 0) {
        rc = error_set(error, -ENOENT, "cannot list processes: '/proc' shows none");
    }
    return rc != 0 ? rc : read_processes(reader, &pids);
}
