/* region.h - memory that is taken piece by piece and given back at once. */
#ifndef STRATA_BASE_REGION_H
#define STRATA_BASE_REGION_H

#include <stddef.h>

struct region_block;

/*
 * Everything that belongs to one set of facts, one snapshot or one list of findings is
 * taken from one region, so nothing needs a destructor of its own. maximum_bytes bounds
 * what hostile input can make us take. Not thread safe.
 */
struct region {
    struct region_block *blocks;
    size_t used_bytes;
    size_t maximum_bytes;
};

void region_init(struct region *region, size_t maximum_bytes);
void region_release(struct region *region);

/* Zeroed memory aligned for any type, or NULL: memory is short or the bound is met. */
void *region_alloc(struct region *region, size_t bytes);

/* A NUL terminated copy of the first bytes of text, or NULL. */
char *region_copy(struct region *region, const char *text, size_t bytes);

/* A copy of the whole text, or NULL; NULL copies to NULL. */
char *region_copy_text(struct region *region, const char *text);

/* Formatted text, or NULL. */
char *region_printf(struct region *region, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/*
 * Room for one more item in the array whose address is passed as items (T **, given as
 * void *) and which holds count items; returns the new, zeroed place, or NULL when
 * count has reached maximum or memory is short. The caller increments its count. The
 * array must have been grown by this function only, starting from NULL and 0.
 */
void *region_grow(
    struct region *region, void *items, size_t count, size_t maximum, size_t item_bytes);

#endif
