/*
 * The public functions, and the two fast paths: allocation and free of a small block.
 *
 * Fast alloc: class by table, pop of the bin's list, check of the link, `used`. Fast free:
 * one load of the page map tells class and run; one multiplication tells whether the
 * address starts a block; the block's first word tells whether it may be free already;
 * then push and `used`. All else goes to the layout.
 *
 * errno is set, and the error callback runs, only here and only when the heap is in
 * order, so that the callback may leave by longjmp.
 *
 * One thread at a time for each heap.
 */
#include <errno.h>
#include <string.h>

#include "heap_common.h"
#include "os.h"

#define LIKELY(condition) __builtin_expect(!!(condition), 1)
#define UNLIKELY(condition) __builtin_expect(!!(condition), 0)
#define SLOW __attribute__((noinline, cold))

/* Debug builds recount the whole heap after each change while it is small; a larger one
 * after as many changes as it has pages, since a recount takes time in proportion. */
#if defined(STRATA_DEBUG_CHECKS)
#    define CHECK_SMALL_BYTES ((size_t)1 << 20)
static void debug_check(struct strata_heap *heap)
{
    static _Thread_local size_t changes;
    changes++;
    if (heap->account.real_bytes <= CHECK_SMALL_BYTES ||
        changes > heap->account.real_bytes / STRATA__PAGE_BYTES) {
        changes = 0;
        heap->layout->check(heap);
    }
}
#else
static inline void debug_check(struct strata_heap *heap)
{
    (void)heap;
}
#endif

/* ---- making and ending ---- */

static int options_valid(const struct strata_heap_options *options)
{
    return (options->layout == STRATA_LAYOUT_COMPACT ||
               options->layout == STRATA_LAYOUT_ZEND) &&
           (options->limit_mode == STRATA_LIMIT_STOCK ||
               options->limit_mode == STRATA_LIMIT_SOFT_HARD) &&
           (options->hard_limit_percent <= 0 || options->hard_limit_percent >= 100);
}

struct strata_heap *strata_heap_new(const struct strata_heap_options *options)
{
    struct strata_heap_options full = {.struct_bytes = sizeof(full)};
    if (options != NULL) {
        if (options->struct_bytes < offsetof(struct strata_heap_options, limit_mode)) {
            errno = EINVAL;
            return NULL;
        }
        memcpy(&full, options,
            options->struct_bytes < sizeof(full) ? options->struct_bytes : sizeof(full));
    }
    if (!options_valid(&full)) {
        errno = EINVAL;
        return NULL;
    }
    const struct strata__layout *layout = full.layout == STRATA_LAYOUT_ZEND
                                              ? &strata__layout_zend
                                              : &strata__layout_compact;
    struct strata_heap *heap = layout->create(&full);
    if (heap == NULL) {
        errno = ENOMEM;
        return NULL;
    }
    debug_check(heap);
    return heap;
}

void strata_heap_delete(struct strata_heap *heap)
{
    if (heap != NULL) {
        debug_check(heap);
        heap->layout->destroy(heap);
    }
}

/* ---- alloc ---- */

/* Reports what went wrong or over the soft limit, now that the heap is in order. */
static void *finish(struct strata_heap *heap, void *block)
{
    debug_check(heap);
    if (UNLIKELY(heap->failure.kind != 0)) {
        strata__heap_report(heap);
    }
    return block;
}

/* With min_block_16 the list of bin 0 is always empty: its requests end up here. */
static SLOW void *alloc_refill(struct strata_heap *heap, unsigned bin)
{
    if (bin == 0 && heap->min_block_16) {
        bin = strata__bin_of(STRATA__MIN_BLOCK_16);
    }
    return finish(heap, strata__heap_alloc_bin(heap, bin));
}

static SLOW void *alloc_pages(struct strata_heap *heap, size_t bytes, size_t alignment)
{
    return finish(heap, heap->layout->alloc_pages(heap, bytes, alignment));
}

static inline void *alloc_from_bin(struct strata_heap *heap, unsigned bin)
{
    void *block = heap->free_lists[bin];
    uint64_t word = strata__link_read(block);
    if (UNLIKELY(!strata__link_valid(heap->key, word))) {
        return alloc_refill(heap, bin); /* the end of the list, or a smashed link */
    }
    heap->free_lists[bin] = strata__link_decode(heap->key, word);
    strata__link_clear(block);
    strata__account_use(&heap->account, heap->block_bytes[bin]);
    strata__track_hand_out(block, heap->block_bytes[bin]);
    debug_check(heap);
    return block;
}

