/*
 * zend_layers.c - Zend MM takes its chunks and huge blocks by mmap, not from malloc, so its
 * figures stand beside malloc's and are added to them.
 *
 * real = blocks in use + free blocks + free pages + cached chunks + headers and run tails.
 * The page map gives the division; a heap that moved too fast for one has its counters only,
 * and real is then one part.
 */
#include "model/zend_layers.h"

#include "base/number.h"
#include "base/quantity.h"
#include "model/known.h"

enum { PAGE_BYTES = 4096 };

static bool has_counters(const struct zend_heap_facts *heap)
{
    return state_is_known(heap->state) && !heap->custom;
}

static bool has_residency(const struct zend_heap_facts *heap)
{
    return heap->state == FACT_OK && heap->resident_state == FACT_OK;
}

/* The parts of real; before 8.0.14 real left cached chunks out at the end of a request. */
static void add_held(struct amounts *held, const struct zend_heap_facts *heap)
{
    uint64_t live = heap->small_live_bytes + heap->large_pages * PAGE_BYTES;
    uint64_t overhead = heap->chunks * PAGE_BYTES + heap->run_tail_bytes;
    uint64_t others = live + overhead + heap->small_free_bytes + heap->huge_bytes +
                      heap->free_pages * PAGE_BYTES;
    uint64_t cached = number_subtract(heap->real_bytes, others);

    if (heap->state != FACT_OK || others > heap->real_bytes) {
        amounts_add(held, PART_ZEND_CHUNKS, heap->real_bytes);
        return;
    }
    amounts_add(held, PART_ZEND_IN_USE, live);
    amounts_add(held, PART_ZEND_HUGE, heap->huge_bytes);
    amounts_add(held, PART_ZEND_FREE_BLOCKS, heap->small_free_bytes);
    amounts_add(held, PART_ZEND_FREE_PAGES, heap->free_pages * PAGE_BYTES);
    amounts_add(held, PART_ZEND_CACHED, cached);
    amounts_add(held, PART_ZEND_OVERHEAD, overhead);
}

static void add_heap(struct heap_amounts *amounts, const struct zend_heap_facts *heap)
{
    uint64_t huge = heap->state == FACT_OK ? heap->huge_bytes : 0;

    add_held(&amounts->held, heap);
    amounts_add(&amounts->in_use, PART_ZEND_HUGE, huge);
    amounts_add(
        &amounts->in_use, PART_ZEND_IN_USE, number_subtract(heap->used_bytes, huge));
    if (has_residency(heap)) {
        amounts_add(
            &amounts->free_resident, PART_ZEND_FREE_PAGES, heap->free_resident_bytes);
        amounts_add(
            &amounts->free_resident, PART_ZEND_CACHED, heap->cached_resident_bytes);
        amounts_add(&amounts->never_touched, PART_ZEND_CHUNKS,
            number_subtract(heap->real_bytes, heap->resident_bytes));
    }
}

void zend_layers_add(const struct process_facts *process, struct heap_amounts *amounts,
    struct zend_sums *sums)
{
    *sums = (struct zend_sums){0};
    for (size_t i = 0; i < process->zend.heap_count; i++) {
        const struct zend_heap_facts *heap = &process->zend.heaps[i];
        if (!has_counters(heap)) {
            continue;
        }
        add_heap(amounts, heap);
        sums->heaps++;
        sums->with_residency += has_residency(heap);
        amounts_add(&amounts->tracked, PART_ZEND_IN_USE, heap->used_bytes);
        sums->plus_minus_bytes =
            number_add(sums->plus_minus_bytes, heap->plus_minus_bytes);
        sums->stale = sums->stale || heap->state == FACT_STALE;
    }
}

void zend_layers_split(const struct process_facts *process, struct amounts *resident)
{
    const uint64_t chunks = resident->bytes[PART_ZEND_CHUNKS];
    uint64_t free_bytes = 0;
    uint64_t cached_bytes = 0;
    uint64_t chunk_bytes = 0;

    for (size_t i = 0; i < process->zend.heap_count; i++) {
        const struct zend_heap_facts *heap = &process->zend.heaps[i];
        if (has_counters(heap) && has_residency(heap)) {
            free_bytes = number_add(free_bytes, heap->free_resident_bytes);
            cached_bytes = number_add(cached_bytes, heap->cached_resident_bytes);
            chunk_bytes = number_add(chunk_bytes,
                number_subtract(heap->resident_bytes, heap->huge_resident_bytes));
        }
    }
    if (chunk_bytes == 0) {
        return;
    }
    /* Of a proportional share, the same proportion is free. */
    double share = chunks < chunk_bytes ? (double)chunks / (double)chunk_bytes : 1.0;
    amounts_add(resident, PART_ZEND_FREE_PAGES,
        amounts_take(resident, PART_ZEND_CHUNKS, amounts_share_of(free_bytes, share)));
    amounts_add(resident, PART_ZEND_CACHED,
        amounts_take(resident, PART_ZEND_CHUNKS, amounts_share_of(cached_bytes, share)));
}

int zend_layers_tracked(struct region *region, const struct process_facts *process,
    const struct amounts *tracked, const struct zend_sums *sums, struct layer *layer)
{
    const char *version = process->zend.version;

    int error = layer_from_amounts(region, tracked, sums->stale ? FACT_STALE : FACT_OK,
        version != NULL ? region_printf(region, "PHP %s: memory_get_usage() of %s",
                              version, quantity_count(sums->heaps, "heap").text)
                        : region_printf(region, "PHP: memory_get_usage() of %s",
                              quantity_count(sums->heaps, "heap").text),
        layer);
    layer->plus_minus_bytes = sums->plus_minus_bytes;
    return error;
}
