/*
 * Huge blocks: mappings of their own, that start on a page and are multiples of one.
 * strata__span describes each, with no units.
 */
#ifndef STRATA_HUGE_H
#define STRATA_HUGE_H

#include <stddef.h>

#include "units.h"

/* A block above it that has to move while it grows becomes huge: the next time the kernel
 * moves it without copying. */
#define STRATA__GROWN_MAX_BYTES ((size_t)1 << 20)

/* Set once, before other threads: every block of whole pages is huge, and guarded. */
extern int strata__huge_guarded;
void strata__huge_harden(void);

/* bytes > 0, alignment a power of two. Zeroes; NULL when the system gives no memory. */
void *strata__huge_alloc(size_t bytes, size_t alignment);
void strata__huge_free(struct strata__span *span);
/* Where the block is that has been made this long, or NULL. Whole pages. It has left the
 * books, and its descriptor does not change. */
char *strata__huge_resize(struct strata__span *span, size_t bytes);

/* mremap onto the mapping at `to`, which it replaces; 0 or -errno. Tests replace it. */
extern int (*strata__huge_move)(void *from, size_t old_bytes, void *to, size_t new_bytes);

#endif
