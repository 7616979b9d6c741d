/*
 * strata/heap_walk.h: look at every chunk, page run and block class of a request heap.
 * For tools and tests; takes time in proportion to the heap and its free lists.
 */
#ifndef STRATA_HEAP_WALK_H
#define STRATA_HEAP_WALK_H

#include <strata/heap.h>

#ifdef __cplusplus
extern "C" {
#endif

enum strata_walk_kind {
    STRATA_WALK_CHUNK,        /* ZEND: a chunk; COMPACT: the whole range in use */
    STRATA_WALK_CACHED_CHUNK, /* ZEND: kept for reuse, holds nothing */
    STRATA_WALK_SMALL_RUN,    /* pages cut into blocks of one class */
    STRATA_WALK_LARGE_RUN,    /* one block of whole pages */
    STRATA_WALK_FREE_RUN,     /* free pages between runs; `resident_bytes` still held */
    STRATA_WALK_HUGE,         /* one block with a mapping of its own */
    STRATA_WALK_CLASS         /* after all others, one for each class with a run */
};

struct strata_walk_item {
    size_t struct_bytes;
    enum strata_walk_kind kind;
    const void *address; /* NULL for a class */
    size_t bytes;
    size_t block_bytes;    /* small runs and classes: size of a block */
    size_t blocks;         /* small runs and classes: how many it holds */
    size_t live_blocks;    /* of these, handed out to the caller */
    size_t resident_bytes; /* free runs: part not yet given back to the system */
};

/* Not 0 ends the walk. Must not call the heap. */
typedef int strata_walk_visitor(void *context, const struct strata_walk_item *item);

/* Returns 0, or what the visitor returned. Chunks come before their runs, runs in address
 * order; the sum of live blocks, large runs and huge blocks is used_bytes (a ZEND huge
 * block has a 24-byte node besides, which is a live block of its class). */
STRATA_API int strata_heap_walk(
    struct strata_heap *heap, strata_walk_visitor *visitor, void *context);

#ifdef __cplusplus
}
#endif
#endif
