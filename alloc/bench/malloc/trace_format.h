/*
 * What record.c writes and replay.c reads: a header, then one record for each call, in the
 * order in which they took effect. Byte order of the machine: traces stay where they were
 * made.
 */
#ifndef STRATA_ALLOC_ALLOC_BENCH_MALLOC_TRACE_FORMAT_H
#define STRATA_ALLOC_ALLOC_BENCH_MALLOC_TRACE_FORMAT_H

#include <stdint.h>

#define TRACE_MAGIC UINT64_C(0x3165636172747473) /* "sttrace1" */
#define TRACE_THREADS_MAX 64

enum trace_operation { TRACE_ALLOC, TRACE_CALLOC, TRACE_RESIZE, TRACE_FREE };

struct trace_header {
    uint64_t magic;
    uint64_t records; /* grows while the program runs, so a killed one leaves its trace */
    uint32_t blocks;  /* numbers from 0 on; the number of a freed block is used again */
    uint32_t threads;
};

struct trace_record {
    uint32_t block;
    uint32_t bytes; /* asked for; 0 for a free */
    uint16_t turn;  /* how many records of this block number came before, modulo 2^16 */
    uint8_t operation;
    uint8_t alignment_bits; /* 0: malloc's own */
    uint32_t thread;        /* from 0 on; those above TRACE_THREADS_MAX share the last */
};

_Static_assert(sizeof(struct trace_record) == 16, "no padding in the file");

#endif
