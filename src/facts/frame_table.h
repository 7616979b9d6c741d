/* frame_table.h - counts how often each frame of memory was met. */
#ifndef STRATA_FACTS_FRAME_TABLE_H
#define STRATA_FACTS_FRAME_TABLE_H

#include <stddef.h>
#include <stdint.h>

/* A frame that was met, and how often; the count stops at its largest value. */
struct frame_count {
    uint64_t frame : 40; /* 2^52 bytes of physical memory, in pages */
    uint64_t count : 24; /* 0: an empty place */
};

struct frame_table {
    struct frame_count *places; /* a power of two of them, at most half full */
    size_t capacity;
    size_t count;
};

/* More distinct frames than this are refused: 64 GiB of shared memory, 256 MiB of table. */
enum { FRAME_TABLE_MAX = 1 << 24 };

void frame_table_init(struct frame_table *table);
void frame_table_release(struct frame_table *table);

/* Counts frame once more. 0, -EFBIG beyond FRAME_TABLE_MAX, -ERANGE: no frame, -ENOMEM. */
int frame_table_add(struct frame_table *table, uint64_t frame);

/*
 * Moves all that was counted to the front of places, ascending by frame, and returns its
 * number. Nothing may be added afterwards.
 */
size_t frame_table_sort(struct frame_table *table);

#endif
