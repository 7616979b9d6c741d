/*
 * A slab is one unit of blocks of one class. It owns a bit for each free block, the pages
 * that may be resident (touched) and those that were free when the last sweep looked
 * (idle). Its descriptor and bits lie in metadata memory, so a free block is never read
 * or written here, and a page whose blocks are all free can go back to the kernel without
 * anybody noticing but its next owner, who finds zeroes.
 *
 * A class keeps its slabs on lists by how full they are, and refills from the fullest:
 * sparse slabs get the time to become empty. Within a slab the lowest free block goes
 * first, so the pages of a new slab are touched one after another.
 *
 * One lock for each class; a thread holds at most one of them. Under it the unit heap may
 * be called (refill) and pages be purged (sweep, a few slabs at a time). A slab that has
 * become empty goes back to the unit heap after the lock is dropped.
 *
 * "out" is slabs * blocks - free: no counter that could be wrong.
 */
#include "central.h"

#include <string.h>

#include "class_slab.h"
#include "limit.h"
#include "lock.h"
#include "metadata.h"
#include "mixed.h"
#include "os.h"
#include "region.h"
#include "unitmap.h"
#include "units.h"

#define PAGE_BYTES ((size_t)4096)
#define WORD_BITS 64U
#define PARTIAL_LISTS 8U
#define SPARSE_LISTS 4U /* of those: half of the blocks or more are free */
#define LOOKS 4U
/* A class begins in mixed units, with a few blocks each time: most classes of most programs
 * never need 64 KiB of their own. */
#define STARTS 3U
#define START_BLOCKS ((size_t)4)
/* Below it there is little to win. */
#define RECYCLE_LEAST_BYTES ((size_t)4 << 20)
#define FULL_LIST PARTIAL_LISTS
#define LISTS (PARTIAL_LISTS + 1)
#define SWEEP_SLABS 16U
#define HEAP_NAME "malloc"
#define ALL_PAGES 0xffffU

_Static_assert(sizeof(struct strata__span) <= STRATA__METADATA_LEAST,
    "the descriptor of an empty slab becomes one of a span");

struct list {
    struct slab *head, *tail;
    size_t length;
};

static struct central {
    struct strata__lock lock;
    struct list lists[LISTS];
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
} centrals[STRATA__BLOCK_CLASSES];

static size_t descriptor_bytes(const struct strata__block_class *class)
{
    return sizeof(struct slab) + strata__class_slab_words(class) * sizeof(uint64_t);
}

static size_t out_blocks(unsigned class)
{
    const struct central *central = &centrals[class];
    return central->slabs * strata__block_classes[class].blocks - central->free_blocks +
           strata__mixed_out_blocks(class);
}

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
static void publish(unsigned number)
{
    const struct strata__block_class *class = &strata__block_classes[number];
    const struct central *central = &centrals[number];
    struct strata_layout_class *shown = &strata__shared.region.classes[number];
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    publish_rule(number);
    strata__region_set(&shown->slabs, central->slabs);
    strata__region_set(&shown->free_blocks, central->free_blocks);
    strata__region_set(&shown->touched_bytes, central->touched_pages * PAGE_BYTES);
    strata__region_set(&shown->peak_out_blocks, central->peak_out_blocks);
    strata__region_set(&shown->purged_bytes, central->purged_bytes);
    strata__region_set(&shown->sampled_requests,
        __atomic_load_n(&central->sampled_requests, __ATOMIC_RELAXED));
    strata__region_set(&shown->sampled_bytes,
        __atomic_load_n(&central->sampled_bytes, __ATOMIC_RELAXED));
    strata__region_set(
        &shown->descriptor_bytes, central->slabs * descriptor_bytes(class));
    strata__region_end(&shown->sequence);
}

/* 0 is the fullest list that still has a free block. */
static unsigned list_of(const struct strata__block_class *class, uint32_t free_blocks)
{
    return free_blocks == 0 ? FULL_LIST
                            : (free_blocks - 1) * PARTIAL_LISTS / class->blocks;
}

/* Under the lock; read without it. */
static void list_count(struct list *list, size_t by)
{
    __atomic_store_n(&list->length, list->length + by, __ATOMIC_RELAXED);
}

static void list_add(struct central *central, struct slab *slab, unsigned number)
{
    struct list *list = &central->lists[number];
    slab->list = (uint8_t)number;
    slab->previous = NULL;
    slab->next = list->head;
    if (list->head != NULL) {
        list->head->previous = slab;
    } else {
        list->tail = slab;
    }
    list->head = slab;
    list_count(list, 1);
}

