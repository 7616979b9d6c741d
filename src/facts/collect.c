/*
 * collect.c - reads a target once, in one order.
 *
 * Everything that later steps see is in struct facts. The order: the host (its boot time
 * gives processes their start), who is meant, each member, what the members share, the
 * bill, and at last whether the members are still the same.
 */
#include "facts/collect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "facts/cgroup_tree.h"
#include "facts/collect_host.h"
#include "facts/collection.h"
#include "facts/fpm.h"
#include "facts/frames.h"
#include "facts/gap.h"
#include "facts/host.h"
#include "facts/mysql.h"
#include "facts/target.h"

static int read_host(struct collection *collection)
{
    const struct process_reader *reader = &collection->reader;

    if ((reader->what & COLLECT_HOST) == 0) {
        return 0;
    }
    int rc = host_read(reader->root, &reader->facts->region, &reader->facts->host);
    return rc == 0 ? host_read_page_counts(reader->root, &reader->facts->host) : rc;
}

/* Why a target of one process has no facts at all. */
static int refuse_process(
    const struct process_facts *process, int rc, struct error *error)
{
    switch (-rc) {
    case ENODATA:
        return error_set(error, -ENOENT,
            process->kernel_thread
                ? "cannot explain process %d: a kernel thread has no memory of its own"
                : "cannot explain process %d: it has ended and only waits for its parent "
                  "to notice (zombie)",
            process->pid);
    case ESRCH:
        return error_set(error, rc, "cannot read process %d: it ended while it was read",
            process->pid);
    case EACCES:
        return error_set(error, rc,
            "cannot read process %d: /proc hides it from this user (hidepid); run with "
            "sudo",
            process->pid);
    case EINVAL:
        return error_set(error, rc,
            "cannot read process %d: '/proc/%d/stat' is not what it should be",
            process->pid, process->pid);
    case ENOMEM:
        return rc;
    default:
        return error_set(
            error, rc, "cannot read process %d: %s", process->pid, strerrordesc_np(-rc));
    }
}

/* A member that has no memory or ended is left out; what is denied is a gap. */
static int read_member(struct process_reader *reader, int32_t pid)
{
    struct facts *facts = reader->facts;
    struct process_facts *process = &facts->processes[facts->process_count];
    int rc = process_read(reader, pid, process);

    switch (-rc) {
    case 0:
        facts->process_count++;
        return 0;
    case ENOMEM:
        return rc;
    case ENODATA:
        return 0;
    default:
        gap_add_failure(facts, reader->root, "process", process, rc);
        return 0;
    }
}

static int read_members(
    struct process_reader *reader, const struct target *target, struct error *error)
{
    struct facts *facts = reader->facts;
    int rc = 0;

    facts->processes =
        region_alloc(&facts->region, target->count * sizeof(*facts->processes));
    if (facts->processes == NULL) {
        return -ENOMEM;
    }
    if (target->kind == TARGET_PROCESS) {
        rc = process_read(reader, target->pids[0], &facts->processes[0]);
        facts->process_count = 1;
        return rc == 0 ? 0 : refuse_process(&facts->processes[0], rc, error);
    }
    for (size_t i = 0; rc == 0 && i < target->count; i++) {
        rc = read_member(reader, target->pids[i]);
    }
    if (rc == 0 && facts->process_count == 0) {
        rc = error_set(error, -ESRCH,
            "cannot read '%s': all its processes ended while they were read",
            target->name);
    }
    return rc;
}

/* The cgroup of a cgroup target comes first, so that it has index 0. */
static int read_target_cgroup(struct collection *collection, const struct target *target)
{
    struct facts *facts = collection->reader.facts;

    if (target->cgroup == NULL || (collection->reader.what & COLLECT_CGROUP) == 0) {
        return 0;
    }
    int rc = cgroup_read_path(
        &collection->cgroups, target->cgroup, facts, &facts->target_cgroup);
    return rc == -ENOMEM ? rc : 0;
}

/* The one that bills all members, unless they are spread over several. */
static int32_t common_cgroup(const struct facts *facts)
{
    const int32_t first = facts->processes[0].cgroup_index;

    for (size_t i = 1; i < facts->process_count; i++) {
        if (facts->processes[i].cgroup_index != first) {
            return -1;
        }
    }
    return first;
}

static int read_bill(struct collection *collection)
{
    struct facts *facts = collection->reader.facts;

    if ((collection->reader.what & COLLECT_CGROUP) == 0) {
        return 0;
    }
    if (facts->target_cgroup < 0) {
        facts->target_cgroup = common_cgroup(facts);
    }
    if (facts->target_cgroup < 0 || (collection->reader.what & COLLECT_AGAIN) != 0) {
        return 0;
    }
    return cgroup_find_competitor(&collection->cgroups, facts);
}

static int compare_pids(const void *left, const void *right)
{
    const int32_t a = *(const int32_t *)left;
    const int32_t b = *(const int32_t *)right;

    return (a > b) - (a < b);
}

/* Members of one list that are not in the other; both are sorted by this. */
static size_t count_missing(struct target *from, struct target *in)
{
    size_t missing = 0;

    qsort(in->pids, in->count, sizeof(*in->pids), compare_pids);
    for (size_t i = 0; i < from->count; i++) {
        missing += bsearch(&from->pids[i], in->pids, in->count, sizeof(*in->pids),
                       compare_pids) == NULL;
    }
    return missing;
}

