/*
 * collect_host.c - every process of the host, cheaply.
 *
 * Status and cgroup cost some 50 us a process; smaps_rollup walks the process's page tables
 * under its lock, about 10 ms for each GiB, and a host has much memory. So all processes
 * are read without it first, and then the largest get it, within a budget of CPU time. The
 * others have no PSS: it is missing, and a gap says so.
 */
#include "facts/collect_host.h"

#include <errno.h>
#include <stdlib.h>

#include "facts/collect.h"
#include "facts/gap.h"
#include "facts/host.h"
#include "facts/process_list.h"

/* No single one may take longer than this, at 10 ms for each GiB. */
#define ROLLUP_RSS_MAX_BYTES (UINT64_C(4) << 30)
#define ROLLUP_BUDGET_NS (UINT64_C(10) * 1000 * 1000)

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

/* Processes that end meanwhile, kernel threads and zombies are no rows of the overview. */
static int read_all(struct process_reader *reader, const struct pid_list *pids)
{
    struct facts *facts = reader->facts;
    size_t hidden = 0;

    facts->processes =
        region_alloc(&facts->region, pids->count * sizeof(*facts->processes));
    if (facts->processes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < pids->count; i++) {
        int rc =
            process_read(reader, pids->pids[i], &facts->processes[facts->process_count]);
        if (rc == -ENOMEM) {
            return rc;
        }
        facts->process_count += rc == 0;
        hidden += rc == -EACCES;
    }
    if (hidden > 0) {
        char *why = region_printf(&facts->region,
            "/proc hides %zu processes from this user (hidepid): run with sudo", hidden);
        gap_add(facts, "process", 0, FACT_DENIED, why != NULL ? why : "hidden");
    }
    return 0;
}

struct rollup_counts {
    size_t denied;
    size_t skipped;
};

static void report(struct facts *facts, const struct rollup_counts *counts)
{
    char *why;

    if (counts->denied > 0) {
        why = region_printf(&facts->region,
            "of %zu processes: run with sudo, or give CAP_SYS_PTRACE", counts->denied);
        gap_add(facts, "smaps_rollup", 0, FACT_DENIED, why != NULL ? why : "denied");
    }
    if (counts->skipped > 0) {
        why = region_printf(&facts->region,
            "of %zu processes: read for the largest only, to keep the overview cheap; "
            "explain one to see its share",
            counts->skipped);
        gap_add(facts, "smaps_rollup", 0, FACT_ABSENT, why != NULL ? why : "skipped");
    }
}

/* One gap for all processes says more than one for each. */
static int read_rollups(struct process_reader *reader)
{
    const uint64_t until_ns = collection_cpu_ns() + ROLLUP_BUDGET_NS;
    struct facts *facts = reader->facts;
    struct rollup_counts counts = {0};
    const size_t gaps_before = facts->gap_count;

    for (size_t i = 0; i < facts->process_count; i++) {
        struct process_facts *process = &facts->processes[i];
        if (resident(process) > ROLLUP_RSS_MAX_BYTES || collection_cpu_ns() > until_ns) {
            counts.skipped++;
            continue;
        }
        int rc = process_read_rollup(reader, process);
        if (rc == -ENOMEM) {
            return rc;
        }
        counts.denied += process->values[PROCESS_FACT_PSS].state == FACT_DENIED;
    }
    facts->gap_count = gaps_before;
    report(facts, &counts);
    return 0;
}

int collect_host(struct collection *collection, struct error *error)
{
    struct process_reader *reader = &collection->reader;
    struct facts *facts = reader->facts;
    const bool rollups = (reader->what & COLLECT_ROLLUP) != 0;
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
    if (rc != 0) {
        return rc;
    }
    reader->what &= COLLECT_STATUS | COLLECT_CGROUP | COLLECT_HOST;
    rc = read_all(reader, &pids);
    if (rc == 0 && facts->process_count > 0) {
        qsort(facts->processes, facts->process_count, sizeof(*facts->processes),
            compare_resident);
    }
    if (rc == 0 && rollups) {
        rc = read_rollups(reader);
    }
    return rc;
}
