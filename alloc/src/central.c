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
 * become empty goes back to the unit heap under it as well: fork takes all locks, and a child
 * loses no unit that is in nobody's books.
 *
 * "out" is slabs * blocks - free: no counter that could be wrong.
 */
#include "central.h"

#include <string.h>

#include "central_figures.h"
#include "central_lists.h"
#include "class_slab.h"
#include "limit.h"
#include "lock.h"
#include "metadata.h"
#include "mixed.h"
#include "os.h"
#include "pagesize.h"
#include "unitmap.h"
#include "units.h"

#define WORD_BITS 64U
#define SPARSE_LISTS 4U /* of those: half of the blocks or more are free */
#define LOOKS 4U
/* A class begins in mixed units, with a few blocks each time: most classes of most programs
 * never need 64 KiB of their own. */
#define STARTS 3U
#define START_BLOCKS ((size_t)4)
/* Below it there is little to win. */
#define RECYCLE_LEAST_BYTES ((size_t)4 << 20)
#define HEAP_NAME "malloc"

_Static_assert(sizeof(struct strata__span) <= STRATA__METADATA_LEAST,
    "the descriptor of an empty slab becomes one of a span");

/* In the stronger mode free memory holds the pattern or zeroes, so what others have left
 * in a unit goes. */
static void clean_unit(char *start)
{
    uint16_t *touched = strata__unitmap_touched(start);
    if (*touched != 0 && strata__os->purge(start, STRATA__UNIT_BYTES) == 0) {
        strata__limit_return((size_t)__builtin_popcount(*touched) * STRATA__PAGE_BYTES);
        *touched = 0;
    } else if (*touched != 0) {
        memset(start, 0, STRATA__UNIT_BYTES);
        strata__limit_return((size_t)__builtin_popcount(*touched) * STRATA__PAGE_BYTES);
        (void)strata__limit_buy(STRATA__UNIT_BYTES);
        *touched = STRATA__UNIT_PAGES_MASK;
    }
}

