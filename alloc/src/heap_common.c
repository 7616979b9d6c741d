/*
 * What both layouts share: the start values of a heap, the lists of free blocks, failures
 * and their report.
 *
 * Invariants: a free list holds blocks of one class of this heap, linked through their
 * first words (link.h); used_bytes counts every block which is on no free list.
 *
 * One thread at a time.
 */
#include "heap_common.h"

#include <errno.h>
#include <string.h>

#include "free_list.h"
#include "os.h"

void strata__heap_init(
    struct strata_heap *heap, const struct strata_heap_options *options)
{
    heap->is_zend = options->layout == STRATA_LAYOUT_ZEND;
    heap->min_block_16 = options->min_block_16 != 0;
    heap->key = strata__link_key(strata__os->secret());
    heap->on_error = options->on_error;
    heap->on_error_context = options->on_error_context;
    heap->account.limit_mode = options->limit_mode;
    heap->account.hard_limit_percent = options->hard_limit_percent;
    strata__account_set_limit(&heap->account, options->limit_bytes);
    const char *name = options->name != NULL ? options->name : "request";
    memcpy(heap->name, name, strnlen(name, STRATA__NAME_BYTES - 1));
    for (unsigned bin = 0; bin < STRATA__BINS; bin++) {
        heap->block_bytes[bin] = strata__sizeclasses[bin].block_bytes;
        strata__heap_set_first(heap, bin, NULL);
    }
}

void strata__heap_fail(
    struct strata_heap *heap, enum strata_error_kind kind, size_t asked_bytes)
{
    heap->failure.kind = kind;
    heap->failure.asked_bytes = asked_bytes;
}

void strata__heap_fail_beyond(struct strata_heap *heap, size_t asked_bytes)
{
    const struct strata__account *account = &heap->account;
    enum strata_error_kind kind = STRATA_ERROR_SYSTEM;
    if (strata__account_shown(account->hard_limit_bytes) != 0 &&
        asked_bytes > account->hard_limit_bytes) {
        kind = account->limit_mode == STRATA_LIMIT_STOCK ? STRATA_ERROR_LIMIT
                                                         : STRATA_ERROR_HARD_LIMIT;
    }
    strata__heap_fail(heap, kind, asked_bytes);
}

int strata__heap_reserve(struct strata_heap *heap, size_t bytes, size_t asked)
{
    switch (strata__account_reserve(&heap->account, bytes)) {
    case STRATA__GRANTED:
        return 1;
    case STRATA__GRANTED_SOFT:
        strata__heap_fail(heap, STRATA_ERROR_SOFT_LIMIT, asked);
        return 1;
    case STRATA__OVER_LIMIT:
        strata__heap_fail(heap, STRATA_ERROR_LIMIT, asked);
        return 0;
    case STRATA__OVER_HARD_LIMIT:
    default:
        strata__heap_fail(heap, STRATA_ERROR_HARD_LIMIT, asked);
        return 0;
    }
}

void strata__heap_report(struct strata_heap *heap)
{
    struct strata_heap_error error = {
        .struct_bytes = sizeof(error),
        .kind = heap->failure.kind,
        .heap_name = heap->name,
        .limit_bytes = strata__account_shown(heap->account.limit_bytes),
        .hard_limit_bytes = strata__account_shown(heap->account.hard_limit_bytes),
        .used_bytes = heap->account.used_bytes,
        .real_bytes = heap->account.real_bytes,
        .asked_bytes = heap->failure.asked_bytes,
    };
    heap->failure = (struct strata__failure){0};
    if (error.kind != STRATA_ERROR_SOFT_LIMIT) {
        errno = ENOMEM;
    }
    if (heap->on_error != NULL) {
        heap->on_error(heap->on_error_context, &error);
    }
}

void strata__heap_fatal(
    const struct strata_heap *heap, const char *what, const void *address)
{
    strata__fatal(heap->name, what, address);
}

void *strata__heap_carve(
    struct strata_heap *heap, unsigned bin, void *start, unsigned blocks)
{
    size_t block_bytes = heap->block_bytes[bin];
    uint64_t key = heap->key;
    char *block = (char *)start + block_bytes;
    char *last = (char *)start + (blocks - 1) * block_bytes;
    strata__track_close(start, blocks * block_bytes);
    heap->free_lists[bin] = block;
    while (block < last) {
        strata__link_write(key, block, block + block_bytes);
        block += block_bytes;
    }
    strata__heap_link(heap, last, NULL);
    return start;
}

void strata__heap_smashed(const struct strata_heap *heap, const void *block)
{
    strata__heap_fatal(heap, "write to a free block, or overflow into it", block);
}

static int list_holds(const struct strata_heap *heap, const void *list, const void *block)
{
    while (list != NULL && list != block) {
        list = strata__heap_next(heap, list);
    }
    return list != NULL;
}

void strata__heap_check_double_free(
    struct strata_heap *heap, const void *block, unsigned bin)
{
    if (list_holds(heap, strata__heap_first(heap, bin), block) ||
        heap->layout->holds_free(heap, block, bin)) {
        strata__heap_fatal(heap, "free of a block that is free already", block);
    }
}

void *strata__heap_alloc_bin(struct strata_heap *heap, unsigned bin)
{
    void *block = strata__heap_first(heap, bin);
    if (block != NULL) {
        strata__heap_set_first(heap, bin, strata__heap_next(heap, block));
    } else {
        block = heap->layout->refill(heap, bin);
        if (block == NULL) {
            return NULL;
        }
    }
    strata__link_clear(block);
    strata__account_use(&heap->account, heap->block_bytes[bin]);
    strata__track_hand_out(block, heap->block_bytes[bin]);
    return block;
}

void strata__heap_free_bin(struct strata_heap *heap, void *block, unsigned bin)
{
    strata__track_close(block, heap->block_bytes[bin]);
    strata__link_write(heap->key, block, heap->free_lists[bin]);
    heap->free_lists[bin] = block;
    strata__account_unuse(&heap->account, heap->block_bytes[bin]);
    if (heap->account.used_bytes < heap->sweep_below) {
        heap->layout->sweep(heap);
    }
}
