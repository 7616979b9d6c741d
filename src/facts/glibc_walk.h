/* glibc_walk.h - passes over every chunk of one heap of glibc malloc, in address order. */
#ifndef STRATA_FACTS_GLIBC_WALK_H
#define STRATA_FACTS_GLIBC_WALK_H

#include "facts/glibc_fast.h"
#include "facts/glibc_fast_sweep.h"
#include "facts/glibc_holes.h"
#include "facts/glibc_reader.h"
#include "facts/glibc_sample.h"

enum {
    GLIBC_WALK_CHECKPOINTS = 4,  /* windows that a walk can go back */
    GLIBC_WALK_REWINDS = 24,     /* for one arena; then it counts as too busy */
    GLIBC_WALK_PLACES = 1 << 22, /* that are tried to find chunks again, in one arena */
};

/* A piece of memory that is tiled with chunks. */
struct glibc_extent {
    uint64_t start; /* first chunk */
    uint64_t end;   /* end of the memory: behind top, or behind the fence posts */
    uint64_t base;  /* where the mapping of the heap begins, heap_info included */
    bool has_top;   /* the arena's top chunk ends it; else fence posts do */
    bool walked;    /* in this reading */
};

/* What is summed up; part of a checkpoint, so plain data. */
struct glibc_sums {
    uint64_t chunks; /* all: in use, free and fast; without top and fence posts */
    uint64_t free_bytes;
    uint64_t free_chunks;
    uint64_t fast_bytes;
    uint64_t fast_chunks;
    uint64_t hidden_bytes; /* looks in use; in fast bins that were cut, perhaps */
    uint64_t gap_bytes;    /* counts as in use; changed while the walk was there */
    uint64_t fence_bytes;  /* fence posts and what lies between two pieces of a heap */
    uint64_t largest_free_bytes;
    uint64_t resident_pages;     /* of the extents, from their bases to their ends */
    uint64_t run_resident_pages; /* whole present pages inside runs of free chunks */
    uint64_t run_shared_bytes;   /* of these runs, what lies on no whole page */
    /* The largest run of free chunks, to see what pins the heap. */
    uint64_t largest_run_start;
    uint64_t largest_run_end;
    uint64_t largest_run_before_bytes; /* free and fast bytes below it */
};

/* Where a walk is; copied to go back to it. */
struct glibc_position {
    uint64_t at;        /* the next chunk */
    uint64_t previous;  /* the chunk below it; 0 at the start of an extent */
    uint64_t run_start; /* the run of free and fast chunks seen last; 0: none */
    uint64_t run_end;
    uint64_t counted_end; /* resident_pages are counted up to here, in this extent */
    size_t tcache_count;
    bool behind_gap; /* previous may be 0 for a chunk that is not the first */
    struct glibc_sampler sampler;
    struct glibc_sums sums;
};

struct glibc_walk {
    struct glibc_reader *reader;
    uint64_t arena;       /* address of its malloc_state */
    const uint8_t *state; /* its copy, of before the walk */
    bool moved;           /* it is another one now */
    /* Lists that ascend are followed in the walk's own windows; its set is then complete. */
    struct glibc_fast_sweep *sweep;
    uint64_t hidden_sizes; /* glibc_fast_sweep_cut_sizes() */
    uint64_t lowest;       /* of all extents of the arena: where links may lead */
    uint64_t highest;
    struct glibc_extent extent;
    uint64_t stop;      /* top, or the end of the extent */
    uint64_t next_fast; /* the next chunk of a fast bin in the view; its end: none */
    struct glibc_position position;
    struct glibc_position checkpoints[GLIBC_WALK_CHECKPOINTS];
    uint64_t checkpoint_count; /* ever made; the newest ones are in the ring */
    uint64_t rewinds_left;
    uint64_t misfit_at; /* the place that did not fit last time, and what was there */
    uint64_t misfit_header;
    uint32_t misfit_repeats;
    /* Results of the extent with top. */
    uint64_t top;
    uint64_t top_bytes;
    uint64_t top_run_pages; /* of run_resident_pages: in the run that touches top */
    uint64_t top_run_start; /* that run, or top itself */
    uint64_t places_left;
    struct glibc_samples *samples;   /* begun by the caller; filled */
    const struct glibc_holes *holes; /* that need not be loaded; NULL: none are known */
};

/*
 * Walks extent and adds to walk->position.sums. Where chunks do not fit since the arena has
 * changed, the walk goes on behind them, and what was left out is in gap_bytes. 0 when its end was met exactly;
 * -EAGAIN when the target changed it faster than it could be read; -EBADMSG when the same
 * bytes made no sense in repeated reads; -EBUSY when the budget of the
 * reader is spent; -EXDEV at the fence posts inside a main heap whose break something else
 * has moved; or -errno of the memory. On failure sums hold what lies below
 * position.at.
 */
int glibc_walk_extent(struct glibc_walk *walk, const struct glibc_extent *extent);

/*
 * The arena's top pointer and the size of that chunk, read until two reads agree. 0;
 * -EAGAIN when they never did; -EBADMSG for a pointer or a size that cannot be; or -errno.
 */
int glibc_walk_read_top(
    struct glibc_reader *reader, uint64_t arena, uint64_t *top, uint64_t *top_bytes);

#endif
