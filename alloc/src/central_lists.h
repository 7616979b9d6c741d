/*
 * The slabs of each class, on lists by how full they are: what central.c hands out of,
 * central_sweep.c gives pages back of, and central_figures.c shows and checks. Everything
 * is under the lock of the class unless something else is said.
 */
#ifndef STRATA_CENTRAL_LISTS_H
#define STRATA_CENTRAL_LISTS_H

#include <stddef.h>
#include <stdint.h>

#include "blockclass.h"
#include "class_slab.h"
#include "lock.h"
#include "mixed.h"

#define STRATA__PARTIAL_LISTS 8U
#define STRATA__FULL_LIST STRATA__PARTIAL_LISTS
#define STRATA__LISTS (STRATA__PARTIAL_LISTS + 1)

struct strata__slab_list {
    struct slab *head, *tail;
    size_t length;
};

struct strata__central {
    struct strata__lock lock;
    struct strata__slab_list lists[STRATA__LISTS];
    size_t slabs;
    size_t free_blocks;
    size_t touched_pages;
    size_t peak_out_blocks;
    size_t purged_bytes;
    size_t sampled_requests;
    size_t sampled_bytes;
    unsigned starts;  /* refills out of mixed units, before there was a slab */
    unsigned is_used; /* set by the first refill that gets something, for good */
    uint64_t random;  /* 0: blocks are taken in order */
};

extern struct strata__central strata__centrals[STRATA__BLOCK_CLASSES];

static inline size_t strata__slab_descriptor_bytes(
    const struct strata__block_class *class)
{
    return sizeof(struct slab) + strata__class_slab_words(class) * sizeof(uint64_t);
}

static inline size_t strata__out_blocks(unsigned class)
{
    const struct strata__central *central = &strata__centrals[class];
    return central->slabs * strata__block_classes[class].blocks - central->free_blocks +
           strata__mixed_out_blocks(class);
}

/* 0 is the fullest list that still has a free block. */
static inline unsigned strata__list_of(
    const struct strata__block_class *class, uint32_t free_blocks)
{
    return free_blocks == 0 ? STRATA__FULL_LIST
                            : (free_blocks - 1) * STRATA__PARTIAL_LISTS / class->blocks;
}

/* Under the lock; read without it. */
static inline void strata__list_count(struct strata__slab_list *list, size_t by)
{
    __atomic_store_n(&list->length, list->length + by, __ATOMIC_RELAXED);
}

static inline void strata__list_add(
    struct strata__central *central, struct slab *slab, unsigned number)
{
    struct strata__slab_list *list = &central->lists[number];
    slab->list = (uint8_t)number;
    slab->previous = NULL;
    slab->next = list->head;
    if (list->head != NULL) {
        list->head->previous = slab;
    } else {
        list->tail = slab;
    }
    list->head = slab;
    strata__list_count(list, 1);
}

static inline void strata__list_remove(struct strata__central *central, struct slab *slab)
{
    struct strata__slab_list *list = &central->lists[slab->list];
    if (slab->previous != NULL) {
        slab->previous->next = slab->next;
    } else {
        list->head = slab->next;
    }
    if (slab->next != NULL) {
        slab->next->previous = slab->previous;
    } else {
        list->tail = slab->previous;
    }
    strata__list_count(list, (size_t)-1);
}

static inline void strata__relist(struct strata__central *central, struct slab *slab)
{
    unsigned number =
        strata__list_of(&strata__block_classes[slab->class], slab->free_blocks);
    if (number != slab->list) {
        strata__list_remove(central, slab);
        strata__list_add(central, slab, number);
    }
}

#endif
