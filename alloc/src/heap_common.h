/*
 * What a request heap is inside, and the layout operations behind the API. The two
 * layouts (zend.c, compact.c) share bins, free lists and account; they differ in where
 * pages come from and when they go back.
 */
#ifndef STRATA_HEAP_COMMON_H
#define STRATA_HEAP_COMMON_H

#include <stddef.h>
#include <stdint.h>

#include <strata/heap.h>
#include <strata/heap_walk.h>

#include "account.h"
#include "chunk.h"
#include "link.h"
#include "range.h"
#include "sizeclass.h"

#define STRATA__NAME_BYTES 32
#define STRATA__RESIZE_MOVE (-1)    /* not in place: allocate, copy, free */
#define STRATA__RESIZE_REFUSED (-2) /* over the limit; the failure is noted */

/* Why the last purchase failed; reported by the API when nothing is half done. */
struct strata__failure {
    enum strata_error_kind kind; /* 0: none */
    size_t asked_bytes;
};

struct strata__zend {
    struct strata__chunk_set chunks;
    void *huge; /* list of nodes, each a 24-byte block of this heap */
};

struct strata__compact {
    struct strata__range range;
    double average_pages;
    size_t step_bytes;  /* frees between two sweeps */
    int bought;         /* pages were taken since the last sweep */
    uint64_t purchases; /* stretches of 2 MiB that were touched anew, so far */
};

struct strata_heap {
    /* What the fast paths use comes first. By bin there are arrays and not one array of
     * structs: their entries are found with the processor's own scales. */
    void *free_lists[STRATA__BINS]; /* what the next allocs take, last freed first; each
                                       ends at list_end */
    uint64_t key;
    uint8_t is_zend;    /* a byte is compared in place, an int is loaded first */
    size_t sweep_below; /* COMPACT: a free that leaves less in use asks for a sweep */
    struct strata__account account;
    uint32_t block_bytes[STRATA__BINS];
    /* COMPACT: first page of a run with free blocks of its own, or 0. */
    uint32_t partial_runs[STRATA__BINS];
    uint64_t list_end; /* 0, which is no link: one test tells an empty list and a smashed
                          one from others */
    const struct strata__layout *layout;
    int min_block_16;
    size_t huge_count;
    struct strata__failure failure;
    strata_error_handler *on_error;
    void *on_error_context;
    char name[STRATA__NAME_BYTES];
    union {
        struct strata__zend zend;
        struct strata__compact compact;
    };
};

/* No function but init reports errors other than by the failure field. */
struct strata__layout {
    /* A heap whose first memory is held; NULL if the system gives none. */
    struct strata_heap *(*create)(const struct strata_heap_options *options);
    void (*destroy)(struct strata_heap *heap);
    /* A block of the bin, whose free list is empty; not yet counted as used. */
    void *(*refill)(struct strata_heap *heap, unsigned bin);
    /* `used` fell below sweep_below. */
    void (*sweep)(struct strata_heap *heap);
    /* A block of whole pages, counted as used. alignment: from the page size on. */
    void *(*alloc_pages)(struct strata_heap *heap, size_t bytes, size_t alignment);
    /* What the fast path could not settle. Frees a block of pages and returns -1; returns
     * the bin of a small block; does not return for anything else. */
    int (*free_slow)(struct strata_heap *heap, void *block);
    /* Grows or shrinks a block of pages in place: 0 or one of STRATA__RESIZE_. */
    int (*resize)(struct strata_heap *heap, void *block, size_t bytes);
    /* Usable bytes; does not return if this is not a block of the heap. */
    size_t (*size_of)(struct strata_heap *heap, const void *block);
    /* Is this block on a free list other than the bin's? */
    int (*holds_free)(struct strata_heap *heap, const void *block, unsigned bin);
    void (*end_request)(struct strata_heap *heap);
    size_t (*trim)(struct strata_heap *heap);
    /* Gives back cached memory until real <= bytes, if it can. */
    void (*shrink_to)(struct strata_heap *heap, size_t bytes);
    void (*get_stats)(const struct strata_heap *heap, struct strata_heap_stats *stats);
    int (*walk)(struct strata_heap *heap, strata_walk_visitor *visitor, void *context);
    /* Recounts everything; fatal if a figure is wrong. */
    void (*check)(struct strata_heap *heap);
};

extern const struct strata__layout strata__layout_zend;
extern const struct strata__layout strata__layout_compact;

/* Fills in what both layouts share. */
void strata__heap_init(
    struct strata_heap *heap, const struct strata_heap_options *options);
/* Notes why memory could not be had. */
void strata__heap_fail(
    struct strata_heap *heap, enum strata_error_kind kind, size_t asked_bytes);
/* The same, for more bytes than there can be under a limit or in the address space. */
void strata__heap_fail_beyond(struct strata_heap *heap, size_t asked_bytes);
/* Reserves `bytes` in the account; notes a soft limit passed or the refusal (with
 * `asked`). 1: granted, 0: refused. */
int strata__heap_reserve(struct strata_heap *heap, size_t bytes, size_t asked);
/* Tells the callback; sets errno. The heap must be in order. */
void strata__heap_report(struct strata_heap *heap);
_Noreturn void strata__heap_fatal(
    const struct strata_heap *heap, const char *what, const void *address);
/* Cuts `bytes` from `start` into blocks; all but the first become the bin's free list in
 * address order. Returns the first. */
void *strata__heap_carve(
    struct strata_heap *heap, unsigned bin, void *start, unsigned blocks);
/* Fatal: the link of this free block was overwritten. */
_Noreturn void strata__heap_smashed(const struct strata_heap *heap, const void *block);
/* Fatal if the block is on one of the heap's free lists. */
void strata__heap_check_double_free(
    struct strata_heap *heap, const void *block, unsigned bin);
/* Allocation of a small block by the slow way; counted as used. */
void *strata__heap_alloc_bin(struct strata_heap *heap, unsigned bin);
/* The other way round; the block must be one of this bin. */
void strata__heap_free_bin(struct strata_heap *heap, void *block, unsigned bin);

#endif
