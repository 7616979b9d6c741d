/*
 * Giving back the pages of slabs that live on: those on which every block is free, and was
 * when the last sweep looked.
 */
#include "central_sweep.h"

#include "central_figures.h"
#include "central_lists.h"
#include "limit.h"
#include "pagesize.h"
#include "units.h"

#define SWEEP_SLABS 16U

static size_t sweep_slab(struct strata__central *central, struct slab *slab, int now)
{
    uint16_t free = strata__class_slab_free_pages(slab);
    uint16_t purged =
        strata__units_purge_pages(slab->start, now ? free : free & (unsigned)slab->idle);
    slab->touched &= (uint16_t)~purged;
    slab->idle = free & (uint16_t)~purged;
    size_t pages = (size_t)__builtin_popcount(purged);
    central->touched_pages -= pages;
    central->purged_bytes += pages * STRATA__PAGE_BYTES;
    strata__limit_return(pages * STRATA__PAGE_BYTES);
    return pages * STRATA__PAGE_BYTES;
}

/* Slabs that were looked at go to the tail of their list, so that the lock can be dropped
 * in between. */
static size_t sweep_list(unsigned class, unsigned number, int now)
{
    size_t purged = 0;
    struct strata__central *central = &strata__centrals[class];
    struct strata__slab_list *list = &central->lists[number];
    if (__atomic_load_n(&list->length, __ATOMIC_RELAXED) == 0) {
        return 0;
    }
    strata__lock_take(&central->lock);
    size_t left = list->length;
    for (size_t done = 1; left > 0 && list->head != NULL; left--, done++) {
        struct slab *slab = list->head;
        purged += sweep_slab(central, slab, now);
        if (slab != list->tail) {
            strata__list_remove(central, slab);
            slab->next = NULL;
            slab->previous = list->tail;
            list->tail->next = slab;
            list->tail = slab;
            strata__list_count(list, 1);
        }
        if (done % SWEEP_SLABS == 0) {
            strata__central_show(class);
            strata__lock_drop(&central->lock);
            strata__lock_take(&central->lock);
        }
    }
    if (purged > 0) {
        strata__central_show(class);
    }
    strata__lock_drop(&central->lock);
    return purged;
}

/* Whole pages behind the last block of each slab, which may be resident from a former use. */
static int has_tail(unsigned class)
{
    const struct strata__block_class *rule = &strata__block_classes[class];
    return STRATA__UNIT_BYTES - rule->blocks * rule->bytes >= STRATA__PAGE_BYTES;
}

size_t strata__central_sweep(int now)
{
    size_t purged = 0;
    for (unsigned class = 0; class < STRATA__BLOCK_CLASSES; class ++) {
        unsigned lists = has_tail(class) ? STRATA__LISTS : STRATA__PARTIAL_LISTS;
        for (unsigned i = 0; i < lists; i++) {
            purged += sweep_list(class, i, now);
        }
    }
    return purged + strata__mixed_sweep(now);
}