static struct slab *slab_new(struct strata__central *central, unsigned class_number)
{
    const struct strata__block_class *class = &strata__block_classes[class_number];
    struct slab *slab = strata__metadata_take(strata__slab_descriptor_bytes(class));
    if (slab == NULL) {
        return NULL;
    }
    char *start = strata__units_take(1, 1);
    if (start == NULL) {
        strata__metadata_give(slab, strata__slab_descriptor_bytes(class));
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
    strata__list_add(central, slab, strata__list_of(class, class->blocks));
    strata__unitmap_set(start, strata__entry(class_number + 1, slab));
    return slab;
}

/* The slab is on no list any more and nobody has a block of it. */
static void slab_delete(struct slab *slab)
{
    char *start = slab->start;
    *strata__unitmap_touched(start) = slab->touched;
    struct strata__span *span = strata__metadata_exchange(slab,
        strata__slab_descriptor_bytes(&strata__block_classes[slab->class]),
        sizeof(*span));
    strata__units_give(span, start, 1);
}

/* As slab_take, but the pages that are touched for it are bought. If the limit forbids so
 * many, it is tried with one block. */
static size_t slab_buy(struct slab *slab, void **blocks, size_t wanted)
{
    const struct slab before = *slab;
    uint64_t *random = &strata__centrals[slab->class].random;
    size_t taken = *random != 0 ? strata__class_slab_take_random(random, slab, blocks)
                                : strata__class_slab_take(slab, blocks, wanted);
    int pages = __builtin_popcount(slab->touched) - __builtin_popcount(before.touched);
    if (strata__limit_buy((size_t)pages * STRATA__PAGE_BYTES) == 0) {
        return taken;
    }
    for (size_t i = 0; i < taken; i++) {
        strata__class_slab_give(slab, blocks[i]);
    }
    slab->touched = before.touched;
    slab->idle = before.idle;
    return wanted > 1 ? slab_buy(slab, blocks, 1) : 0;
}

static void *find_bought(struct strata__central *central)
{
    for (unsigned i = 0; i < STRATA__PARTIAL_LISTS; i++) {
        for (struct slab *slab = central->lists[i].head; slab != NULL;
             slab = slab->next) {
            void *block = strata__class_slab_take_bought(slab);
            if (block != NULL) {
                central->free_blocks--;
                strata__relist(central, slab);
                return block;
            }
        }
    }
    return NULL;
}

static struct slab *fullest(const struct strata__central *central)
{
    for (unsigned i = 0; i < STRATA__PARTIAL_LISTS; i++) {
        if (central->lists[i].head != NULL) {
            return central->lists[i].head;
        }
    }
    return NULL;
}

/* Under the lock. */
static void note_peak(unsigned class)
{
    struct strata__central *central = &strata__centrals[class];
    size_t out = strata__out_blocks(class);
    __atomic_store_n(&central->is_used, 1, __ATOMIC_RELAXED);
    central->peak_out_blocks =
        out > central->peak_out_blocks ? out : central->peak_out_blocks;
    strata__central_show(class);
}

static size_t refill_from_slabs(
    unsigned class, void **blocks, size_t wanted, int may_grow)
{
    struct strata__central *central = &strata__centrals[class];
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
        strata__relist(central, slab);
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
    struct strata__central *central = &strata__centrals[class];
    int done = 0;
    strata__lock_take(&central->lock);
    struct slab *slab = central->lists[list].head;
    for (unsigned i = 0; i < LOOKS && slab != NULL && !slab->was_full; i++) {
        slab = slab->next;
    }
    if (slab != NULL && slab->was_full &&
        strata__mixed_adopt(class, slab->start, slab->free_bits, slab->touched) == 0) {
        strata__list_remove(central, slab);
        central->slabs--;
        central->free_blocks -= slab->free_blocks;
        central->touched_pages -= (size_t)__builtin_popcount(slab->touched);
        done = 1;
        strata__central_show(class);
    }
    strata__lock_drop(&central->lock);
    if (done) {
        strata__metadata_give(
            slab, strata__slab_descriptor_bytes(&strata__block_classes[class]));
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
    for (unsigned list = STRATA__PARTIAL_LISTS;
         list > STRATA__PARTIAL_LISTS - SPARSE_LISTS; list--) {
        for (unsigned class = STRATA__SLAB_CLASSES; class < STRATA__WIDE_CLASS;
             class ++) {
            size_t *length = &strata__centrals[class].lists[list - 1].length;
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
        strata__lock_take(&strata__centrals[class].lock);
        note_peak(class);
        strata__lock_drop(&strata__centrals[class].lock);
    }
    return got;
}

size_t strata__central_refill(unsigned class, void **blocks, size_t wanted)
{
    if (class < STRATA__SLAB_CLASSES || class >= STRATA__WIDE_CLASS ||
        strata__centrals[class].random != 0) {
        return refill_from_slabs(class, blocks, wanted, 1);
    }
    unsigned starts = __atomic_load_n(&strata__centrals[class].starts, __ATOMIC_RELAXED);
    if (starts < STARTS) {
        size_t some = START_BLOCKS << starts;
        __atomic_store_n(&strata__centrals[class].starts, starts + 1, __ATOMIC_RELAXED);
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
    strata__lock_take(&strata__centrals[class].lock);
    note_peak(class);
    strata__lock_drop(&strata__centrals[class].lock);
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
    strata__centrals[class].free_blocks += given;
    return given;
}

/* Takes an empty slab off the books. */
static void retire(struct strata__central *central, struct slab *slab)
{
    strata__list_remove(central, slab);
    strata__unitmap_set(slab->start, strata__entry(STRATA__KIND_UNUSED, NULL));
    central->slabs--;
    central->free_blocks -= slab->free_blocks;
    central->touched_pages -= (size_t)__builtin_popcount(slab->touched);
}

/* Blocks in mixed units are left over: under the class's lock no slab of it can become one. */
static void give_all(
    unsigned class, void *const *blocks, size_t count, void **left, size_t *left_count)
{
    struct strata__central *central = &strata__centrals[class];
    strata__lock_take(&central->lock);
    for (size_t i = 0; i < count;) {
        struct slab *slab = slab_at(class, blocks[i]);
        if (slab == NULL) {
            left[(*left_count)++] = blocks[i++];
            continue;
        }
        i += give_run(class, slab, blocks + i, count - i);
        if (slab->free_blocks < strata__block_classes[class].blocks) {
            strata__relist(central, slab);
        } else {
            retire(central, slab);
            slab_delete(slab);
        }
    }
    strata__central_show(class);
    strata__lock_drop(&central->lock);
}

void strata__central_flush(unsigned class, void *const *blocks, size_t count)
{
    void *left[STRATA__BLOCK_BATCH_MAX + 1];
    size_t left_count = 0;
    give_all(class, blocks, count, left, &left_count);
    if (left_count > 0) {
        strata__mixed_flush(class, left, left_count);
    }
}

void strata__central_verify(unsigned class, const void *address)
{
    struct strata__central *central = &strata__centrals[class];
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

void strata__central_harden(unsigned class)
{
    struct strata__central *central = &strata__centrals[class];
    strata__lock_take(&central->lock);
    central->random = strata__os->secret() | 1;
    for (unsigned i = 0; i < STRATA__PARTIAL_LISTS; i++) {
        for (struct slab *slab = central->lists[i].head; slab != NULL;
             slab = slab->next) {
            strata__class_slab_clear(slab);
        }
    }
    strata__lock_drop(&central->lock);
}

void strata__central_lock(void)
{
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        strata__lock_take(&strata__centrals[i].lock);
    }
    strata__mixed_lock();
}

void strata__central_unlock(void)
{
    strata__mixed_unlock();
    for (unsigned i = STRATA__BLOCK_CLASSES; i > 0; i--) {
        strata__lock_drop(&strata__centrals[i - 1].lock);
    }
}

void strata__central_reset_locks(void)
{
    strata__mixed_reset_lock();
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        strata__lock_reset(&strata__centrals[i].lock);
    }
}
