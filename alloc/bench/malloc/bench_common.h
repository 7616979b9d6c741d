/*
 * What the programs of bench-malloc share: time, memory, and the writing to blocks.
 */
#ifndef STRATA_ALLOC_ALLOC_BENCH_MALLOC_BENCH_COMMON_H
#define STRATA_ALLOC_ALLOC_BENCH_MALLOC_BENCH_COMMON_H

#include <stddef.h>

#define BENCH_PAGE ((size_t)4096)

/* Ends the program with an error. */
_Noreturn void bench_stop(const char *what);
/* Writes one byte of each page from offset `from` on, and the last byte. bytes > 0. */
void bench_touch(char *start, size_t from, size_t bytes);
/* "VmHWM:" and the like, of /proc/self/status. */
unsigned long bench_status_kib(const char *key);

struct bench_result {
    double wall_seconds, cpu_seconds;
    size_t live_bytes;
    size_t own_bytes; /* resident tables of the program, taken off all memory */
};

/* Starts and ends the measurement of time. */
void bench_start(struct bench_result *result);
void bench_end(struct bench_result *result);
/* Waits (NULL: not), then prints the line that report.py reads: seconds, processor
 * seconds, peak KiB, KiB of RSS without files after the wait, live KiB. */
void bench_print(const struct bench_result *result, const char *wait_seconds);

#endif
