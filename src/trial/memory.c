/*
 * memory.c - samples by facts_collect(), means by the time between them.
 *
 * Rollups are read at each sample, frames at some only: their figures stand still in
 * between and the mean weighs them by the samples that have them. Looking costs the server
 * some of its processors, so each sample notes what it took.
 */
#include "trial/memory.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "facts/collect.h"
#include "model/known.h"
#include "model/workers.h"
#include "trial/kernel_text.h"
#include "trial/service.h"

const char *const memory_figure_names[MEMORY_FIGURE_COUNT] = {
    [MEMORY_RSS_SUM] = "rss_sum",
    [MEMORY_PSS] = "pss",
    [MEMORY_UNIQUE] = "unique",
    [MEMORY_EXCLUSIVE] = "exclusive",
    [MEMORY_CGROUP] = "cgroup",
    [MEMORY_FRONT_PSS] = "front_pss",
};

int memory_begin(struct memory_series *series, struct facts_root *root,
    const struct memory_target *target)
{
    *series = (struct memory_series){.root = root,
        .target = *target,
        .begin_ns = service_now_ns(),
        .samples = calloc(MEMORY_MAX_SAMPLES, sizeof(struct memory_sample)),
        .private_bytes = calloc(MEMORY_MAX_PRIVATE, sizeof(uint64_t))};
    if (series->samples == NULL || series->private_bytes == NULL) {
        memory_end(series);
        return -ENOMEM;
    }
    return 0;
}

void memory_end(struct memory_series *series)
{
    free(series->samples);
    free(series->private_bytes);
    series->samples = NULL;
    series->private_bytes = NULL;
}

static void add_fact(struct fact *sum, const struct fact *fact, size_t index)
{
    if (!fact_is_known(fact)) {
        *sum = *fact;
        return;
    }
    if (index == 0 || fact_is_known(sum)) {
        sum->value = number_add(sum->value, fact->value);
        sum->state = FACT_OK;
    }
}

static struct fact sum_over(const struct facts *facts, enum process_fact which)
{
    struct fact sum = {.state = FACT_ABSENT};

    for (size_t i = 0; i < facts->process_count; i++) {
        add_fact(&sum, &facts->processes[i].values[which], i);
    }
    return sum;
}

/* utime and stime of /proc/PID/stat, fields 14 and 15 (proc(5)). */
static uint64_t processor_us_of(int32_t pid)
{
    char path[64];
    uint64_t times[2];

    (void)snprintf(path, sizeof(path), "/proc/%d/stat", (int)pid);
    FILE *file = fopen(path, "re");
    if (file == NULL) {
        return 0;
    }
    char line[1024] = "";
    const size_t bytes = fread(line, 1, sizeof(line) - 1, file);
    (void)fclose(file);
    line[bytes] = '\0';
    const char *rest = strrchr(line, ')');
    /* behind the name: state, then fields 4 to 13 of proc(5) */
    if (rest == NULL || !kernel_text_fields(rest + 1, 11, times, 2)) {
        return 0;
    }
    return (times[0] + times[1]) * 10000; /* USER_HZ is 100 in every ABI of Linux */
}

static int compare_pids(const void *a, const void *b)
{
    const int32_t left = *(const int32_t *)a;
    const int32_t right = *(const int32_t *)b;

    return left < right ? -1 : left > right;
}

static int take_workers(struct memory_series *series, struct facts *facts, bool loaded,
    struct memory_sample *sample)
{
    struct workers workers;
    const int rc = workers_find(&facts->region, facts, &workers);

    if (rc != 0) {
        return rc;
    }
    sample->workers = workers.count;
    series->worker_count = 0;
    for (size_t i = 0; i < workers.count; i++) {
        const struct process_facts *process = &facts->processes[workers.indices[i]];
        const struct fact *clean = &process->values[PROCESS_FACT_PRIVATE_CLEAN];
        const struct fact *dirty = &process->values[PROCESS_FACT_PRIVATE_DIRTY];
        if (series->worker_count < MEMORY_MAX_WORKERS) {
            series->workers[series->worker_count++] = process->pid;
        }
        if (!fact_is_known(clean) || !fact_is_known(dirty)) {
            continue;
        }
        const uint64_t bytes = number_add(clean->value, dirty->value);
        sample->private_sum = number_add(sample->private_sum, bytes);
        if (loaded && series->private_count < MEMORY_MAX_PRIVATE) {
            series->private_bytes[series->private_count++] = bytes;
        }
    }
    qsort(series->workers, series->worker_count, sizeof(int32_t), compare_pids);
    return 0;
}

