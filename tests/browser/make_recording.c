/*
 * make_recording.c - a recording of any length in seconds of work, by the recorder itself.
 *
 *   make_recording FILE PROCESSES TICKS EVERY_SECONDS SEED
 *
 * One pool whose members warm up, leak, climb stairs, jitter and end, in turn; a cgroup with a
 * limit; captures with layers every 60th tick; findings, a clock that jumps, a pause. Names
 * are hostile on purpose. For the test and the benchmark of reports.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "model/snapshot.h"
#include "record/recorder.h"
#include "record/recorder_commit.h"
#include "record/recorder_facts.h"
#include "record/recorder_open.h"

#define MIB 1048576.0
#define HOSTILE "</script><img src=x onerror=alert(1)>"

enum { MOST_PROCESSES = 1000, CAPTURE_TICKS = 60, PAUSE_MS = 600000 };

struct maker {
    struct recorder *recorder;
    struct process_facts *processes;
    size_t count;
    int ticks;
    struct moment now;
    uint32_t target;
    size_t layers[LAYER_COUNT];
    size_t requests;
    size_t capture;
    char name[64];
};

static void must(int rc, const char *what)
{
    if (rc != 0) {
        (void)fprintf(stderr, "make_recording: %s: %s\n", what, strerror(-rc));
        exit(1);
    }
}

static double jitter(void)
{
    return (double)(rand() % 1001 - 500) / 500.0;
}

/* Resident anonymous MiB of member i when part of the whole is over. */
static double shape(size_t i, double part)
{
    switch (i % 5) {
    case 0:
        return 40 + 30 * (1 - exp(-part * 12)) + 0.3 * jitter(); /* warms up */
    case 1:
        return 30 + 80 * part + 0.5 * jitter(); /* leaks */
    case 2:
        return 24 + 2 * floor(part * 20 + 0.4 * jitter()); /* stairs */
    case 3:
        return 50 + 6 * sin(part * 40) + jitter(); /* day and night */
    default:
        return 20 + (rand() % 400 == 0 ? 35 : 0) + 0.1 * jitter(); /* short peaks */
    }
}

static struct fact of(double mebibytes)
{
    const uint64_t pages = (uint64_t)(mebibytes * 256);

    return (struct fact){.value = pages * 4096, .state = FACT_OK};
}

static uint64_t set_process(struct process_facts *process, size_t i, double part)
{
    const struct fact anonymous = of(shape(i, part));
    const struct fact file = of(18 + (double)(i % 3));
    const struct fact shared = of(6);

    process->values[PROCESS_FACT_RSS_ANON] = anonymous;
    process->values[PROCESS_FACT_RSS_FILE] = file;
    process->values[PROCESS_FACT_RSS_SHMEM] = shared;
    process->values[PROCESS_FACT_VM_SWAP] = of(0);
    process->values[PROCESS_FACT_VM_RSS] =
        (struct fact){anonymous.value + file.value + shared.value, 0, FACT_OK};
    process->values[PROCESS_FACT_MINOR_FAULTS].state = FACT_OK;
    process->values[PROCESS_FACT_MINOR_FAULTS].value += (uint64_t)(rand() % 50);
    return process->values[PROCESS_FACT_VM_RSS].value;
}

static void put(
    struct maker *maker, uint32_t subject, enum layer_id layer, uint64_t bytes)
{
    const struct fact fact = {.value = bytes, .state = FACT_OK};

    recorder_put(maker->recorder, subject, maker->layers[layer], &fact);
}

static void put_layers(
    struct maker *maker, uint32_t subject, uint64_t resident, int number)
{
    const struct fact count = {.value = (uint64_t)number, .state = FACT_OK};

    put(maker, subject, LAYER_TRACKED, resident / 100 * 42);
    put(maker, subject, LAYER_IN_USE, resident / 100 * 50);
    put(maker, subject, LAYER_FREE_RESIDENT, resident / 100 * 22);
    put(maker, subject, LAYER_RESIDENT, resident);
    put(maker, subject, LAYER_RESIDUAL, (uint64_t)-65536);
    recorder_put(maker->recorder, subject, maker->capture, &count);
}

static void put_capture(
    struct maker *maker, struct facts *facts, uint64_t resident, int tick)
{
    char rule[] = "glibc-retained";
    char severity[] = "warn";
    char summary[] = "malloc keeps 140.3 MiB of freed memory resident " HOSTILE;
    const struct recording_finding finding = {
        .subject = maker->target, .rule = rule, .severity = severity, .summary = summary};

    put_layers(maker, maker->target, resident, tick);
    for (size_t i = 0; i < maker->count; i++) {
        put_layers(maker,
            recorder_process(maker->recorder, maker->target, &maker->processes[i]),
            maker->processes[i].values[PROCESS_FACT_VM_RSS].value, tick);
    }
    facts->taken_at_unix_ns = maker->now.wall_ms * 1000000;
    must(recorder_add_capture(maker->recorder, maker->target, facts, NULL), "capture");
    if (tick > maker->ticks / 3) {
        must(recorder_add_finding(maker->recorder, &finding), "finding");
    }
}

