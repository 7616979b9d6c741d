/* glibc_heaps.h - the pieces of memory that make up one arena. */
#ifndef STRATA_FACTS_GLIBC_HEAPS_H
#define STRATA_FACTS_GLIBC_HEAPS_H

#include "facts/glibc_walk.h"

struct glibc_extents {
    struct glibc_extent *items;
    size_t count;
    size_t capacity;
    uint64_t bytes; /* from base to end of all: equals system_mem when nothing moved */
    const char *why;
};

void glibc_extents_init(struct glibc_extents *extents);
void glibc_extents_release(struct glibc_extents *extents);

/*
 * Lists the extents of the arena at address, whose malloc_state was copied to state and
 * whose top chunk is [top, top + top_bytes); in the order of memory. 0; -EXDEV for a
 * main arena of several pieces, which are listed as far as they can be told, without
 * their first chunks; -EBADMSG when heaps cannot be what they claim to be, with extents->why;
 * -ENOMEM; or -errno of the memory.
 */
int glibc_extents_list(struct glibc_reader *reader, uint64_t address,
    const uint8_t *state, uint64_t top, uint64_t top_bytes,
    struct glibc_extents *extents);

/* The extent that address lies in; NULL: none. */
struct glibc_extent *glibc_extents_at(
    const struct glibc_extents *extents, uint64_t address);

#endif