void *strata_alloc(struct strata_heap *heap, size_t bytes)
{
    if (LIKELY(bytes <= STRATA__SMALL_MAX)) {
        return alloc_from_bin(heap, strata__bin_of(bytes));
    }
    return alloc_pages(heap, bytes, STRATA__PAGE_BYTES);
}

void *strata_calloc(struct strata_heap *heap, size_t count, size_t bytes)
{
    size_t total = 0;
    if (__builtin_mul_overflow(count, bytes, &total)) {
        strata__heap_fail_beyond(heap, SIZE_MAX);
        return finish(heap, NULL);
    }
    void *block = strata_alloc(heap, total);
    if (block != NULL) {
        memset(block, 0, total);
    }
    return block;
}

/* The smallest class that keeps the alignment, if any: runs start at a page, so all
 * blocks of a class are aligned to each power of two which divides its size. */
static unsigned aligned_bin(size_t alignment, size_t bytes)
{
    unsigned bin = bytes <= STRATA__SMALL_MAX ? strata__bin_of(bytes) : STRATA__BINS;
    while (bin < STRATA__BINS && strata__sizeclasses[bin].block_bytes % alignment != 0) {
        bin++;
    }
    return bin;
}

void *strata_alloc_aligned(struct strata_heap *heap, size_t alignment, size_t bytes)
{
    if (alignment == 0 || (alignment & (alignment - 1)) != 0) {
        errno = EINVAL;
        return NULL;
    }
    if (heap->min_block_16 && bytes < STRATA__MIN_BLOCK_16) {
        bytes = STRATA__MIN_BLOCK_16;
    }
    unsigned bin = aligned_bin(alignment, bytes);
    if (bin < STRATA__BINS) {
        return alloc_from_bin(heap, bin);
    }
    return alloc_pages(heap, bytes > 0 ? bytes : 1,
        alignment > STRATA__PAGE_BYTES ? alignment : STRATA__PAGE_BYTES);
}

/* ---- free ---- */

static SLOW void free_slow(struct strata_heap *heap, void *block)
{
    if (block == NULL) {
        return;
    }
    int bin = heap->layout->free_slow(heap, block);
    if (bin >= 0) {
        uint64_t word = strata__link_read(block);
        if (strata__link_valid(heap->key, word)) {
            strata__heap_check_double_free(heap, block, (unsigned)bin);
        }
        strata__heap_free_bin(heap, block, (unsigned)bin);
    }
    debug_check(heap);
}

static SLOW void sweep(struct strata_heap *heap)
{
    heap->layout->sweep(heap);
    debug_check(heap);
}

/* Frees a block whose page has this word, if it is a small one, and seems to be live; for
 * all else the answer is 0. */
static inline int free_small(struct strata_heap *heap, void *block, uint32_t word)
{
    const struct strata__page_class *class =
        &strata__page_classes[word & STRATA__CLASS_MASK];
    if (UNLIKELY(!strata__is_block_start(class, strata__run_offset(class, block))) ||
        UNLIKELY(strata__link_valid(heap->key, strata__link_read(block)))) {
        return 0; /* the latter: free already, or a rare look-alike */
    }
    unsigned bin = class->bin;
    strata__track_close(block, heap->block_bytes[bin]);
    strata__link_write(heap->key, block, heap->free_lists[bin]);
    heap->free_lists[bin] = block;
    strata__account_unuse(&heap->account, heap->block_bytes[bin]);
    return 1;
}

/* Each layout has its own copy of the way: there is no other branch on the layout. */
void strata_free(struct strata_heap *heap, void *block)
{
    if (heap->is_zend) {
        uintptr_t base = strata__chunk_base(block);
        if (UNLIKELY(*strata__chunk_known(&heap->zend.chunks, base) != base) ||
            UNLIKELY(!free_small(heap, block, *strata__chunk_word(block)))) {
            free_slow(heap, block);
            return;
        }
        debug_check(heap);
        return;
    }
    const struct strata__range *range = &heap->compact.range;
    if (UNLIKELY(!strata__range_holds(range, block)) ||
        UNLIKELY(!free_small(heap, block, *strata__range_word(range, block)))) {
        free_slow(heap, block);
        return;
    }
    if (UNLIKELY(heap->account.used_bytes < heap->sweep_below)) {
        sweep(heap);
        return;
    }
    debug_check(heap);
}

