/*
 * fuzz_heap.c - a request heap of either layout against operations out of any bytes.
 *
 * The first byte says the layout and whether there is a limit; the rest as for
 * fuzz_malloc.c. Below a limit a refusal is right, and changes no figure.
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <strata/heap.h>
#include <strata/heap_walk.h>

#include "fuzz_blocks.h"

enum { LIMIT_BYTES = 24 << 20 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static struct strata_heap *heap_of(const struct fuzz_blocks *blocks)
{
    return blocks->context;
}

static void *allocate(struct fuzz_blocks *blocks, enum fuzz_kind kind, size_t bytes)
{
    if (kind == FUZZ_CALLOC) {
        return strata_calloc(heap_of(blocks), 1, bytes);
    }
    if (kind == FUZZ_ALIGNED) {
        const size_t alignment = fuzz_alignment(bytes);
        return strata_alloc_aligned(
            heap_of(blocks), alignment, (bytes + alignment) & ~(alignment - 1));
    }
    return strata_alloc(heap_of(blocks), bytes);
}

static void *resize(struct fuzz_blocks *blocks, void *block, size_t bytes)
{
    return strata_realloc(heap_of(blocks), block, bytes);
}

static void release(struct fuzz_blocks *blocks, void *block)
{
    strata_free(heap_of(blocks), block);
}

/* Ends the request when nothing lives, else gives back what is free. */
static void trim(struct fuzz_blocks *blocks)
{
    if (fuzz_block_count(blocks) == 0) {
        strata_heap_end_request(heap_of(blocks));
    } else {
        (void)strata_heap_trim(heap_of(blocks));
    }
}

static size_t usable(struct fuzz_blocks *blocks, void *block)
{
    return strata_usable_bytes(heap_of(blocks), block);
}

struct sum {
    size_t small_bytes;
    size_t run_bytes;
    size_t huge_bytes;
};

static int add(void *context, const struct strata_walk_item *item)
{
    struct sum *sum = context;

    if (item->kind == STRATA_WALK_SMALL_RUN) {
        fuzz_expect(item->live_blocks <= item->blocks);
        sum->small_bytes += item->live_blocks * item->block_bytes;
    } else if (item->kind == STRATA_WALK_LARGE_RUN) {
        sum->run_bytes += item->bytes;
    } else if (item->kind == STRATA_WALK_HUGE) {
        sum->huge_bytes += item->bytes;
    }
    return 0;
}

static void recount(const struct fuzz_blocks *blocks)
{
    struct strata_heap_stats stats = {.struct_bytes = sizeof(stats)};
    struct sum sum = {0};

    strata_heap_get_stats(heap_of(blocks), &stats);
    fuzz_expect(strata_heap_walk(heap_of(blocks), add, &sum) == 0);
    fuzz_expect(stats.used_bytes == sum.small_bytes + sum.run_bytes + sum.huge_bytes);
    fuzz_expect(stats.used_bytes <= stats.real_bytes);
    fuzz_expect(stats.used_bytes <= stats.peak_used_bytes);
    fuzz_expect(stats.real_bytes <= stats.peak_real_bytes);
    fuzz_expect(stats.limit_bytes == 0 || stats.real_bytes <= stats.limit_bytes ||
                !blocks->may_refuse);
    fuzz_expect(stats.used_bytes >= fuzz_usable_bytes(blocks));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct strata_heap_options options = {.struct_bytes = sizeof(options)};
    struct fuzz_blocks blocks = {.allocate = allocate,
        .resize = resize,
        .release = release,
        .trim = trim,
        .usable = usable,
        .recount = recount};

    if (size < 1) {
        return 0;
    }
    options.layout = (data[0] & 1) != 0 ? STRATA_LAYOUT_ZEND : STRATA_LAYOUT_COMPACT;
    options.limit_bytes = (data[0] & 2) != 0 ? LIMIT_BYTES : 0;
    blocks.may_refuse = options.limit_bytes != 0;
    blocks.context = strata_heap_new(&options);
    fuzz_expect(blocks.context != NULL);
    fuzz_operations(&blocks, data + 1, size - 1);
    strata_heap_delete(blocks.context);
    return 0;
}
