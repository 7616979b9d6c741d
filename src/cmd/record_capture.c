/*
 * record_capture.c - a full capture now and then, and what its model says.
 *
 * Layers and findings can be had from the capture at any time; they are stored beside it so
 * that they outlive it when captures are thinned out, and so that a report over a day need
 * not read a thousand captures.
 */
#include "cmd/record_capture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "cmd/account.h"
#include "facts/collect.h"
#include "findings/finding.h"
#include "record/recorder_facts.h"

enum {
    NS_PER_US = 1000,
    US_PER_SECOND = 1000000,
};

static int64_t cpu_us(void)
{
    struct timespec now = {0};

    (void)clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (int64_t)now.tv_sec * US_PER_SECOND + now.tv_nsec / NS_PER_US;
}

static void put_layers(const struct record_session *session, uint32_t subject,
    const struct layer layers[LAYER_COUNT])
{
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        const struct fact fact = {
            .value = (uint64_t)layers[i].bytes, .state = layers[i].state};
        recorder_put(session->recorder, subject, session->layer_metrics[i], &fact);
    }
}

static void put_count(
    const struct record_session *session, uint32_t subject, size_t metric, uint64_t value)
{
    const struct fact fact = {.value = value, .state = FACT_OK};

    recorder_put(session->recorder, subject, metric, &fact);
}

/* Requests that FPM counts of each worker, by the pid that FPM knows it by. */
static void put_worker_requests(const struct record_session *session,
    const struct record_target *target, const struct facts *facts,
    const struct fpm_worker_facts *worker)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        if (process->namespace_pid == worker->pid) {
            put_count(session,
                recorder_process(session->recorder, target->subject, process),
                session->requests_metric, worker->requests);
        }
    }
}

/* And of its pools together. */
static void put_requests(const struct record_session *session,
    const struct record_target *target, const struct facts *facts)
{
    uint64_t accepted = 0;
    bool known = false;

    for (size_t i = 0; i < facts->fpm_pool_count; i++) {
        const struct fpm_pool_facts *pool = &facts->fpm_pools[i];
        if (pool->accepted_connections.state == FACT_OK) {
            accepted = number_add(accepted, pool->accepted_connections.value);
            known = true;
        }
        for (size_t k = 0; k < pool->worker_count; k++) {
            put_worker_requests(session, target, facts, &pool->workers[k]);
        }
    }
    if (known) {
        put_count(session, target->subject, session->requests_metric, accepted);
    }
}

static int put_finding(const struct record_session *session,
    const struct record_target *target, const struct finding *finding)
{
    char rule[64];
    char severity[16];
    char summary[1024];
    const struct recording_finding row = {.subject = target->subject,
        .pid = finding->pid,
        .rule = rule,
        .severity = severity,
        .summary = summary,
        .predicts = finding->predicts,
        .low_bytes = finding->predicted_low_bytes,
        .high_bytes = finding->predicted_high_bytes};

    (void)snprintf(rule, sizeof(rule), "%s", finding->rule->id);
    (void)snprintf(severity, sizeof(severity), "%s", severity_names[finding->severity]);
    (void)snprintf(summary, sizeof(summary), "%s", finding->summary);
    return recorder_add_finding(session->recorder, &row);
}

static int put_findings(const struct record_session *session,
    const struct record_target *target, const struct snapshot *snapshot)
{
    struct finding_list list;
    int rc = findings_run(snapshot, &list);

    for (size_t i = 0; rc == 0 && i < list.count; i++) {
        rc = put_finding(session, target, &list.items[i]);
    }
    finding_list_release(&list);
    return rc;
}

static int put_digest(
    struct record_session *session, struct record_target *target, struct facts *facts)
{
    struct snapshot snapshot;
    int rc = recorder_put_facts(session->recorder, target->subject, facts);

    if (rc == 0) {
        rc = snapshot_build(facts, &snapshot);
    }
    if (rc != 0) {
        return rc;
    }
    put_layers(session, target->subject, snapshot.layers);
    put_count(session, target->subject, session->deep_metric, target->captures.reads + 1);
    for (size_t i = 0; i < snapshot.member_count; i++) {
        const uint32_t subject = recorder_process(
            session->recorder, target->subject, snapshot.members[i].facts);
        put_layers(session, subject, snapshot.members[i].layers);
        put_count(session, subject, session->deep_metric, target->captures.reads + 1);
    }
    put_requests(session, target, facts);
    rc = put_findings(session, target, &snapshot);
    snapshot_release(&snapshot);
    return rc;
}

/* What is denied is said once, not with every capture. */
static int tell_missing(struct record_session *session, struct record_target *target,
    const struct facts *facts)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && !target->told_missing && i < facts->gap_count; i++) {
        const struct gap *gap = &facts->gaps[i];
        if (gap->state == FACT_DENIED) {
            char text[512];
            (void)snprintf(text, sizeof(text), "%s: %s", gap->fact,
                gap->why != NULL ? gap->why : "denied");
            rc = recorder_add_event(session->recorder, target->subject, "missing", text);
            target->told_missing = true;
        }
    }
    return rc;
}

/*
 * Whoever records for a night is to know at once what the night will not tell. What ended or
 * changed while it was read is another matter: the next capture may have it.
 */
static void judge_access(struct record_session *session, const struct facts *facts)
{
    bool limited = false;

    for (size_t i = 0; i < facts->gap_count; i++) {
        limited = limited || facts->gaps[i].state == FACT_DENIED;
    }
    session->captured_targets++;
    if (limited && !account_lacks_only_frames(facts)) {
        account_tell_gaps(facts);
        session->limited_targets++;
        session->denied_targets += account_is_denied(facts) ? 1 : 0;
    }
}

static bool is_other_process(
    const struct record_target *target, const struct facts *facts)
{
    return target->start_ticks != 0 &&
           (facts->process_count != 1 ||
               facts->processes[0].start_time_ticks != target->start_ticks);
}

static int read_and_store(
    struct record_session *session, struct record_target *target, struct error *error)
{
    struct error why = {0};
    struct facts facts;
    int rc = facts_collect(&session->root, target->text, COLLECT_EXPLAIN, &facts, &why);

    if (rc != 0) {
        target->stale = true;
        return rc == -ENOMEM ? error_set(error, rc, "%s", why.text)
                             : recorder_add_event(session->recorder, target->subject,
                                   "missing", why.text);
    }
    if (is_other_process(target, &facts)) {
        target->stale = true;
    } else {
        if (target->captures.reads == 0) {
            judge_access(session, &facts);
        }
        rc = recorder_add_capture(session->recorder, target->subject, &facts, error);
        if (rc == 0) {
            rc = tell_missing(session, target, &facts);
        }
        if (rc == 0) {
            rc = put_digest(session, target, &facts);
        }
    }
    region_release(&facts.region);
    return rc;
}

int record_capture(
    struct record_session *session, struct record_target *target, struct error *error)
{
    const int64_t before_us = cpu_us();
    int rc = read_and_store(session, target, error);

    capture_clock_note(&target->captures, &session->budget, target->rss_bytes,
        session->now.boot_ms, cpu_us() - before_us);
    return rc == 0 ? 0
                   : error_set(error, rc, "cannot record '%s': %s", target->text,
                         strerror(-rc));
}
