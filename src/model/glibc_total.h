/* glibc_total.h - the arenas of one or more processes added up. */
#ifndef STRATA_MODEL_GLIBC_TOTAL_H
#define STRATA_MODEL_GLIBC_TOTAL_H

#include <stdint.h>

#include "facts_types/process_facts.h"
#include "model/snapshot.h"

/*
 * Sums over the arenas that could be read; arenas_unread says how many could not, so a
 * total with arenas_unread > 0 is a lower bound. held and in_use include the blocks that
 * malloc took by mmap, as mallinfo2's arena + hblkhd and uordblks + hblkhd do. free
 * holds fast bins and tops too (fordblks). What is not free is in use, arena headers and fence
 * posts included, so held is in_use + free.
 */
struct glibc_total {
    uint64_t arenas;
    uint64_t arenas_unread;
    uint64_t held_bytes;
    uint64_t in_use_bytes;
    uint64_t free_bytes;
    uint64_t mmapped_bytes;
    uint64_t mmapped_blocks;
    uint64_t cached_bytes;
    uint64_t plus_minus_bytes;
    /* From pagemap, over the arenas whose pages could be seen. */
    uint64_t arenas_unseen;
    uint64_t free_resident_bytes;   /* whole pages in free chunks and tops */
    uint64_t trim_gain_bytes;       /* what malloc_trim(0) gives back of these */
    uint64_t top_untrimmable_bytes; /* resident tops of arenas other than the main one */
    uint64_t arenas_unshared;       /* whose free_shared_bytes are not known */
    uint64_t free_shared_bytes;     /* free, on pages that hold something else too */
    uint64_t free_chunks;           /* of the arenas with such a figure, fast ones too */
};

/* Adds one process to total, which starts zeroed. */
void glibc_total_add(struct glibc_total *total, const struct glibc_facts *glibc);

/* The sum over the members whose heaps are known. */
struct glibc_total glibc_total_of(const struct snapshot *snapshot);

#endif
