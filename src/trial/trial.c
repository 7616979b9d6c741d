/*
 * trial.c - the order of things: box, database, server, ready, cold, warm, idle, runs, quiet.
 *
 * Whatever fails on the way, end() takes down what stands, in reverse. A run is watched
 * while it runs: a service that ends, a worker whose pid is gone or a signal make the
 * row incomplete, and no figure of an incomplete run counts.
 */
#include "trial/trial.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "facts/collect.h"
#include "model/known.h"
#include "trial/folder.h"
#include "trial/trial_look.h"
#include "trial/trial_start.h"

enum {
    READY_PAUSE_MS = 50,
    SAMPLE_MS = 200,
    FRAMES_EVERY = 5, /* samples: once a second */
    WARM_STEP_SECONDS = 1,
    WARM_STEPS_LEAST = 2,
    WARM_REQUESTS = 20, /* of each worker, before memory is believed */
    SETTLE_MS = 1000,
    LOOKS = 6, /* full ones, in the last run */
};

static const double warm_change = 0.01;

const struct trial_work trial_works[] = {
    {"query", {"query 21097.456", 0}, 0.05, true,
        "1,000 square roots and one query that sleeps 50 ms (the published work)"},
    {"hello", {"hello", 6}, 0, false, "a constant of six bytes"},
    {"large", {"xxxxxxxx", 1048576}, 0, false, "an answer of 1 MiB"},
    {"mix", {"mix ok", 0}, 0, false,
        "1 MiB of small blocks; one request in 100 takes 20 times as much"},
    {"heavy", {"mix ok", 0}, 1.0, false,
        "20 MiB of small blocks in every request, held for a second: the worst case"},
    {.name = NULL},
};

