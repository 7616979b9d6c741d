/*
 * strata/heap.h: request heaps. One owner, a limit, exact figures, and everything
 * dropped at once at the end of a request.
 *
 * Threads: a heap belongs to one thread at a time; different heaps need no locks.
 * Sizes are bytes. A failed call returns NULL and sets errno to ENOMEM (EINVAL for a bad
 * argument) and leaves every figure but the peaks as it was; but what holds no block may go
 * back to the system first, as with Zend MM, and real and free figures be lower. COMPACT does
 * not even that where its blocks alone leave no room under the limit.
 *
 * Misuse ends the process through one fatal function, which writes the heap's name and
 * the address to stderr and aborts. Looked for on each free: an address which the heap
 * does not own, one which is not the start of a block, and a block that is free already
 * (its first word decodes as a free-list link; then the lists are searched, so a live
 * block is never blamed). Looked for on each alloc: a free-list link which was
 * overwritten (links are xored with a secret of the heap; the first two bytes and the
 * alignment bits must decode to zero).
 */
#ifndef STRATA_HEAP_H
#define STRATA_HEAP_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define STRATA_VERSION_MAJOR 1
#define STRATA_VERSION_MINOR 0
#define STRATA_VERSION_PATCH 0

#if defined(__GNUC__)
#    define STRATA_API __attribute__((visibility("default")))
#else
#    define STRATA_API
#endif

/* ZEND: figures equal to Zend MM 8.0-8.3 at every step. COMPACT: same size classes,
 * page runs of any length in one address range, `real` counts pages. */
enum strata_layout { STRATA_LAYOUT_COMPACT, STRATA_LAYOUT_ZEND };

/* STOCK: what would pass the limit is refused. SOFT_HARD (PHP's change of October 2026):
 * it is granted and noted once (STRATA_ERROR_SOFT_LIMIT), and refused only when it would
 * pass the hard limit. Unlike stock Zend, a heap above its limit never wraps around. */
enum strata_limit_mode { STRATA_LIMIT_STOCK, STRATA_LIMIT_SOFT_HARD };

enum strata_error_kind {
    STRATA_ERROR_LIMIT = 1,  /* refused: would pass the limit */
    STRATA_ERROR_SOFT_LIMIT, /* granted, but above the soft limit */
    STRATA_ERROR_HARD_LIMIT, /* refused: would pass the hard limit */
    STRATA_ERROR_SYSTEM      /* refused: the system or the address range has no more */
};

/* What an error callback is told. asked_bytes is what the caller's request needs after
 * rounding: whole pages, a huge block's size, or the growth of one (ZEND: with
 * what is searched for the alignment of a large one); SIZE_MAX: calloc's product overflows.
 * Limits are 0 where there is none. */
struct strata_heap_error {
    size_t struct_bytes;
    enum strata_error_kind kind;
    const char *heap_name;
    size_t limit_bytes, hard_limit_bytes, used_bytes, real_bytes, asked_bytes;
};

/* Runs inside the failing call; it must not call the heap, and may longjmp out. */
typedef void strata_error_handler(void *context, const struct strata_heap_error *error);

/* All fields but struct_bytes may be zero. New fields go at the end. */
struct strata_heap_options {
    size_t struct_bytes; /* sizeof(struct strata_heap_options) */
    enum strata_layout layout;
    size_t
        limit_bytes; /* of real; 0: none. Less than a new heap holds is not raised, as PHP
                           does it, nor refused: no purchase is granted */
    const char *name; /* copied, at most 31 bytes are kept */
    enum strata_limit_mode limit_mode;
    int hard_limit_percent; /* of the limit, from 100; 0 or less: 200 % up to 1 GiB,
                               above that limit + 1 GiB */
    int min_block_16;       /* not 0: blocks have 16 bytes at least, as from PHP 8.4 on */
    strata_error_handler *on_error;
    void *on_error_context;
    size_t reserve_bytes; /* COMPACT: address range to reserve, rounded up to whole 64 MiB
                             and at most 256 GiB; 0: 64 GiB, or what the system allows; a
                             heap cannot outgrow it */
};

