/*
 * Requests to replay: what a script asks of its allocator, made from a seed.
 */
#ifndef STRATA_ALLOC_BENCH_TRACE_H
#define STRATA_ALLOC_BENCH_TRACE_H

#include <stddef.h>
#include <stdint.h>

/* Takes a block of so many bytes into the slot, or frees the slot's block (0 bytes). */
struct trace_step {
    uint32_t slot;
    uint32_t bytes;
};

struct trace {
    struct trace_step *steps;
    size_t count;
    size_t slots; /* most blocks alive at once */
};

/*
 * A request of so many allocations, of which freed_percent are freed before its end, most
 * of them soon. Sizes: nine in ten from 16 to 320 bytes; strings up to 4 KiB; two in a
 * thousand are buffers of 8 to 128 KiB. Returns 0 or -ENOMEM.
 */
int trace_init_request(struct trace *trace, size_t allocations, unsigned freed_percent);

/* Blocks of 16 to 320 bytes, nothing freed, until their sizes sum up to bytes. */
int trace_init_fill(struct trace *trace, size_t bytes);

void trace_release(struct trace *trace);

#endif