static void list_remove(struct central *central, struct slab *slab)
{
    struct list *list = &central->lists[slab->list];
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
    list_count(list, (size_t)-1);
}

static void relist(struct central *central, struct slab *slab)
{
    unsigned number = list_of(&strata__block_classes[slab->class], slab->free_blocks);
    if (number != slab->list) {
        list_remove(central, slab);
        list_add(central, slab, number);
    }
}

/* In the stronger mode free memory holds the pattern or zeroes, so what others have left
 * in a unit goes. */
static void clean_unit(char *start)
{
    uint16_t *touched = strata__unitmap_touched(start);
    if (*touched != 0 && strata__os->purge(start, STRATA__UNIT_BYTES) == 0) {
        strata__limit_return((size_t)__builtin_popcount(*touched) * PAGE_BYTES);
        *touched = 0;
    } else if (*touched != 0) {
        memset(start, 0, STRATA__UNIT_BYTES);
        strata__limit_return((size_t)__builtin_popcount(*touched) * PAGE_BYTES);
        (void)strata__limit_buy(STRATA__UNIT_BYTES);
        *touched = ALL_PAGES;
    }
}

static struct slab *slab_new(struct central *central, unsigned class_number)
{
    const struct strata__block_class *class = &strata__block_classes[class_number];
    struct slab *slab = strata__metadata_take(descriptor_bytes(class));
    if (slab == NULL) {
        return NULL;
    }
    char *start = strata__units_take(1, 1);
    if (start == NULL) {
        strata__metadata_give(slab, descriptor_bytes(class));
        return NULL;
    }
    if (central->random != 0) {
        clean_unit(start);
    }
    *slab = (struct slab){.start = start,
        .free_blocks = class->blocks,
        .touched = *strata__unitmap_touched(start),
        .class = (uint8_t)class_number};
    size_t words = strata__class_slab_words(class);
    for (size_t i = 0; i < words; i++) {
        slab->free_bits[i] = UINT64_MAX;
    }
    if (class->blocks % WORD_BITS != 0) {
        slab->free_bits[words - 1] = (UINT64_C(1) << class->blocks % WORD_BITS) - 1;
    }
    central->slabs++;
    central->free_blocks += class->blocks;
    central->touched_pages += (size_t)__builtin_popcount(slab->touched);
    list_add(central, slab, list_of(class, class->blocks));
    strata__unitmap_set(start, strata__entry(class_number + 1, slab));
    return slab;
}

/* The slab is on no list any more and nobody has a block of it. */
static void slab_delete(struct slab *slab)
{
    char *start = slab->start;
    *strata__unitmap_touched(start) = slab->touched;
    struct strata__span *span = strata__metadata_exchange(
        slab, descriptor_bytes(&strata__block_classes[slab->class]), sizeof(*span));
    strata__units_give(span, start, 1);
}

/* As slab_take, but the pages that are touched for it are bought. If the limit forbids so
 * many, it is tried with one block. */
static size_t slab_buy(struct slab *slab, void **blocks, size_t wanted)
{
    const struct slab before = *slab;
    uint64_t *random = &centrals[slab->class].random;
    size_t taken = *random != 0 ? strata__class_slab_take_random(random, slab, blocks)
                                : strata__class_slab_take(slab, blocks, wanted);
    int pages = __builtin_popcount(slab->touched) - __builtin_popcount(before.touched);
    if (strata__limit_buy((size_t)pages * PAGE_BYTES) == 0) {
        return taken;
    }
    for (size_t i = 0; i < taken; i++) {
        strata__class_slab_give(slab, blocks[i]);
    }
    slab->touched = before.touched;
    slab->idle = before.idle;
    return wanted > 1 ? slab_buy(slab, blocks, 1) : 0;
}

static void *find_bought(struct central *central)
{
    for (unsigned i = 0; i < PARTIAL_LISTS; i++) {
        for (struct slab *slab = central->lists[i].head; slab != NULL;
             slab = slab->next) {
            void *block = strata__class_slab_take_bought(slab);
            if (block != NULL) {
                central->free_blocks--;
                relist(central, slab);
                return block;
            }
        }
    }
    return NULL;
}

static struct slab *fullest(const struct central *central)
{
    for (unsigned i = 0; i < PARTIAL_LISTS; i++) {
        if (central->lists[i].head != NULL) {
            return central->lists[i].head;
        }
    }
    return NULL;
}

