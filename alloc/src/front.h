/*
 * The malloc replacement without its names: what override.c exports as malloc, free and
 * the others, and what tests call. glibc's semantics (malloc(3), posix_memalign(3),
 * malloc_usable_size(3)), errno included.
 */
#ifndef STRATA_FRONT_H
#define STRATA_FRONT_H

#include <stddef.h>

/* Whom blocks belong to that are not ours: the C library, whose blocks can reach us
 * through a library that was bound to its malloc. NULL: such a block is fatal. */
struct strata__front_foreign {
    void (*release)(void *block);
    void *(*resize)(void *block, size_t bytes);
    size_t (*usable)(void *block);
};
extern struct strata__front_foreign strata__front_foreign;

struct strata__front_stats {
    size_t in_use_bytes; /* of live blocks, rounded up to classes or pages */
    size_t in_use_blocks;
    size_t cached_bytes;   /* blocks that CPUs keep */
    size_t free_bytes;     /* pages that may be resident and hold no live block's bytes */
    size_t resident_bytes; /* the most that can be resident of user pages: the sum */
    size_t large_bytes;    /* part of in_use_bytes: blocks of whole pages */
    size_t large_blocks;
    size_t mapped_bytes;   /* address space of regions and huge blocks */
    size_t metadata_bytes; /* descriptors and tables; not in the sum */
};

/* NULL and ENOMEM when the system gives no memory; never NULL for 0 bytes. */
void *strata__front_alloc(size_t bytes);
void *strata__front_calloc(size_t count, size_t bytes);
/* A power of two is not checked for; ENOMEM. */
void *strata__front_aligned(size_t alignment, size_t bytes);
/* NULL frees nothing. Keeps errno. */
void strata__front_free(void *block);
/* 0 bytes free the block and return NULL, as glibc's does. */
void *strata__front_realloc(void *block, size_t bytes);
size_t strata__front_usable(void *block);

/* Gives back all that can be; returns whether any page went. */
int strata__front_trim(void);
/* Exact when no other thread calls. */
void strata__front_get_stats(struct strata__front_stats *stats);
/* Peaks are from now on what is in use now. */
void strata__front_reset_peaks(void);
/* From now on every call asks tags.c. For good. */
void strata__front_use_tags(void);
/* Recounts everything; a difference is fatal. */
void strata__front_check(void);

/* Around fork: all locks in the order of their ranks. */
void strata__front_fork_prepare(void);
void strata__front_fork_parent(void);
void strata__front_fork_child(void);

#endif
