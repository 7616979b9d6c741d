/*
 * What the central lists say of themselves: to the region, to callers, and to those who
 * compare the figures with a recount of the bitmaps.
 */
#include "central_figures.h"

#include "central_lists.h"
#include "mixed_figures.h"
#include "os.h"
#include "pagesize.h"
#include "region.h"
#include "unitmap.h"

/* What never changes; the same whoever writes it. */
static void publish_rule(unsigned number)
{
    struct strata_layout_class *shown = &strata__shared.region.classes[number];
    __atomic_store_n(
        &shown->block_bytes, strata__block_classes[number].bytes, __ATOMIC_RELAXED);
    __atomic_store_n(
        &shown->slab_blocks, strata__block_classes[number].blocks, __ATOMIC_RELAXED);
}

/* Under the lock, when it has changed something. */
void strata__central_show(unsigned number)
{
    const struct strata__block_class *class = &strata__block_classes[number];
    const struct strata__central *central = &strata__centrals[number];
    struct strata_layout_class *shown = &strata__shared.region.classes[number];
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    publish_rule(number);
    strata__region_set(&shown->slabs, central->slabs);
    strata__region_set(&shown->free_blocks, central->free_blocks);
    strata__region_set(
        &shown->touched_bytes, central->touched_pages * STRATA__PAGE_BYTES);
    strata__region_set(&shown->peak_out_blocks, central->peak_out_blocks);
    strata__region_set(&shown->purged_bytes, central->purged_bytes);
    strata__region_set(&shown->sampled_requests,
        __atomic_load_n(&central->sampled_requests, __ATOMIC_RELAXED));
    strata__region_set(&shown->sampled_bytes,
        __atomic_load_n(&central->sampled_bytes, __ATOMIC_RELAXED));
    strata__region_set(
        &shown->descriptor_bytes, central->slabs * strata__slab_descriptor_bytes(class));
    strata__region_end(&shown->sequence);
}

/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static void add_lossy(size_t *counter, size_t by)
{
    __atomic_store_n(
        counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + by, __ATOMIC_RELAXED);
}

void strata__central_sample(unsigned class, size_t bytes)
{
    add_lossy(&strata__centrals[class].sampled_requests, 1);
    add_lossy(&strata__centrals[class].sampled_bytes, bytes);
}

/* A class that nobody has used is not locked, since that alone would make its page
 * resident; whoever uses it first publishes it. */
void strata__central_publish(unsigned class)
{
    if (__atomic_load_n(&strata__centrals[class].is_used, __ATOMIC_RELAXED) == 0) {
        publish_rule(class);
        return;
    }
    strata__lock_take(&strata__centrals[class].lock);
    strata__central_show(class);
    strata__lock_drop(&strata__centrals[class].lock);
}

void strata__central_reset_peak(unsigned class)
{
    strata__lock_take(&strata__centrals[class].lock);
    strata__centrals[class].peak_out_blocks = strata__out_blocks(class);
    strata__central_show(class);
    strata__lock_drop(&strata__centrals[class].lock);
}

void strata__central_get_stats(unsigned class_number, struct strata__class_stats *stats)
{
    const struct strata__block_class *class = &strata__block_classes[class_number];
    struct strata__central *central = &strata__centrals[class_number];
    strata__lock_take(&central->lock);
    *stats = (struct strata__class_stats){
        .slabs = central->slabs,
        .out_blocks = strata__out_blocks(class_number),
        .free_blocks = central->free_blocks,
        .touched_bytes = central->touched_pages * STRATA__PAGE_BYTES,
        .metadata_bytes = central->slabs * strata__slab_descriptor_bytes(class),
        .peak_out_blocks = central->peak_out_blocks,
        .purged_bytes = central->purged_bytes,
        .sampled_requests = __atomic_load_n(&central->sampled_requests, __ATOMIC_RELAXED),
        .sampled_bytes = __atomic_load_n(&central->sampled_bytes, __ATOMIC_RELAXED),
    };
    strata__lock_drop(&central->lock);
}

static void check_slab(
    const struct slab *slab, unsigned class_number, unsigned list_number)
{
    const struct strata__block_class *class = &strata__block_classes[class_number];
    size_t free = 0;
    for (size_t i = 0; i < strata__class_slab_words(class); i++) {
        free += (size_t)__builtin_popcountll(slab->free_bits[i]);
        STRATA__BUG_IF(i < slab->first_word && slab->free_bits[i] != 0);
    }
    STRATA__BUG_IF(free != slab->free_blocks || slab->class != class_number);
    STRATA__BUG_IF(
        slab->list != list_number || strata__list_of(class, free) != list_number);
    STRATA__BUG_IF(
        strata__unitmap_get(slab->start) != strata__entry(class_number + 1, slab));
    STRATA__BUG_IF((slab->idle & ~slab->touched) != 0);
}

static void check_class(unsigned class)
{
    struct strata__central *central = &strata__centrals[class];
    size_t slabs = 0;
    size_t free_blocks = 0;
    size_t pages = 0;
    strata__lock_take(&central->lock);
    for (unsigned i = 0; i < STRATA__LISTS; i++) {
        for (const struct slab *slab = central->lists[i].head; slab != NULL;
             slab = slab->next) {
            check_slab(slab, class, i);
            slabs++;
            free_blocks += slab->free_blocks;
            pages += (size_t)__builtin_popcount(slab->touched);
        }
    }
    STRATA__BUG_IF(slabs != central->slabs || free_blocks != central->free_blocks);
    STRATA__BUG_IF(pages != central->touched_pages);
    strata__lock_drop(&central->lock);
}

void strata__central_check(void)
{
    for (unsigned class = 0; class < STRATA__BLOCK_CLASSES; class ++) {
        check_class(class);
    }
    strata__mixed_check();
}
