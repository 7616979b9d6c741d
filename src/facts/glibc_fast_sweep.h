/* glibc_fast_sweep.h - follows all fast bins of an arena at once, in the order of memory. */
#ifndef STRATA_FACTS_GLIBC_FAST_SWEEP_H
#define STRATA_FACTS_GLIBC_FAST_SWEEP_H

#include "facts/glibc_fast.h"
#include "facts/glibc_reader.h"

/* Where the lists of one arena are. What they have led to is in set. */
struct glibc_fast_sweep {
    struct glibc_reader *reader;
    struct glibc_fast_set *set;
    uint64_t next[GLIBC_FAST_BIN_COUNT]; /* chunk that the list waits for; 0: ended */
    uint64_t load_bytes;                 /* of the last load of its own */
    uint32_t cut_bins;                   /* one bit for each list that was given up */
    bool torn; /* a list led into nowhere: the arena is busy, or damaged */
    bool late; /* a chunk was found below where the walk already was */
};

/* Begins with the heads in state, a copy of the malloc_state; forgets what set held. */
void glibc_fast_sweep_begin(struct glibc_fast_sweep *sweep, struct glibc_reader *reader,
    const uint8_t *state, struct glibc_fast_set *set);

/* No list waits for anything more. */
bool glibc_fast_sweep_ended(const struct glibc_fast_sweep *sweep);

/*
 * Follows each list as long as it leads through what the reader's window shows. floor is
 * where the walk is: chunks below it come too late. 0, or -ENOMEM.
 */
int glibc_fast_sweep_view(struct glibc_fast_sweep *sweep, uint64_t floor);

/* How many lists wait for a chunk in [start, end), which is not empty and not at 0. */
uint32_t glibc_fast_sweep_waiting(
    const struct glibc_fast_sweep *sweep, uint64_t start, uint64_t end);

/*
 * Passes down and up until every list has ended (finish), or until only lists wait that run
 * upwards through most of the memory, which are left for the walk (ahead). They load the reader's
 * window. Torn lists, and lists cut when reader->sweep_bytes_left or links_left is
 * spent, are no failure. 0, -ENOMEM or -errno of the memory.
 */
int glibc_fast_sweep_ahead(struct glibc_fast_sweep *sweep);
int glibc_fast_sweep_finish(struct glibc_fast_sweep *sweep);

/* A bit for size / GLIBC_CHUNK_ALIGN of each list that was cut. */
uint64_t glibc_fast_sweep_cut_sizes(const struct glibc_fast_sweep *sweep);

#endif