/* Workers come and go; figures of a pool that changed while it was read are a mixture. */
static void check_members(
    struct collection *collection, const char *text, struct target *before)
{
    struct facts *facts = collection->reader.facts;
    struct target after;
    struct error ignored = {0};

    if (before->kind == TARGET_PROCESS) {
        return;
    }
    if (target_find(collection->reader.root, &collection->cgroups, text, &facts->region,
            &after, &ignored) != 0) {
        return; /* it ended; the members that did so are gaps already */
    }
    const size_t ended = count_missing(before, &after);
    const size_t started = count_missing(&after, before);
    if (ended + started > 0) {
        char *why = region_printf(&facts->region,
            "%s ended and %zu started while the target was read",
            quantity_count(ended, "process").text, started);
        gap_add(facts, "members", 0, FACT_STALE, why != NULL ? why : "members changed");
    }
}

/* What members have in common, once they are read. */
static int read_shared(struct collection *collection)
{
    struct process_reader *reader = &collection->reader;
    struct facts *facts = reader->facts;
    int rc = 0;

    if ((reader->what & COLLECT_FRAMES) != 0) {
        rc = frames_read(reader->root, facts);
    }
    if (rc == 0) {
        rc = read_bill(collection);
    }
    if (rc == 0 && (reader->what & COLLECT_SERVICES) != 0) {
        rc = fpm_read(reader->root, facts);
    }
    if (rc == 0 && (reader->what & COLLECT_SERVICES) != 0) {
        rc = mysql_read(reader->root, facts);
    }
    return rc;
}

static int collect(struct collection *collection, const char *text, struct error *error)
{
    struct process_reader *reader = &collection->reader;
    struct facts *facts = reader->facts;
    struct target target;
    int rc = read_host(collection);

    if (rc == 0) {
        rc = target_find(
            reader->root, &collection->cgroups, text, &facts->region, &target, error);
    }
    if (rc != 0) {
        return rc;
    }
    facts->target_kind = target.kind;
    facts->target_name = target.name;
    rc = read_target_cgroup(collection, &target);
    if (rc == 0) {
        rc = read_members(reader, &target, error);
    }
    if (rc == 0) {
        rc = read_shared(collection);
    }
    if (rc == 0 && (reader->what & COLLECT_AGAIN) == 0) {
        check_members(collection, text, &target);
    }
    return rc;
}

/* Another process has the pid of one that ended. */
static void drop_replaced(struct facts *facts, const struct process_identity *wanted)
{
    const struct process_facts *last = &facts->processes[facts->process_count - 1];

    if (last->pid == wanted->pid && last->start_time_ticks != wanted->start_time_ticks) {
        gap_add(facts, "process", wanted->pid, FACT_GONE, "the process ended");
        facts->process_count--;
    }
}

static int collect_members(struct collection *collection,
    const struct chosen_members *chosen, struct error *error)
{
    struct process_reader *reader = &collection->reader;
    struct facts *facts = reader->facts;
    int rc = read_host(collection);

    facts->target_kind = chosen->kind;
    facts->target_name = region_copy_text(&facts->region, chosen->name);
    facts->processes =
        region_alloc(&facts->region, chosen->count * sizeof(*facts->processes));
    if (facts->target_name == NULL || facts->processes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; rc == 0 && i < chosen->count; i++) {
        rc = read_member(reader, chosen->processes[i].pid);
        if (rc == 0 && facts->process_count > 0) {
            drop_replaced(facts, &chosen->processes[i]);
        }
    }
    if (rc == 0 && facts->process_count == 0) {
        rc = error_set(error, -ESRCH, "cannot read '%s': it has ended", chosen->name);
    }
    return rc == 0 ? read_shared(collection) : rc;
}

int facts_collect(struct facts_root *root, const char *target, unsigned what,
    struct facts *facts, struct error *error)
{
    struct collection collection;
    int rc = collection_begin(&collection, root, what, facts);

    if (rc == 0) {
        rc = collect(&collection, target, error);
    }
    if (rc == -ENOMEM) {
        error_set(error, rc, "cannot read '%s': out of memory", target);
    }
    return collection_end(&collection, rc);
}

int facts_collect_members(struct facts_root *root, const struct chosen_members *chosen,
    unsigned what, struct facts *facts, struct error *error)
{
    struct collection collection;
    int rc = collection_begin(&collection, root, what, facts);

    if (rc == 0) {
        rc = collect_members(&collection, chosen, error);
    }
    if (rc == -ENOMEM) {
        error_set(error, rc, "cannot read '%s': out of memory", chosen->name);
    }
    return collection_end(&collection, rc);
}

int facts_collect_host(
    struct facts_root *root, unsigned what, struct facts *facts, struct error *error)
{
    struct collection collection;
    int rc = collection_begin(&collection, root, what, facts);

    if (rc == 0) {
        rc = collect_host(&collection, error);
    }
    if (rc == -ENOMEM) {
        error_set(error, rc, "cannot read the processes of the host: out of memory");
    }
    return collection_end(&collection, rc);
}
