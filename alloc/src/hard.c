/*
 * The pattern is one word, secret to the process. Free memory holds it, or zeroes where a
 * page was given back or never used; so a write of anything else is seen, word by word,
 * and a block that starts with the pattern is worth a search of the quarantine.
 *
 * The quarantine is a ring of blocks, bounded by their number and their bytes. Blocks in
 * it are in use for all others: so they cannot be handed out, and pages do not go. Blocks
 * of mixed units do not come here: in this mode such units hold only what was there
 * before, and aligned blocks of odd sizes.
 *
 * One lock, held while patterns are written and compared; it is never held together with
 * another, but for fork.
 */
#include "hard.h"

#include <stdint.h>

#include "blockclass.h"
#include "central.h"
#include "huge.h"
#include "lock.h"
#include "os.h"
#include "region.h"
#include "unitmap.h"

#define RING_BLOCKS 1024U
#define RING_BYTES ((size_t)1 << 20)
#define HEAP_NAME "malloc"

int strata__hard_active;

static struct {
    struct strata__lock lock;
    uint64_t pattern;
    void *ring[RING_BLOCKS];
    size_t oldest, count, bytes;
    uint16_t blocks[STRATA__BLOCK_CLASSES]; /* in the ring; read without the lock */
} hard;

/* As if a CPU kept them: there are no tables of CPUs in this mode, and a reader of the
 * region takes what CPUs keep from what is out. All of them, since the region of a child
 * that no handler of fork ran in starts empty. */
static void show(void)
{
    struct strata_region *shown = &strata__shared.region;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        __atomic_store_n(&shown->cpus[0].counts[i], hard.blocks[i], __ATOMIC_RELAXED);
    }
    __atomic_store_n(&shown->cpus_used, 1, __ATOMIC_RELAXED);
}

static void count(unsigned class, int by)
{
    uint16_t blocks = (uint16_t)(hard.blocks[class] + by);
    __atomic_store_n(&hard.blocks[class], blocks, __ATOMIC_RELAXED);
}

void strata__hard_start(void)
{
    hard.pattern = strata__os->secret() | 1;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        strata__central_harden(i);
    }
    strata__huge_harden();
    strata__hard_active = 1;
}

static size_t words_of(unsigned class)
{
    return strata__block_classes[class].bytes / sizeof(uint64_t);
}

static void fill(uint64_t *words, unsigned class)
{
    for (size_t i = 0; i < words_of(class); i++) {
        words[i] = hard.pattern;
    }
}

/* Each word the pattern, or also zero. */
static void verify(const uint64_t *words, unsigned class, int zero_too)
{
    for (size_t i = 0; i < words_of(class); i++) {
        if (words[i] != hard.pattern && !(zero_too && words[i] == 0)) {
            strata__fatal(HEAP_NAME, "write to a free block", words);
        }
    }
}

void *strata__hard_taken(void *block, unsigned class)
{
    if (block != NULL) {
        verify(block, class, 1);
        /* Its owner may free it without writing to it: it must not look free then. */
        *(uint64_t *)block = 0;
    }
    return block;
}

static int is_waiting(const void *block)
{
    for (size_t i = 0; i < hard.count; i++) {
        if (hard.ring[(hard.oldest + i) % RING_BLOCKS] == block) {
            return 1;
        }
    }
    return 0;
}

static unsigned class_of(const void *block)
{
    return strata__entry_kind(strata__unitmap_get(block)) - 1;
}

static void *take_oldest(unsigned *class)
{
    void *block = hard.ring[hard.oldest];
    *class = class_of(block);
    hard.oldest = (hard.oldest + 1) % RING_BLOCKS;
    hard.count--;
    hard.bytes -= strata__block_classes[*class].bytes;
    count(*class, -1);
    verify(block, *class, 0);
    return block;
}

void *strata__hard_freed(void *block, unsigned *class)
{
    size_t bytes = strata__block_classes[*class].bytes;
    void *leaves = NULL;
    /* Taken before the mode was on, or for its alignment: checked when it is given. */
    if (strata__entry_kind(strata__unitmap_get(block)) == STRATA__KIND_MIXED) {
        return block;
    }
    /* Not the start of a block, or one that is free in its slab. */
    strata__central_verify(*class, block);
    strata__lock_take(&hard.lock);
    if (*(uint64_t *)block == hard.pattern && is_waiting(block)) {
        strata__fatal(HEAP_NAME, "double free", block);
    }
    fill(block, *class);
    count(*class, 1);
    if (hard.count == RING_BLOCKS ||
        (hard.count > 0 && hard.bytes + bytes > RING_BYTES)) {
        leaves = take_oldest(class);
    }
    hard.ring[(hard.oldest + hard.count) % RING_BLOCKS] = block;
    hard.count++;
    hard.bytes += bytes;
    show();
    strata__lock_drop(&hard.lock);
    return leaves;
}

void strata__hard_flush(void)
{
    for (int left = 1; left;) {
        unsigned class = 0;
        void *block = NULL;
        strata__lock_take(&hard.lock);
        left = hard.count > 0;
        if (left) {
            block = take_oldest(&class);
            show();
        }
        strata__lock_drop(&hard.lock);
        if (block != NULL) {
            strata__central_flush(class, &block, 1);
        }
    }
}

size_t strata__hard_blocks(unsigned class)
{
    return __atomic_load_n(&hard.blocks[class], __ATOMIC_RELAXED);
}

void strata__hard_lock(void)
{
    strata__lock_take(&hard.lock);
}

void strata__hard_unlock(void)
{
    strata__lock_drop(&hard.lock);
}

void strata__hard_fork_child(void)
{
    strata__lock_reset(&hard.lock);
    if (strata__hard_active) {
        show();
    }
}