/* ---- realloc ---- */

/* A small block stays where it is while the new size is above the class below, or equal
 * to it (as Zend MM has it). */
static int small_stays(size_t size, size_t bytes)
{
    unsigned bin = strata__bin_of(size);
    return bytes <= size &&
           (bin == 0 || bytes >= strata__sizeclasses[bin - 1].block_bytes);
}

static SLOW void *move(struct strata_heap *heap, void *block, size_t size, size_t bytes)
{
    size_t peak = strata__account_peak_used(&heap->account);
    void *moved = strata_alloc(heap, bytes);
    if (moved == NULL) {
        return NULL;
    }
    memcpy(moved, block, size < bytes ? size : bytes);
    strata_free(heap, block);
    if (bytes > size || size > STRATA__SMALL_MAX) {
        strata__account_forget_double(&heap->account, peak);
    }
    return moved;
}

void *strata_realloc(struct strata_heap *heap, void *block, size_t bytes)
{
    if (block == NULL) {
        return strata_alloc(heap, bytes);
    }
    if (heap->min_block_16 && bytes < STRATA__MIN_BLOCK_16) {
        bytes = STRATA__MIN_BLOCK_16;
    }
    size_t size = heap->layout->size_of(heap, block);
    if (size <= STRATA__SMALL_MAX) {
        return small_stays(size, bytes) ? block : move(heap, block, size, bytes);
    }
    int resized = heap->layout->resize(heap, block, bytes);
    if (resized == STRATA__RESIZE_MOVE) {
        return move(heap, block, size, bytes);
    }
    return finish(heap, resized == 0 ? block : NULL);
}

size_t strata_usable_bytes(struct strata_heap *heap, const void *block)
{
    return block == NULL ? 0 : heap->layout->size_of(heap, block);
}

/* ---- the heap as a whole ---- */

void strata_heap_end_request(struct strata_heap *heap)
{
    heap->layout->end_request(heap);
    debug_check(heap);
}

size_t strata_heap_trim(struct strata_heap *heap)
{
    size_t bytes = heap->layout->trim(heap);
    debug_check(heap);
    return bytes;
}

int strata_heap_set_limit(struct strata_heap *heap, size_t bytes)
{
    size_t limit = bytes == 0 ? STRATA__NO_LIMIT : bytes;
    if (heap->account.real_bytes > limit) {
        heap->layout->shrink_to(heap, limit);
    }
    debug_check(heap);
    if (heap->account.real_bytes > limit) {
        return -EBUSY;
    }
    strata__account_set_limit(&heap->account, bytes);
    return 0;
}

int strata_heap_take_overrun(struct strata_heap *heap)
{
    int overrun = heap->account.overrun;
    heap->account.overrun = 0;
    heap->account.overrun_reported = 0;
    return overrun;
}

void strata_heap_reset_peak(struct strata_heap *heap)
{
    strata__account_reset_peak(&heap->account);
}

void strata_heap_get_stats(
    const struct strata_heap *heap, struct strata_heap_stats *stats)
{
    const struct strata__account *account = &heap->account;
    struct strata_heap_stats full = {
        .used_bytes = account->used_bytes,
        .real_bytes = account->real_bytes,
        .peak_used_bytes = strata__account_peak_used(account),
        .peak_real_bytes = account->peak_real_bytes,
        .limit_bytes = strata__account_shown(account->limit_bytes),
        .hard_limit_bytes = strata__account_shown(account->hard_limit_bytes),
        .huge_blocks = heap->huge_count,
    };
    heap->layout->get_stats(heap, &full);
    size_t bytes =
        stats->struct_bytes < sizeof(full) ? stats->struct_bytes : sizeof(full);
    full.struct_bytes = bytes;
    memcpy(stats, &full, bytes);
}

int strata_heap_walk(
    struct strata_heap *heap, strata_walk_visitor *visitor, void *context)
{
    return heap->layout->walk(heap, visitor, context);
}