static int take_pool(struct memory_series *series, bool frames, bool loaded,
    struct memory_sample *sample, struct error *error)
{
    unsigned what = COLLECT_STATUS | COLLECT_ROLLUP;
    struct facts facts;

    what |= frames ? COLLECT_FRAMES : 0;
    what |= series->target.own_cgroup ? COLLECT_CGROUP : 0;
    int rc = facts_collect(series->root, series->target.pool, what, &facts, error);
    if (rc != 0) {
        return rc == -ENOENT ? -ESRCH : rc;
    }
    sample->figures[MEMORY_RSS_SUM] = sum_over(&facts, PROCESS_FACT_VM_RSS);
    sample->figures[MEMORY_PSS] = sum_over(&facts, PROCESS_FACT_PSS);
    if (frames) {
        sample->figures[MEMORY_UNIQUE] = facts.unique_bytes;
        sample->figures[MEMORY_EXCLUSIVE] = facts.exclusive_bytes;
    }
    if (series->target.own_cgroup && facts.target_cgroup >= 0) {
        sample->figures[MEMORY_CGROUP] =
            facts.cgroups[facts.target_cgroup].values[CGROUP_FACT_USAGE];
    }
    for (size_t i = 0; i < facts.process_count; i++) {
        sample->processor_us += processor_us_of(facts.processes[i].pid);
    }
    rc = take_workers(series, &facts, loaded, sample);
    region_release(&facts.region);
    return rc;
}

static void take_front(struct memory_series *series, struct memory_sample *sample)
{
    struct facts facts;

    if (series->target.front != NULL &&
        facts_collect(series->root, series->target.front, COLLECT_STATUS | COLLECT_ROLLUP,
            &facts, NULL) == 0) {
        sample->figures[MEMORY_FRONT_PSS] = sum_over(&facts, PROCESS_FACT_PSS);
        region_release(&facts.region);
    }
}

int memory_sample_take(
    struct memory_series *series, bool frames, bool loaded, struct error *error)
{
    struct memory_sample sample = {0};
    const int64_t begin = service_now_ns();

    if (series->count == MEMORY_MAX_SAMPLES) {
        return 0; /* a run of a quarter of an hour; what follows looks the same */
    }
    sample.at_s = (double)(begin - series->begin_ns) / 1e9;
    const int rc = take_pool(series, frames, loaded, &sample, error);
    if (rc != 0) {
        return rc;
    }
    take_front(series, &sample);
    sample.cost_us = (uint64_t)(service_now_ns() - begin) / 1000;
    series->samples[series->count++] = sample;
    return 0;
}

struct memory_summary memory_summarise(
    const struct memory_series *series, size_t first, size_t last)
{
    struct memory_summary summary = {0};

    for (int figure = 0; figure < MEMORY_FIGURE_COUNT; figure++) {
        double sum = 0;
        double time = 0;
        double since = first < series->count ? series->samples[first].at_s : 0;
        for (size_t i = first; i <= last && i < series->count; i++) {
            const struct memory_sample *sample = &series->samples[i];
            const struct fact *fact = &sample->figures[figure];
            struct fact *peak = &summary.peak[figure];
            if (!fact_is_known(fact)) {
                continue;
            }
            const double width = sample->at_s > since ? sample->at_s - since : 1e-6;
            sum += (double)fact->value * width;
            time += width;
            since = sample->at_s;
            if (peak->state != FACT_OK || fact->value > peak->value) {
                *peak = (struct fact){.value = fact->value, .state = FACT_OK};
            }
        }
        if (time > 0) {
            summary.mean[figure] =
                (struct fact){.value = (uint64_t)(sum / time), .state = FACT_OK};
        }
    }
    return summary;
}

static int compare_doubles(const void *a, const void *b)
{
    const double left = *(const double *)a;
    const double right = *(const double *)b;

    return left < right ? -1 : left > right;
}

double memory_concurrency(const struct memory_series *series, size_t first, size_t last)
{
    double *sums = calloc(series->count + 1, sizeof(double));
    size_t count = 0;
    double mean = 0;
    double ratio = 0;

    for (size_t i = first; sums != NULL && i <= last && i < series->count; i++) {
        sums[count++] = (double)series->samples[i].private_sum;
        mean += (double)series->samples[i].private_sum;
    }
    if (count > 0 && mean > 0) {
        qsort(sums, count, sizeof(double), compare_doubles);
        ratio = sums[(count * 95 + 99) / 100 - 1] / (mean / (double)count);
    }
    free(sums);
    return ratio;
}