void trial_say(const struct trial *trial, const char *format, ...)
{
    char text[256];
    va_list arguments;

    if (!trial->options->progress) {
        return;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    (void)dprintf(STDERR_FILENO, "bench: %s: %s\n", trial->row->recipe, text);
}

const char *trial_target(const struct trial *trial)
{
    return trial->options->attach != NULL ? trial->options->attach : trial->pool;
}

const struct trial_work *trial_work_find(const char *name)
{
    for (const struct trial_work *work = trial_works; work->name != NULL; work++) {
        if (strcmp(work->name, name) == 0) {
            return work;
        }
    }
    return NULL;
}

static int sample(struct trial *trial, bool frames, bool loaded)
{
    return memory_sample_take(&trial->look->series, frames, loaded, trial->error);
}

/* One sample with frames, as the figures of a phase. */
static int sample_phase(struct trial *trial, struct fact figures[MEMORY_FIGURE_COUNT])
{
    const struct memory_series *series = &trial->look->series;
    const int rc = sample(trial, true, false);

    if (rc == 0 && series->count > 0) {
        memcpy(figures, series->samples[series->count - 1].figures,
            sizeof(series->samples[0].figures));
        trial->row->workers = series->samples[series->count - 1].workers;
    }
    return rc;
}

static struct load_request request_of(const struct trial *trial, unsigned seconds)
{
    const struct trial_options *options = trial->options;
    const bool fastcgi = strncmp(trial->url, "fastcgi:", 8) == 0;

    return (struct load_request){
        .tool = fastcgi || options->setup->rate > 0 ? LOAD_OWN : options->setup->tool,
        .url = trial->url,
        .expected = trial->expected,
        .connections = options->setup->connections,
        .seconds = seconds,
        .rate = options->setup->rate,
        .keep_alive = options->setup->keep_alive,
        .folder = trial->folder,
        .wrk = options->wrk,
        .ab = options->ab,
    };
}

/* Workers of before that are gone now. */
static unsigned workers_lost(
    const int32_t *before, size_t count, const struct memory_series *series)
{
    unsigned lost = 0;

    for (size_t i = 0; i < count; i++) {
        bool found = false;
        for (size_t j = 0; j < series->worker_count && !found; j++) {
            found = series->workers[j] == before[i];
        }
        lost += found ? 0 : 1;
    }
    return lost;
}

/* Samples while the load runs; full looks too when it is the last. */
static int watch(struct trial *trial, struct load *load, unsigned seconds, bool last)
{
    const int64_t between = seconds * INT64_C(1000000000) / (LOOKS + 1);
    int64_t next = last ? load->started_ns + between : INT64_MAX;
    int rc = 0;

    for (unsigned i = 0; rc == 0 && load_is_running(load); i++) {
        const int64_t begin = service_now_ns();
        if (service_was_told_to_stop()) {
            return -EINTR;
        }
        if (trial_lost_service(trial) != NULL) {
            return -ECHILD;
        }
        rc = sample(trial, i % FRAMES_EVERY == 0, true);
        if (service_now_ns() > next) {
            trial_look_closely(trial);
            next += between;
        }
        const int64_t left = SAMPLE_MS - (service_now_ns() - begin) / 1000000;
        service_pause_ms(left > 0 ? (unsigned)left : 1);
    }
    return rc;
}

static void fill_processors(
    const struct trial *trial, size_t first, struct result_run *run)
{
    const struct memory_series *series = &trial->look->series;
    double cost = 0;

    if (series->count < first + 2) {
        return;
    }
    const struct memory_sample *begin = &series->samples[first];
    const struct memory_sample *end = &series->samples[series->count - 1];
    const double time = end->at_s - begin->at_s;
    for (size_t i = first; i < series->count; i++) {
        cost += (double)series->samples[i].cost_us / 1e6;
    }
    if (time > 0 && end->processor_us >= begin->processor_us) {
        run->processors = (double)(end->processor_us - begin->processor_us) / 1e6 / time;
        run->probe_share = cost / time;
    }
}

/* Mean private sum in the second half of a run. */
static double private_mean(const struct memory_series *series, size_t first)
{
    const size_t from = first + (series->count - first) / 2;
    double sum = 0;

    for (size_t i = from; i < series->count; i++) {
        sum += (double)series->samples[i].private_sum;
    }
    return series->count > from ? sum / (double)(series->count - from) : 0;
}

/* pm.max_requests of an FPM pool; 0: none, or it is none. */
static uint64_t recycled_after(const struct trial *trial)
{
    struct facts facts;
    uint64_t requests = 0;

    if (facts_collect(trial->root, trial_target(trial), COLLECT_STATUS | COLLECT_SERVICES,
            &facts, NULL) != 0) {
        return 0;
    }
    for (size_t i = 0; i < facts.fpm_pool_count; i++) {
        const struct fpm_pool_facts *pool = &facts.fpm_pools[i];
        if (strcmp(pool->name, facts.target_name) == 0 &&
            fact_is_known(&pool->max_requests)) {
            requests = pool->max_requests.value;
        }
    }
    region_release(&facts.region);
    return requests;
}

static void judge(struct trial *trial, struct result_run *run, const char *lost,
    unsigned lost_workers, const struct machine_counters *machine)
{
    const struct trial_options *options = trial->options;
    const struct check_input input = {
        .load = &run->load,
        .machine = *machine,
        .workers = trial->row->workers > 0 ? (unsigned)trial->row->workers
                                           : options->setup->workers,
        .connections = options->setup->connections,
        .blocking = trial->row->blocking,
        .service_seconds = options->url == NULL && options->attach == NULL
                               ? options->work->service_seconds
                               : 0,
        .wanted_rate = options->setup->rate,
        .workers_lost = lost_workers,
        .recycled_after = lost_workers > 0 ? recycled_after(trial) : 0,
        .service_lost = lost,
    };

    check_run(&input, &run->reasons);
}

static int run_once(struct trial *trial, size_t index)
{
    const struct result_setup *setup = trial->options->setup;
    const struct load_request request = request_of(trial, setup->seconds);
    struct memory_series *series = &trial->look->series;
    struct result_run *run = &trial->row->runs[index];
    int32_t before[MEMORY_MAX_WORKERS];
    const size_t before_count = series->worker_count;
    const size_t first = series->count;
    const int32_t pid = before_count > 0 ? series->workers[0] : 0;
    const struct machine_counters begin = machine_read(pid);
    struct load load;

    memcpy(before, series->workers, sizeof(before));
    trial_say(trial, "run %zu of %u begins", index + 1, setup->runs);
    int rc = load_start(&load, &request, trial->error);
    if (rc != 0) {
        return rc;
    }
    if (index == 0) {
        trial->look->load_first = first;
    }
    rc = watch(trial, &load, setup->seconds, index + 1 == setup->runs);
    load_finish(&load, &request, &run->load);
    const struct machine_counters end = machine_read(pid);
    const struct machine_counters machine = machine_difference(&begin, &end);
    const char *lost = trial_lost_service(trial);
    trial->look->load_last = series->count > 0 ? series->count - 1 : 0;
    run->memory = memory_summarise(series, first, series->count);
    fill_processors(trial, first, run);
    trial->requests += index > 0 ? run->load.requests : 0;
    *(index == 0 ? &trial->private_first : &trial->private_last) =
        private_mean(series, first);
    judge(trial, run, lost, workers_lost(before, before_count, series), &machine);
    trial->row->run_count = index + 1;
    trial_say(trial, "run %zu of %u: %.1f a second%s%s", index + 1, setup->runs,
        run->load.rate, run->reasons.count > 0 ? ", does not count: " : "",
        run->reasons.count > 0 ? run->reasons.text[0] : "");
    return rc == 0 && lost != NULL ? -ECHILD : rc;
}

/* Loads until the pool's private memory stands still and each worker has worked. */
static int warm_up(struct trial *trial)
{
    const struct memory_series *series = &trial->look->series;
    const unsigned step =
        WARM_STEP_SECONDS + 2 * (unsigned)trial->options->work->service_seconds;
    const struct load_request request = request_of(trial, step);
    const uint64_t workers =
        trial->row->workers > 0 ? trial->row->workers : trial->options->setup->workers;
    const uint64_t wanted = WARM_REQUESTS * workers;
    uint64_t requests = 0;
    uint64_t before = 0;
    unsigned second = 0;
    unsigned still = 0; /* steps in a row without change */
    int rc = 0;

    trial_say(trial, "warming up");
    while (rc == 0 && second < trial->options->warm_seconds && !trial->row->warm) {
        struct load_result result;
        struct load load;
        rc = load_start(&load, &request, trial->error);
        while (rc == 0 && load_is_running(&load)) {
            rc = service_was_told_to_stop() ? -EINTR : 0;
            service_pause_ms(READY_PAUSE_MS);
        }
        load_finish(&load, &request, &result);
        rc = rc == 0 ? sample(trial, false, false) : rc;
        second += step;
        if (rc != 0 || series->count == 0) {
            break;
        }
        requests += result.requests;
        const uint64_t now = series->samples[series->count - 1].private_sum;
        const double change = before > 0 ? (double)now / (double)before - 1 : 1;
        still = change < warm_change && change > -warm_change ? still + 1 : 0;
        trial->row->warm = still >= WARM_STEPS_LEAST && requests >= wanted;
        before = now;
    }
    trial->row->warm_seconds = second;
    trial->row->warm_requests = requests;
    return rc;
}

static int pause_and_watch(struct trial *trial, unsigned seconds)
{
    for (unsigned i = 0; i < seconds * 4; i++) {
        if (service_was_told_to_stop()) {
            return -EINTR;
        }
        const char *lost = trial_lost_service(trial);
        if (lost != NULL) {
            return trial_ended_early(trial, lost);
        }
        service_pause_ms(SETTLE_MS / 4);
    }
    return 0;
}

static int measure(struct trial *trial)
{
    struct result_row *row = trial->row;
    const struct result_setup *setup = trial->options->setup;
    const struct memory_target target = {.pool = trial_target(trial),
        .front = trial->front[0] != '\0' ? trial->front : NULL,
        .own_cgroup = trial->box.open};
    int rc = memory_begin(&trial->look->series, trial->root, &target);

    row->started = rc == 0;
    rc = rc == 0 ? sample_phase(trial, row->cold) : rc;
    rc = rc == 0 ? warm_up(trial) : rc;
    rc = rc == 0 ? pause_and_watch(trial, 1) : rc;
    rc = rc == 0 ? sample_phase(trial, row->idle) : rc;
    for (size_t i = 0; rc == 0 && i < setup->runs; i++) {
        rc = run_once(trial, i);
    }
    if (rc == 0) {
        trial_say(trial, "quiet for %u s", setup->quiet_seconds);
        rc = pause_and_watch(trial, setup->quiet_seconds);
    }
    rc = rc == 0 ? sample_phase(trial, row->quiet) : rc;
    if (rc == 0) {
        trial_count_trim_gain(trial);
        row->whole = true;
    }
    return rc;
}

static void keep_points(struct trial *trial)
{
    const struct memory_series *series = &trial->look->series;
    const size_t step = series->count / RESULT_PLOT_POINTS + 1;
    struct result_row *row = trial->row;

    for (size_t i = 0; i < series->count && row->point_count < RESULT_PLOT_POINTS;
         i += step) {
        const struct memory_sample *one = &series->samples[i];
        row->points[row->point_count++] = (struct result_point){.at_s = one->at_s,
            .rss_sum = one->figures[MEMORY_RSS_SUM].value,
            .pss = one->figures[MEMORY_PSS].value};
    }
}

static void fill_growth(struct trial *trial)
{
    struct result_plan *plan = &trial->row->plan;
    const double grown = trial->private_last - trial->private_first;

    plan->growth_known = trial->row->whole && trial->row->run_count > 1;
    if (plan->growth_known && trial->requests > 0 &&
        grown > warm_change * trial->private_first) {
        plan->growth_bytes_per_request = (uint64_t)(grown / (double)trial->requests) + 1;
    }
}

/* Takes everything down, the server before its database. */
static void end(struct trial *trial)
{
    const struct box_events events = box_read(&trial->box);

    trial->row->box_known = events.known;
    trial->row->box_hits = events.limit_hits;
    trial->row->box_kills = events.kills;
    trial->row->box_peak_bytes = events.peak_bytes;
    while (trial->service_count > 0) {
        service_stop(&trial->services[--trial->service_count]);
    }
    box_close(&trial->box);
    if (trial->folder[0] != '\0') {
        folder_remove(trial->folder);
    }
    if (trial->folder_claim >= 0) {
        (void)close(trial->folder_claim);
    }
    region_release(&trial->region);
}

static void describe(struct trial *trial)
{
    struct result_row *row = trial->row;
    const struct recipe *recipe = trial->recipe;

    *row = (struct result_row){.model = recipe->model, .blocking = recipe->blocking};
    (void)snprintf(row->recipe, sizeof(row->recipe), "%s", recipe->name);
    (void)snprintf(row->title, sizeof(row->title), "%s", recipe->title);
    (void)snprintf(row->plan.server, sizeof(row->plan.server), "%s",
        recipe->settings != NULL ? recipe->settings : "other");
}

static int begin(struct trial *trial)
{
    int rc = folder_make(trial->folder, sizeof(trial->folder), &trial->folder_claim);

    if (rc != 0) {
        return error_set(
            trial->error, rc, "cannot make a folder for the bench: %s", strerror(-rc));
    }
    (void)snprintf(trial->log, sizeof(trial->log), "%s/server.log", trial->folder);
    rc = trial_set_values(trial);
    if (rc != 0) {
        return rc;
    }
    if (trial->options->attach != NULL) {
        trial->url = trial->options->url;
        return trial_wait_ready(trial, trial->url);
    }
    return trial_start_server(trial);
}

int trial_run(const struct trial_options *options, struct facts_root *root,
    struct recipe *recipe, struct result_row *row, struct trial_look *look,
    struct error *error)
{
    struct trial trial = {.options = options,
        .recipe = recipe,
        .row = row,
        .folder_claim = -1,
        .box = {.claim = -1},
        .look = look,
        .root = root,
        .error = error,
        .expected = options->url != NULL ? options->expected : options->work->expected};

    *look = (struct trial_look){0};
    region_init(&trial.region, 1 << 20);
    describe(&trial);
    int rc = begin(&trial);
    rc = rc == 0 ? measure(&trial) : rc;
    if (rc == -ECHILD && error->code == 0) {
        const char *lost = trial_lost_service(&trial);
        (void)trial_ended_early(&trial, lost != NULL ? lost : "pool");
    }
    if (rc != 0) {
        (void)snprintf(row->why, sizeof(row->why), "%.*s", (int)sizeof(row->why) - 1,
            rc == -EINTR ? "stopped by a signal" : error_text(error, rc));
    }
    keep_points(&trial);
    fill_growth(&trial);
    trial_say(&trial, "ending what was started");
    end(&trial);
    return rc == -EINTR ? rc : 0;
}
