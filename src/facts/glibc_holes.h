/* glibc_holes.h - large free chunks of an arena, whose insides a walk need not load. */
#ifndef STRATA_FACTS_GLIBC_HOLES_H
#define STRATA_FACTS_GLIBC_HOLES_H

#include "facts/glibc_reader.h"

enum {
    GLIBC_HOLE_BYTES = 32 << 10, /* a smaller one costs more to find than to load */
    GLIBC_HOLES_MAXIMUM = 1 << 12,
};

/* Whole pages inside a free chunk; no header lies there, as long as the chunk is free. */
struct glibc_hole {
    uint64_t start;
    uint64_t end;
};

/* Sorted by start. Zeroes: none. */
struct glibc_holes {
    struct glibc_hole *items;
    size_t count;
};

void glibc_holes_release(struct glibc_holes *holes);

/*
 * Finds holes in [lowest, highest) by the bins of the malloc_state at address, of which state is a
 * copy. They are a hint: the arena may change at once, and a list that does not fit is left where it
 * is. 0; -ENOMEM; or -errno when the target can no longer be read.
 */
int glibc_holes_find(struct glibc_holes *holes, struct glibc_reader *reader,
    uint64_t address, const uint8_t *state, uint64_t lowest, uint64_t highest);

/* Where the first hole behind address begins, or end when none does before that. */
uint64_t glibc_holes_next(
    const struct glibc_holes *holes, uint64_t address, uint64_t end);

#endif
