/* glibc_attempt.h - one arena read once, and how that went. */
#ifndef STRATA_FACTS_GLIBC_ATTEMPT_H
#define STRATA_FACTS_GLIBC_ATTEMPT_H

#include "facts/glibc_fast.h"
#include "facts/glibc_heaps.h"
#include "facts/glibc_holes.h"
#include "facts/glibc_state.h"
#include "facts/glibc_walk.h"

/* What reading an arena needs besides the reader; used for one arena after the other. */
struct glibc_arena_reader {
    struct glibc_reader *reader;
    struct glibc_fast_set fast;
    struct glibc_fast_sweep sweep; /* of the arena that is being read */
    struct glibc_extents extents;
    struct glibc_holes holes; /* of the arena that is being read */
    struct glibc_walk walk;
    uint64_t thp_pagesize_bytes;
};

/* 0 or -ENOMEM; release after either. */
int glibc_arena_reader_init(
    struct glibc_arena_reader *arenas, struct glibc_reader *reader);
void glibc_arena_reader_release(struct glibc_arena_reader *arenas);

enum glibc_outcome {
    OUTCOME_CLOSED, /* exact */
    OUTCOME_MOVED,  /* all was walked, but the arena changed meanwhile */
    OUTCOME_LISTS,  /* exact, but for the fast bins */
    OUTCOME_TORN,   /* not all could be walked: the arena changes too fast */
    OUTCOME_UNFIT,  /* nothing moved and it still makes no sense */
    OUTCOME_SPENT,  /* the budget of the reading is used up */
};

/* Set address and samples; the rest is the result. */
struct glibc_attempt {
    uint64_t address;
    struct glibc_samples *samples;
    uint8_t state[GLIBC_STATE_MAXIMUM_BYTES]; /* of before the walk */
    struct glibc_arena sums;
    uint64_t hidden_bytes; /* counted as in use, but perhaps in fast bins */
    uint64_t gap_bytes;    /* counted as in use, but changed under the walk */
    enum glibc_outcome outcome;
    const char *why; /* NULL when it closed */
};

/* Reads the arena once and judges the reading. 0, or -errno that ends all reading. */
int glibc_attempt_read(struct glibc_arena_reader *arenas, struct glibc_attempt *attempt);

/* Errors of a part that mean: the target moved, or lies. Others end the reading. */
bool glibc_is_about_content(int result);

#endif