/* All figures are exact, and O(1) but for one: COMPACT looks for largest_free_run_bytes at
 * one bit for each page below the highest in use, 64 at a time. */
struct strata_heap_stats {
    size_t struct_bytes;    /* set by the caller */
    size_t used_bytes;      /* blocks handed out, rounded to their class or to pages */
    size_t real_bytes;      /* ZEND: chunks (also cached ones) and huge blocks; COMPACT:
                               pages in use, free pages not yet given back, own tables */
    size_t peak_used_bytes; /* highest since new, reset_peak or end_request */
    size_t peak_real_bytes;
    size_t limit_bytes;   /* 0: none; so for hard_limit_bytes */
    size_t chunks;        /* COMPACT: 2 MiB stretches up to the highest page in use */
    size_t cached_chunks; /* ZEND only */
    size_t huge_blocks;   /* blocks above STRATA_LARGE_MAX_BYTES */
    size_t hard_limit_bytes;
    size_t peak_chunks;            /* since the last end of request */
    size_t largest_free_run_bytes; /* below the highest page in use; ZEND: of one chunk */
    size_t free_bytes;             /* free pages inside real */
    uint64_t chunk_purchases; /* chunks taken from the system since new; never falls */
    double average_chunks;    /* the halving average which trims the cache */
};

#define STRATA_CHUNK_BYTES ((size_t)2 << 20)
#define STRATA_PAGE_BYTES ((size_t)4096)
#define STRATA_SMALL_MAX_BYTES ((size_t)3072)
#define STRATA_LARGE_MAX_BYTES (STRATA_CHUNK_BYTES - STRATA_PAGE_BYTES)

struct strata_heap;

/* NULL options: a COMPACT heap without limit. Errors: EINVAL, ENOMEM. */
STRATA_API struct strata_heap *strata_heap_new(const struct strata_heap_options *options);
STRATA_API void strata_heap_delete(struct strata_heap *heap); /* NULL is ignored */

/* 0 bytes count as one. Blocks are aligned to 8 bytes, to 16 where the class is a
 * multiple of 16, to 4096 above STRATA_SMALL_MAX_BYTES. */
STRATA_API void *strata_alloc(struct strata_heap *heap, size_t bytes);
STRATA_API void *strata_calloc(struct strata_heap *heap, size_t count, size_t bytes);
/* alignment: any power of two (else EINVAL). The block is freed as any other. */
STRATA_API void *strata_alloc_aligned(
    struct strata_heap *heap, size_t alignment, size_t bytes);
/* A NULL block is an alloc; on failure the old block stays as it was. */
STRATA_API void *strata_realloc(struct strata_heap *heap, void *block, size_t bytes);
STRATA_API void strata_free(struct strata_heap *heap, void *block); /* NULL is ignored */
STRATA_API size_t strata_usable_bytes(struct strata_heap *heap, const void *block);

/* Drops every block, trims what is kept by the halving average of the peaks, resets the
 * peaks; limit and average stay. */
STRATA_API void strata_heap_end_request(struct strata_heap *heap);
/* Gives back what holds no block. Returns, as gc_mem_caches() does, the bytes of the
 * small-block pages it collected (ZEND), or the bytes given to the system (COMPACT). */
STRATA_API size_t strata_heap_trim(struct strata_heap *heap);
/* 0 bytes: no limit. Below real: first drops cached memory; if that is not enough,
 * -EBUSY and the old limit stays. Otherwise 0, and the new limit is in force. */
STRATA_API int strata_heap_set_limit(struct strata_heap *heap, size_t bytes);
/* 1 if a soft limit was passed since the last call or end of request, else 0. */
STRATA_API int strata_heap_take_overrun(struct strata_heap *heap);
STRATA_API void strata_heap_reset_peak(struct strata_heap *heap); /* peaks = current */
STRATA_API void strata_heap_get_stats(
    const struct strata_heap *heap, struct strata_heap_stats *stats);

#ifdef __cplusplus
}
#endif
#endif
