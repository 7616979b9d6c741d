/* See bench_common.h. Nothing here allocates while something is measured. */
#include "bench_common.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

void bench_stop(const char *what)
{
    fprintf(stderr, "bench-malloc: %s\n", what);
    exit(EXIT_FAILURE);
}

void bench_touch(char *start, size_t from, size_t bytes)
{
    for (size_t at = from; at < bytes; at += BENCH_PAGE) {
        start[at] = (char)at;
    }
    start[bytes - 1] = 1;
}

static double seconds_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

void bench_start(struct bench_result *result)
{
    result->wall_seconds = -seconds_of(CLOCK_MONOTONIC);
    result->cpu_seconds = -seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

void bench_end(struct bench_result *result)
{
    result->wall_seconds += seconds_of(CLOCK_MONOTONIC);
    result->cpu_seconds += seconds_of(CLOCK_PROCESS_CPUTIME_ID);
}

unsigned long bench_status_kib(const char *key)
{
    char line[256];
    unsigned long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    if (status == NULL) {
        bench_stop("cannot read its own status");
    }
    while (fgets(line, sizeof(line), status) != NULL) {
        if (strncmp(line, key, strlen(key)) == 0) {
            kib = strtoul(line + strlen(key), NULL, 10);
        }
    }
    fclose(status);
    return kib;
}

void bench_print(const struct bench_result *result, const char *wait_seconds)
{
    unsigned long own_kib = (unsigned long)(result->own_bytes / 1024);
    sleep(wait_seconds != NULL ? (unsigned)strtoul(wait_seconds, NULL, 10) : 0);
    printf("%.4f %.4f %lu %lu %zu\n", result->wall_seconds, result->cpu_seconds,
        bench_status_kib("VmHWM:") - own_kib, bench_status_kib("RssAnon:") - own_kib,
        result->live_bytes / 1024);
}
