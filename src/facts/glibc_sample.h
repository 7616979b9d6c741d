/* glibc_sample.h - stretches of an arena that are looked at again after it was walked. */
#ifndef STRATA_FACTS_GLIBC_SAMPLE_H
#define STRATA_FACTS_GLIBC_SAMPLE_H

#include "facts/glibc_reader.h"

enum {
    GLIBC_SAMPLE_STRIDE_BYTES = 128 << 10, /* from one stretch to the next, at least */
    GLIBC_SAMPLE_SHARE = 8,                /* one in so many bytes is in a stretch, */
    GLIBC_SAMPLE_WHOLE_BYTES = 1 << 20,    /* but all of an arena of up to this size */
    GLIBC_SAMPLE_MAXIMUM = 1 << 16,        /* stretches of one arena */
};

/* The chunks from the one at to the one at end, which is not part of it. */
struct glibc_sample {
    uint64_t at;
    uint64_t end;
    uint64_t below_bytes; /* of the free chunk that ends at at; 0: there is none */
    uint64_t free_bytes;  /* of free chunks that end behind at, up to the last header */
};

struct glibc_samples {
    struct glibc_sample *items;
    size_t count;
    size_t capacity;
    uint64_t stride_bytes;
    uint64_t length_bytes; /* of a stretch, then to the next chunk; the stride: of all */
};

/* What two looks at the same stretches say of the whole arena. */
struct glibc_movement {
    bool known;     /* false: nothing was sampled, or it could not be read again */
    bool seen;      /* some stretch differs */
    uint64_t bytes; /* that became free or in use, in the arena */
};

void glibc_samples_release(struct glibc_samples *samples);

/* Forgets all, and chooses how an arena of held bytes is sampled. */
void glibc_samples_begin(struct glibc_samples *samples, uint64_t held);

/*
 * Where a walk is with its samples; plain data, so that a walk which goes back can take an old
 * copy. edge is where the stretch ends, or where the next one may begin.
 */
struct glibc_sampler {
    bool is_open;
    uint64_t edge;
    size_t count; /* stretches so far */
    struct glibc_sample sample;
};

/* The next chunk that a walk comes to. */
struct glibc_sample_place {
    uint64_t start; /* of the extent */
    uint64_t at;
    uint64_t previous;    /* the chunk below; 0: not known */
    uint64_t below_bytes; /* of the free chunk that ends here; 0: it is in use */
    uint64_t free_bytes;  /* that the walk has met so far */
};

/* The walk is at or behind the edge: ends a stretch or begins one. 0 or -ENOMEM. */
int glibc_sampler_turn(struct glibc_sampler *sampler, struct glibc_samples *samples,
    const struct glibc_sample_place *place);

/* Ends the stretch that is open, if there is one, before the chunk at. 0 or -ENOMEM. */
int glibc_sampler_end(struct glibc_sampler *sampler, struct glibc_samples *samples,
    uint64_t at, uint64_t free_bytes);

/* Forgets the stretch that is open; the next one begins at address or behind it. */
void glibc_sampler_skip(struct glibc_sampler *sampler,
    const struct glibc_samples *samples, uint64_t start, uint64_t address);

/*
 * Looks at all stretches again, of an arena that holds held bytes; loads the reader's window.
 * 0, -ENOMEM or -errno when the target can no longer be read.
 */
int glibc_samples_compare(const struct glibc_samples *samples,
    struct glibc_reader *reader, uint64_t held, struct glibc_movement *movement);

#endif
