/*
 * recorder_facts.c - which figure of which subject each scalar fact is, by facts.def.
 *
 * A process is told apart by its pid and start, so a pid that is used again is another one.
 * What was there at the tick before and is not now has ended.
 */
#include "record/recorder_facts.h"

#include <stdlib.h>

#include "record/recorder_state.h"

static void mark_seen(const struct recorder *recorder, uint32_t subject)
{
    struct recorder_subject *found = recorder_find(recorder, subject);

    if (found != NULL) {
        found->seen = true;
    }
}

static void put_all(struct recorder *recorder, uint32_t subject, const size_t *metrics,
    const struct fact *facts, size_t count)
{
    mark_seen(recorder, subject);
    for (size_t i = 0; i < count; i++) {
        recorder_put(recorder, subject, metrics[i], &facts[i]);
    }
}

static struct recording_subject key_of_process(
    uint32_t owner, const struct process_facts *process)
{
    return (struct recording_subject){.kind = RECORDING_PROCESS,
        .owner = owner,
        .pid = process->pid,
        .start_ticks = process->start_time_ticks,
        .name = process->name,
        .title = process->title};
}

static int put_process(
    struct recorder *recorder, uint32_t owner, const struct process_facts *process)
{
    const struct recording_subject key = key_of_process(owner, process);
    uint32_t subject;
    int rc = recorder_subject(recorder, &key, &subject);

    if (rc != 0) {
        return rc;
    }
    mark_seen(recorder, subject);
    for (size_t i = 0; i < PROCESS_FACT_COUNT; i++) {
        const struct fact *fact = &process->values[i];
        if (fact->state != FACT_ABSENT || !recorder->process_metric_stays[i]) {
            recorder_put(recorder, subject, recorder->process_metrics[i], fact);
        }
    }
    return 0;
}

static int put_cgroup(
    struct recorder *recorder, uint32_t owner, const struct cgroup_facts *cgroup)
{
    const struct recording_subject key = {
        .kind = RECORDING_CGROUP, .owner = owner, .name = cgroup->path};
    uint32_t subject;
    int rc = recorder_subject(recorder, &key, &subject);

    if (rc == 0) {
        put_all(recorder, subject, recorder->cgroup_metrics, cgroup->values,
            CGROUP_FACT_COUNT);
    }
    return rc;
}

static int put_host(struct recorder *recorder, const struct host_facts *host)
{
    char name[] = "host";
    const struct recording_subject key = {.kind = RECORDING_HOST, .name = name};
    uint32_t subject;
    int rc = recorder_subject(recorder, &key, &subject);

    if (rc == 0) {
        put_all(recorder, subject, recorder->host_metrics, host->values, HOST_FACT_COUNT);
    }
    return rc;
}

static void end_unseen(struct recorder *recorder, uint32_t owner)
{
    for (size_t i = 0; i < recorder->subject_count; i++) {
        struct recorder_subject *subject = recorder->subjects[i];
        if (subject->key.owner == owner && !subject->seen) {
            free(subject->current);
            subject->current = NULL;
        }
        subject->seen = false;
    }
}

int recorder_put_facts(
    struct recorder *recorder, uint32_t owner, const struct facts *facts)
{
    int rc = facts->host.kernel != NULL ? put_host(recorder, &facts->host) : 0;

    for (size_t i = 0; rc == 0 && i < facts->process_count; i++) {
        rc = put_process(recorder, owner, &facts->processes[i]);
    }
    for (size_t i = 0; rc == 0 && i < facts->cgroup_count; i++) {
        rc = put_cgroup(recorder, owner, &facts->cgroups[i]);
    }
    end_unseen(recorder, owner);
    return rc;
}

uint32_t recorder_process(
    const struct recorder *recorder, uint32_t owner, const struct process_facts *process)
{
    for (size_t i = 0; i < recorder->subject_count; i++) {
        const struct recording_subject *key = &recorder->subjects[i]->key;
        if (key->kind == RECORDING_PROCESS && key->owner == owner &&
            key->pid == process->pid && key->start_ticks == process->start_time_ticks) {
            return key->id;
        }
    }
    return 0;
}