/* Under the lock. */
static void note_peak(unsigned class)
{
    struct central *central = &centrals[class];
    size_t out = out_blocks(class);
    __atomic_store_n(&central->is_used, 1, __ATOMIC_RELAXED);
    central->peak_out_blocks =
        out > central->peak_out_blocks ? out : central->peak_out_blocks;
    publish(class);
}

static size_t refill_from_slabs(
    unsigned class, void **blocks, size_t wanted, int may_grow)
{
    struct central *central = &centrals[class];
    size_t got = 0;
    strata__lock_take(&central->lock);
    while (got < wanted) {
        struct slab *slab = fullest(central);
        /* A new slab is bought for the first block only, not to fill up a batch. */
        if (slab == NULL &&
            (got > 0 || !may_grow || (slab = slab_new(central, class)) == NULL)) {
            break;
        }
        int before = __builtin_popcount(slab->touched);
        size_t taken = slab_buy(slab, blocks + got, wanted - got);
        if (taken == 0) {
            break;
        }
        central->touched_pages += (size_t)(__builtin_popcount(slab->touched) - before);
        central->free_blocks -= taken;
        got += taken;
        relist(central, slab);
    }
    if (got == 0 && (blocks[0] = find_bought(central)) != NULL) {
        got = 1;
    }
    note_peak(class);
    strata__lock_drop(&central->lock);
    return got;
}

/* Makes a mixed unit of a slab of these lists, or returns 0. */
static int recycle_of(unsigned class, unsigned list)
{
    struct central *central = &centrals[class];
    int done = 0;
    strata__lock_take(&central->lock);
    struct slab *slab = central->lists[list].head;
    for (unsigned i = 0; i < LOOKS && slab != NULL && !slab->was_full; i++) {
        slab = slab->next;
    }
    if (slab != NULL && slab->was_full &&
        strata__mixed_adopt(class, slab->start, slab->free_bits, slab->touched) == 0) {
        list_remove(central, slab);
        central->slabs--;
        central->free_blocks -= slab->free_blocks;
        central->touched_pages -= (size_t)__builtin_popcount(slab->touched);
        done = 1;
        publish(class);
    }
    strata__lock_drop(&central->lock);
    if (done) {
        strata__metadata_give(slab, descriptor_bytes(&strata__block_classes[class]));
    }
    return done;
}

/* Before the kernel is asked for memory: the sparsest slab of any class, if one is sparse,
 * becomes a mixed unit, so that all classes can use what this one has left. */
static int recycle(void)
{
    if (strata__units_used_bytes() < RECYCLE_LEAST_BYTES ||
        strata__units_dirty_bytes() >= STRATA__UNIT_BYTES) {
        return 0;
    }
    for (unsigned list = PARTIAL_LISTS; list > PARTIAL_LISTS - SPARSE_LISTS; list--) {
        for (unsigned class = STRATA__SLAB_CLASSES; class < STRATA__BLOCK_CLASSES;
             class ++) {
            size_t *length = &centrals[class].lists[list - 1].length;
            if (__atomic_load_n(length, __ATOMIC_RELAXED) > 0 &&
                recycle_of(class, list - 1)) {
                return 1;
            }
        }
    }
    return 0;
}

static size_t refill_from_mixed(
    unsigned class, void **blocks, size_t wanted, int may_grow)
{
    size_t got = strata__mixed_refill(class, blocks, wanted, 1, may_grow);
    if (got > 0) {
        strata__lock_take(&centrals[class].lock);
        note_peak(class);
        strata__lock_drop(&centrals[class].lock);
    }
    return got;
}

size_t strata__central_refill(unsigned class, void **blocks, size_t wanted)
{
    if (class < STRATA__SLAB_CLASSES || centrals[class].random != 0) {
        return refill_from_slabs(class, blocks, wanted, 1);
    }
    unsigned starts = __atomic_load_n(&centrals[class].starts, __ATOMIC_RELAXED);
    if (starts < STARTS) {
        size_t some = START_BLOCKS << starts;
        __atomic_store_n(&centrals[class].starts, starts + 1, __ATOMIC_RELAXED);
        size_t got = refill_from_mixed(class, blocks, some < wanted ? some : wanted, 1);
        if (got > 0) {
            return got;
        }
    }
    size_t got = refill_from_slabs(class, blocks, wanted, 0);
    if (got == 0 && strata__mixed_adopted() > 0) {
        got = refill_from_mixed(class, blocks, wanted, 0);
    }
    while (got == 0 && recycle()) {
        got = refill_from_mixed(class, blocks, wanted, 0);
    }
    if (got == 0) {
        got = refill_from_slabs(class, blocks, wanted, 1);
    }
    /* The limit may forbid new pages, and a mixed unit have room on old ones. */
    return got > 0 ? got : refill_from_mixed(class, blocks, 1, 0);
}

