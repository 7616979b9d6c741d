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
    struct glibc_fast_sweep sweep; /* of the arena that is being read */
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
 * had is no failure. Heaps go to the process's spans with index. mark is a fingerprint of
 * the arena's header as it was then. 0, -ENOMEM, or -errno when the target can no longer
 * be read at all.
 */
int glibc_arena_read(struct glibc_arena_reader *arenas, uint64_t address, uint32_t index,
    struct glibc_arena *arena, uint64_t *mark);

/*
 * Call it when all arenas were read. Arenas are read one after the other, so figures that
 * are exact one by one may belong to different moments; one that has changed since mark is
 * walked once more, and its figures, which stay, become stale by what has changed. The same
 * errors.
 */
int glibc_arena_check(
    struct glibc_arena_reader *arenas, uint64_t mark, struct glibc_arena *arena);

#endif
