/*
 * record_target.c - who the members are and what their totals are, tick by tick.
 *
 * Looking for members reads the names of all processes of the host, which costs more than
 * reading a hundred of them, so it is done when a process came or went anywhere, and once a
 * minute, since a pid may be used again between two ticks. A pid as TARGET means that process and no later one of the same number.
 */
#include "cmd/record_target.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "facts/collect.h"
#include "record/recorder_facts.h"

enum {
    FIND_MS = 60000, /* the members are looked for at least that often */
    TARGET_MAX_BYTES = 64 << 20,
};

static bool is_pid(const struct record_target *target)
{
    uint64_t pid;

    return number_parse(target->text, &pid) == 0;
}

/* Notes who was read, so that the next ticks need not look for them. */
static int remember(const struct record_session *session, struct record_target *target,
    const struct facts *facts)
{
    struct process_identity *processes;

    region_release(&target->region);
    region_init(&target->region, TARGET_MAX_BYTES);
    processes = region_alloc(&target->region, facts->process_count * sizeof(*processes));
    target->found = (struct chosen_members){.kind = (enum target_kind)facts->target_kind,
        .name = region_copy_text(&target->region, facts->target_name),
        .processes = processes,
        .count = facts->process_count};
    if (processes == NULL || target->found.name == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < facts->process_count; i++) {
        processes[i] = (struct process_identity){
            facts->processes[i].pid, facts->processes[i].start_time_ticks};
    }
    target->found_boot_ms = session->now.boot_ms;
    target->found_pids = session->pids;
    target->stale = false;
    target->present = true;
    return 0;
}

static int name_target(struct record_session *session, struct record_target *target)
{
    char *text = region_copy_text(&target->region, target->text);
    char *kind = region_copy_text(&target->region, target_kind_names[target->found.kind]);
    const struct recording_subject key = {
        .kind = RECORDING_TARGET, .name = text, .title = kind};

    return text == NULL || kind == NULL
               ? -ENOMEM
               : recorder_subject(session->recorder, &key, &target->subject);
}

static int lose(
    struct record_session *session, struct record_target *target, const char *why)
{
    const bool was_there = target->present || target->members > 0;

    target->present = false;
    target->members = 0;
    target->rss_bytes = 0;
    target->finished = is_pid(target) && target->start_ticks != 0;
    if (target->subject == 0 || !was_there) {
        return 0;
    }
    recorder_end_target(session->recorder, target->subject);
    return recorder_add_event(session->recorder, target->subject, "gone", why);
}

/* A cgroup's own figures are read by its path, so it is looked for each time. */
static bool is_due(
    const struct record_session *session, const struct record_target *target)
{
    return !target->present || target->stale || target->found_pids != session->pids ||
           session->now.boot_ms - target->found_boot_ms >= FIND_MS ||
           target->found.kind == TARGET_CGROUP || target->found.kind == TARGET_UNIT;
}

static bool is_other_process(
    const struct record_target *target, const struct facts *facts)
{
    return target->start_ticks != 0 &&
           facts->processes[0].start_time_ticks != target->start_ticks;
}

static void sum_up(struct record_target *target, const struct facts *facts)
{
    target->members = facts->process_count;
    target->rss_bytes = 0;
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct fact *rss = &facts->processes[i].values[PROCESS_FACT_VM_RSS];
        if (rss->state == FACT_OK) {
            target->rss_bytes = number_add(target->rss_bytes, rss->value);
        }
    }
    if (is_pid(target) && target->start_ticks == 0 && facts->process_count == 1) {
        target->start_ticks = facts->processes[0].start_time_ticks;
    }
}

static int store(
    struct record_session *session, struct record_target *target, struct facts *facts)
{
    if (is_other_process(target, facts)) {
        return lose(session, target, "it has ended, and another has its pid");
    }
    sum_up(target, facts);
    int rc = name_target(session, target);
    return rc == 0 ? recorder_put_facts(session->recorder, target->subject, facts) : rc;
}

/* The facts of the members, looked for or known. */
static int read_members(struct record_session *session, struct record_target *target,
    unsigned what, struct facts *facts, struct error *error)
{
    int rc;

    if (!is_due(session, target)) {
        rc = facts_collect_members(&session->root, &target->found, what, facts, error);
        target->stale = rc != 0 || facts->process_count < target->found.count;
        return rc;
    }
    rc = facts_collect(&session->root, target->text, what, facts, error);
    if (rc == 0) {
        rc = remember(session, target, facts);
        if (rc != 0) {
            region_release(&facts->region);
        }
    }
    return rc;
}

static bool is_absence(int rc)
{
    return rc == -ENOENT || rc == -ESRCH || rc == -ENODATA || rc == -EEXIST ||
           rc == -EINVAL || rc == -EACCES;
}

int record_target_tick(struct record_session *session, struct record_target *target,
    bool with_host, struct error *error)
{
    const unsigned what =
        COLLECT_STATUS | COLLECT_CGROUP | COLLECT_AGAIN | (with_host ? COLLECT_HOST : 0U);
    struct error why = {0};
    struct facts facts;
    int rc;

    if (target->finished) {
        return 0;
    }
    rc = read_members(session, target, what, &facts, &why);
    if (rc == 0) {
        rc = store(session, target, &facts);
        region_release(&facts.region);
    } else if (is_absence(rc)) {
        rc = lose(session, target, why.text);
    }
    return rc == 0 ? 0
                   : error_set(error, rc, "cannot record '%s': %s", target->text,
                         error_text(&why, rc));
}

bool record_target_wants_capture(
    const struct record_session *session, const struct record_target *target)
{
    const int64_t now_ms = session->now.boot_ms;

    if (!target->present || target->members == 0) {
        return false;
    }
    return capture_clock_is_due(&target->captures, &session->budget, &session->intervals,
               target->rss_bytes, now_ms) ||
           (session->ending && capture_clock_is_due_at_end(&target->captures, now_ms));
}
