/* glibc_arena.h - reads one arena of glibc malloc. */
#ifndef STRATA_FACTS_GLIBC_ARENA_H
#define STRATA_FACTS_GLIBC_ARENA_H

#include "facts/glibc_fast.h"
#include "facts/glibc_heaps.h"
#include "facts/glibc_walk.h"

/* What reading an arena needs besides the reader; used for one arena after the other. */
struct glibc_arena_reader {
    struct glibc_reader *reader;
    struct glibc_fast_set fast;
    struct glibc_extents extents;
    struct glibc_walk walk;
    uint64_t *slots; /* of the last walk and of the one before */
    uint64_t thp_pagesize_bytes;
};

/* 0 or -ENOMEM; release after either. */
int glibc_arena_reader_init(
    struct glibc_arena_reader *arenas, struct glibc_reader *reader);
void glibc_arena_reader_release(struct glibc_arena_reader *arenas);

/*
 * Reads the arena at address into arena, whose state tells how it went; what could not be
 * had is no failure. Heaps go to the process's spans with index. 0, -ENOMEM, or -errno
 * when the target can no longer be read at all.
 */
int glibc_arena_read(struct glibc_arena_reader *arenas, uint64_t address, uint32_t index,
    struct glibc_arena *arena);

#endif