size_t strata__central_take_aligned(unsigned class, void **block, size_t alignment)
{
    size_t got = strata__mixed_refill(class, block, 1, alignment, 1);
    strata__lock_take(&centrals[class].lock);
    note_peak(class);
    strata__lock_drop(&centrals[class].lock);
    return got;
}

/* NULL: in a mixed unit. */
static struct slab *slab_at(unsigned class, const void *address)
{
    uint64_t entry = strata__unitmap_get(address);
    if (strata__entry_kind(entry) == STRATA__KIND_MIXED) {
        return NULL;
    }
    if (strata__entry_kind(entry) != class + 1) {
        strata__fatal(HEAP_NAME, "not an allocated block", address);
    }
    return strata__entry_pointer(entry);
}

/* Gives the blocks from the first on that lie in one slab; returns how many. */
static size_t give_run(
    unsigned class, struct slab *slab, void *const *blocks, size_t count)
{
    size_t given = 0;
    while (given < count && (uintptr_t)blocks[given] >> STRATA__UNIT_BITS ==
                                (uintptr_t)slab->start >> STRATA__UNIT_BITS) {
        strata__class_slab_give(slab, blocks[given]);
        given++;
    }
    centrals[class].free_blocks += given;
    return given;
}

/* Takes an empty slab off the books. */
static void retire(struct central *central, struct slab *slab)
{
    list_remove(central, slab);
    strata__unitmap_set(slab->start, strata__entry(STRATA__KIND_UNUSED, NULL));
    central->slabs--;
    central->free_blocks -= slab->free_blocks;
    central->touched_pages -= (size_t)__builtin_popcount(slab->touched);
}

/* Returns the slabs that have become empty, a list by `next`. Blocks in mixed units are
 * left over: under the class's lock no slab of it can become one. */
static struct slab *give_all(
    unsigned class, void *const *blocks, size_t count, void **left, size_t *left_count)
{
    struct central *central = &centrals[class];
    struct slab *empty = NULL;
    strata__lock_take(&central->lock);
    for (size_t i = 0; i < count;) {
        struct slab *slab = slab_at(class, blocks[i]);
        if (slab == NULL) {
            left[(*left_count)++] = blocks[i++];
            continue;
        }
        i += give_run(class, slab, blocks + i, count - i);
        if (slab->free_blocks < strata__block_classes[class].blocks) {
            relist(central, slab);
        } else {
            retire(central, slab);
            slab->next = empty;
            empty = slab;
        }
    }
    publish(class);
    strata__lock_drop(&central->lock);
    return empty;
}

void strata__central_flush(unsigned class, void *const *blocks, size_t count)
{
    void *left[STRATA__BLOCK_BATCH_MAX + 1];
    size_t left_count = 0;
    struct slab *empty = NULL;
    empty = give_all(class, blocks, count, left, &left_count);
    if (left_count > 0) {
        strata__mixed_flush(class, left, left_count);
    }
    while (empty != NULL) {
        struct slab *next = empty->next;
        slab_delete(empty);
        empty = next;
    }
}

void strata__central_verify(unsigned class, const void *address)
{
    struct central *central = &centrals[class];
    strata__lock_take(&central->lock);
    const struct slab *slab = slab_at(class, address);
    uint64_t bit = 0;
    if (slab != NULL) {
        unsigned index = strata__class_slab_index(slab, address);
        bit = slab->free_bits[index / WORD_BITS] >> index % WORD_BITS & 1;
    }
    strata__lock_drop(&central->lock);
    if (bit != 0) {
        strata__fatal(HEAP_NAME, "not an allocated block", address);
    }
}

static size_t sweep_slab(struct central *central, struct slab *slab, int now)
{
    uint16_t free = strata__class_slab_free_pages(slab);
    uint16_t purged =
        strata__units_purge_pages(slab->start, now ? free : free & (unsigned)slab->idle);
    slab->touched &= (uint16_t)~purged;
    slab->idle = free & (uint16_t)~purged;
    size_t pages = (size_t)__builtin_popcount(purged);
    central->touched_pages -= pages;
    central->purged_bytes += pages * PAGE_BYTES;
    strata__limit_return(pages * PAGE_BYTES);
    return pages * PAGE_BYTES;
}

/* Slabs that were looked at go to the tail of their list, so that the lock can be dropped
 * in between. Full slabs have no free page but those behind their last block. */
