/* glibc_arena.h - reads one arena of glibc malloc. */
#ifndef STRATA_FACTS_GLIBC_ARENA_H
#define STRATA_FACTS_GLIBC_ARENA_H

#include "facts/glibc_attempt.h"

/* What an arena was when it was read, to see later whether it changed, and how much. */
struct glibc_mark {
    uint64_t fingerprint;      /* of its header */
    uint64_t fast_fingerprint; /* of its fast bins alone */
    struct glibc_samples samples;
};

/*
 * Reads the arena at address into arena, whose state tells how it went; what could not be
 * had is no failure. Heaps go to the process's spans with index. mark is zeroed
 * before, filled, and released by the caller. 0, -ENOMEM, or -errno when the target can no longer
 * be read at all.
 */
int glibc_arena_read(struct glibc_arena_reader *arenas, uint64_t address, uint32_t index,
    struct glibc_arena *arena, struct glibc_mark *mark);

/*
 * Call it when all arenas were read. Arenas are read one after the other, so figures that
 * are exact one by one may belong to different moments; one that has changed since mark is
 * looked at once more, and its figures, which stay, become stale by what has changed. The same
 * errors.
 */
int glibc_arena_check(struct glibc_arena_reader *arenas, struct glibc_mark *mark,
    struct glibc_arena *arena);

#endif
