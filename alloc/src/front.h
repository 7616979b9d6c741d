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
/* From now on every call asks tags.c. For good. */
void strata__front_use_tags(void);
/* Ends what strata__busy_enter began: nothing is locked, and more frees may be due. */
void strata__front_leave(void);

#endif