static void start_again(struct process_facts *process, const struct moment *now)
{
    process->pid += 5000;
    process->start_time_ticks = (uint64_t)now->boot_ms / 10;
    process->values[PROCESS_FACT_MINOR_FAULTS].value = 0;
}

static void make_tick(struct maker *maker, int tick)
{
    struct cgroup_facts cgroup = {.version = 2, .path = maker->name};
    struct facts facts = {.schema = FACTS_SCHEMA,
        .target_name = maker->name,
        .target_cgroup = -1,
        .processes = maker->processes,
        .process_count = maker->count,
        .cgroups = &cgroup,
        .cgroup_count = 1};
    const double part = (double)tick / maker->ticks;
    uint64_t resident = 0;

    for (size_t i = 0; i < maker->count; i++) {
        if (i % 10 == 9 && tick % (maker->ticks / 4 + 1) == maker->ticks / 4) {
            start_again(&maker->processes[i], &maker->now);
        }
        resident += set_process(&maker->processes[i], i, part);
    }
    cgroup.values[CGROUP_FACT_USAGE] = (struct fact){resident + (96 << 20), 0, FACT_OK};
    cgroup.values[CGROUP_FACT_LIMIT_EFFECTIVE] =
        (struct fact){maker->count * (160ULL << 20), 0, FACT_OK};
    must(recorder_put_facts(maker->recorder, maker->target, &facts), "facts");
    const struct fact served = {.value = (uint64_t)tick * 37, .state = FACT_OK};
    recorder_put(maker->recorder, maker->target, maker->requests, &served);
    if (tick % CAPTURE_TICKS == 0) {
        facts.process_count = 1;
        put_capture(maker, &facts, resident, tick);
    }
    must(recorder_commit(maker->recorder, &maker->now, NULL), "commit");
}

static void begin(struct maker *maker, const char *path, uint64_t every_ms)
{
    const struct recorder_options options = {
        .every_ms = every_ms, .host = "shop-7", .version = "0.1.0"};
    const struct recording_subject key = {
        .kind = RECORDING_TARGET, .name = maker->name, .title = maker->name};

    must(recorder_open(path, &options, &maker->now, &maker->recorder, NULL), path);
    for (size_t i = 0; i < LAYER_COUNT; i++) {
        char name[64];
        (void)snprintf(name, sizeof(name), "layer.%s", layer_names[i]);
        must(recorder_metric(maker->recorder, name, "bytes", &maker->layers[i]), name);
    }
    must(recorder_metric(maker->recorder, "service.requests", "count", &maker->requests),
        "metric");
    must(recorder_metric(maker->recorder, "capture.number", "count", &maker->capture),
        "metric");
    must(recorder_subject(maker->recorder, &key, &maker->target), "target");
}

static void make_processes(struct maker *maker)
{
    static char names[MOST_PROCESSES][64];

    for (size_t i = 0; i < maker->count; i++) {
        (void)snprintf(names[i], sizeof(names[i]), "%s", i == 3 ? HOSTILE : "php-fpm8.2");
        maker->processes[i] = (struct process_facts){.pid = (int32_t)(1000 + i),
            .start_time_ticks = 4000 + i,
            .cgroup_index = 0,
            .name = names[i],
            .title = names[i]};
    }
}

int main(int argc, char **argv)
{
    static struct process_facts processes[MOST_PROCESSES];
    struct maker maker = {.processes = processes,
        .now = {.wall_ms = INT64_C(1796000000000), .boot_ms = 90000, .boot_id = "made"},
        .name = "pool:www"};

    if (argc != 6) {
        (void)fprintf(
            stderr, "usage: make_recording FILE PROCESSES TICKS SECONDS SEED\n");
        return 2;
    }
    maker.count = strtoul(argv[2], NULL, 10);
    maker.ticks = (int)strtol(argv[3], NULL, 10);
    const int64_t every_ms = strtol(argv[4], NULL, 10) * 1000;
    srand((unsigned)strtoul(argv[5], NULL, 10));
    if (maker.count == 0 || maker.count > MOST_PROCESSES || maker.ticks < 1 ||
        every_ms < 1) {
        return 2;
    }
    make_processes(&maker);
    begin(&maker, argv[1], (uint64_t)every_ms);
    for (int tick = 0; tick < maker.ticks; tick++) {
        if (tick == maker.ticks / 2) {
            must(recorder_add_event(
                     maker.recorder, 0, "clock", "the clock was set back by 1 h 0 min"),
                "event");
            maker.now.wall_ms -= 3600000;
        }
        if (tick == maker.ticks * 3 / 4) {
            maker.now.wall_ms += PAUSE_MS;
            maker.now.boot_ms += PAUSE_MS;
        }
        make_tick(&maker, tick);
        maker.now.wall_ms += every_ms;
        maker.now.boot_ms += every_ms;
    }
    must(recorder_close(maker.recorder, &maker.now, 1500000, NULL), "close");
    return 0;
}