static size_t sweep_list(unsigned class, unsigned number, int now)
{
    size_t purged = 0;
    struct central *central = &centrals[class];
    struct list *list = &central->lists[number];
    if (__atomic_load_n(&list->length, __ATOMIC_RELAXED) == 0) {
        return 0;
    }
    strata__lock_take(&central->lock);
    size_t left = list->length;
    for (size_t done = 1; left > 0 && list->head != NULL; left--, done++) {
        struct slab *slab = list->head;
        purged += sweep_slab(central, slab, now);
        if (slab != list->tail) {
            list_remove(central, slab);
            slab->next = NULL;
            slab->previous = list->tail;
            list->tail->next = slab;
            list->tail = slab;
            list_count(list, 1);
        }
        if (done % SWEEP_SLABS == 0) {
            publish(class);
            strata__lock_drop(&central->lock);
            strata__lock_take(&central->lock);
        }
    }
    if (purged > 0) {
        publish(class);
    }
    strata__lock_drop(&central->lock);
    return purged;
}

size_t strata__central_sweep(int now)
{
    size_t purged = 0;
    for (unsigned class = 0; class < STRATA__BLOCK_CLASSES; class ++) {
        for (unsigned i = 0; i < PARTIAL_LISTS; i++) {
            purged += sweep_list(class, i, now);
        }
    }
    return purged + strata__mixed_sweep(now);
}

/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static void add_lossy(size_t *counter, size_t by)
{
    __atomic_store_n(
        counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + by, __ATOMIC_RELAXED);
}

void strata__central_sample(unsigned class, size_t bytes)
{
    add_lossy(&centrals[class].sampled_requests, 1);
    add_lossy(&centrals[class].sampled_bytes, bytes);
}

void strata__central_harden(unsigned class)
{
    struct central *central = &centrals[class];
    strata__lock_take(&central->lock);
    central->random = strata__os->secret() | 1;
    for (unsigned i = 0; i < PARTIAL_LISTS; i++) {
        for (struct slab *slab = central->lists[i].head; slab != NULL;
             slab = slab->next) {
            strata__class_slab_clear(slab);
        }
    }
    strata__lock_drop(&central->lock);
}

/* A class that nobody has used is not locked, since that alone would make its page
 * resident; whoever uses it first publishes it. */
void strata__central_publish(unsigned class)
{
    if (__atomic_load_n(&centrals[class].is_used, __ATOMIC_RELAXED) == 0) {
        publish_rule(class);
        return;
    }
    strata__lock_take(&centrals[class].lock);
    publish(class);
    strata__lock_drop(&centrals[class].lock);
}

void strata__central_reset_peak(unsigned class)
{
    strata__lock_take(&centrals[class].lock);
    centrals[class].peak_out_blocks = out_blocks(class);
    publish(class);
    strata__lock_drop(&centrals[class].lock);
}

void strata__central_get_stats(unsigned class_number, struct strata__class_stats *stats)
{
    const struct strata__block_class *class = &strata__block_classes[class_number];
    struct central *central = &centrals[class_number];
    strata__lock_take(&central->lock);
    *stats = (struct strata__class_stats){
        .slabs = central->slabs,
        .out_blocks = out_blocks(class_number),
        .free_blocks = central->free_blocks,
        .touched_bytes = central->touched_pages * PAGE_BYTES,
        .metadata_bytes = central->slabs * descriptor_bytes(class),
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
    STRATA__BUG_IF(slab->list != list_number || list_of(class, free) != list_number);
    STRATA__BUG_IF(
        strata__unitmap_get(slab->start) != strata__entry(class_number + 1, slab));
    STRATA__BUG_IF((slab->idle & ~slab->touched) != 0);
}

static void check_class(unsigned class)
{
    struct central *central = &centrals[class];
    size_t slabs = 0;
    size_t free_blocks = 0;
    size_t pages = 0;
    strata__lock_take(&central->lock);
    for (unsigned i = 0; i < LISTS; i++) {
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

void strata__central_lock(void)
{
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        strata__lock_take(&centrals[i].lock);
    }
    strata__mixed_lock();
}

void strata__central_unlock(void)
{
    strata__mixed_unlock();
    for (unsigned i = STRATA__BLOCK_CLASSES; i > 0; i--) {
        strata__lock_drop(&centrals[i - 1].lock);
    }
}

void strata__central_reset_locks(void)
{
    strata__mixed_reset_lock();
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        strata__lock_reset(&centrals[i].lock);
    }
}
