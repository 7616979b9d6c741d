/*
 * What happens inside of one slab: its bits and its pages. Whoever calls has the lock of
 * the class and keeps the counters of the lists; nothing here calls anything.
 *
 * Blocks are taken in order, so that the pages of a new slab are touched one after
 * another, or at random places (hard.c).
 */
#include "class_slab.h"

#include <string.h>

#include "os.h"
#include "pagesize.h"

#define WORD_BITS STRATA__CLASS_SLAB_WORD_BITS
#define HEAP_NAME "malloc"

/* Bits of the pages that the bytes from `offset` lie on. */
static uint16_t pages_of(size_t offset, size_t bytes)
{
    unsigned first = (unsigned)(offset / STRATA__PAGE_BYTES) % STRATA__UNIT_PAGES;
    unsigned last =
        (unsigned)((offset + bytes - 1) / STRATA__PAGE_BYTES) % STRATA__UNIT_PAGES;
    return (uint16_t)((2U << last) - (1U << first));
}

size_t strata__class_slab_take(struct slab *slab, void **blocks, size_t wanted)
{
    const struct strata__block_class *class = &strata__block_classes[slab->class];
    size_t taken = 0;
    size_t word = slab->first_word;
    unsigned pages = 0;
    while (taken < wanted && taken < slab->free_blocks) {
        uint64_t bits = slab->free_bits[word];
        while (bits != 0 && taken < wanted) {
            size_t index = word * WORD_BITS + (size_t)__builtin_ctzll(bits);
            size_t offset = index * class->bytes;
            pages |= pages_of(offset, class->bytes);
            blocks[taken++] = slab->start + offset;
            bits &= bits - 1;
        }
        slab->free_bits[word] = bits;
        word += bits == 0;
    }
    slab->first_word = (uint16_t)word;
    slab->free_blocks -= (uint32_t)taken;
    slab->was_full |= slab->free_blocks == 0;
    slab->touched |= (uint16_t)pages;
    slab->idle &= (uint16_t)~pages;
    return taken;
}

/* The next of a stream that starts with a secret: Marsaglia's xorshift64. */
static uint64_t next_random(uint64_t *state)
{
    uint64_t random = *state;
    random ^= random << 13;
    random ^= random >> 7;
    random ^= random << 17;
    *state = random;
    return random;
}

/* One free block of a slab that has one, anywhere. */
size_t strata__class_slab_take_random(uint64_t *state, struct slab *slab, void **blocks)
{
    const struct strata__block_class *class = &strata__block_classes[slab->class];
    uint64_t random = next_random(state);
    size_t words = strata__class_slab_words(class);
    size_t word = random % words;
    while (slab->free_bits[word] == 0) {
        word = word + 1 < words ? word + 1 : 0;
    }
    unsigned turn = (unsigned)(random >> 32) % WORD_BITS;
    uint64_t bits = slab->free_bits[word];
    uint64_t turned = turn == 0 ? bits : bits >> turn | bits << (WORD_BITS - turn);
    unsigned bit = ((unsigned)__builtin_ctzll(turned) + turn) % WORD_BITS;
    size_t offset = (word * WORD_BITS + bit) * class->bytes;
    uint16_t pages = pages_of(offset, class->bytes);
    slab->free_bits[word] &= ~(UINT64_C(1) << bit);
    slab->free_blocks--;
    slab->touched |= pages;
    slab->idle &= (uint16_t)~pages;
    blocks[0] = slab->start + offset;
    return 1;
}

unsigned strata__class_slab_index(const struct slab *slab, const void *address)
{
    const struct strata__block_class *class = &strata__block_classes[slab->class];
    size_t offset = (size_t)((const char *)address - slab->start);
    unsigned index = strata__block_index(class, offset);
    if (index >= class->blocks || (size_t)index * class->bytes != offset) {
        strata__fatal(HEAP_NAME, "not the start of a block", address);
    }
    return index;
}

void strata__class_slab_give(struct slab *slab, const void *block)
{
    unsigned index = strata__class_slab_index(slab, block);
    uint64_t bit = UINT64_C(1) << index % WORD_BITS;
    uint16_t word = (uint16_t)(index / WORD_BITS);
    if ((slab->free_bits[word] & bit) != 0) {
        strata__fatal(HEAP_NAME, "double free", block);
    }
    slab->free_bits[word] |= bit;
    slab->free_blocks++;
    if (word < slab->first_word) {
        slab->first_word = word;
    }
}

/* A free block on pages that are touched already, when no page may be bought. */
void *strata__class_slab_take_bought(struct slab *slab)
{
    const struct strata__block_class *class = &strata__block_classes[slab->class];
    for (size_t word = slab->first_word; word < strata__class_slab_words(class); word++) {
        for (uint64_t bits = slab->free_bits[word]; bits != 0; bits &= bits - 1) {
            unsigned bit = (unsigned)__builtin_ctzll(bits);
            size_t offset = (word * WORD_BITS + bit) * class->bytes;
            uint16_t pages = pages_of(offset, class->bytes);
            if ((pages & ~slab->touched) == 0) {
                slab->free_bits[word] &= ~(UINT64_C(1) << bit);
                slab->free_blocks--;
                slab->idle &= (uint16_t)~pages;
                return slab->start + offset;
            }
        }
    }
    return NULL;
}

/* Are the blocks first..last all free? */
static int range_is_free(const struct slab *slab, unsigned first, unsigned last)
{
    for (unsigned word = first / WORD_BITS; word <= last / WORD_BITS; word++) {
        uint64_t mask = UINT64_MAX;
        if (word == first / WORD_BITS) {
            mask &= UINT64_MAX << first % WORD_BITS;
        }
        if (word == last / WORD_BITS) {
            mask &= UINT64_MAX >> (WORD_BITS - 1 - last % WORD_BITS);
        }
        if ((slab->free_bits[word] & mask) != mask) {
            return 0;
        }
    }
    return 1;
}

/* Touched pages on which no block is handed out, those behind the last block included. */
uint16_t strata__class_slab_free_pages(const struct slab *slab)
{
    const struct strata__block_class *class = &strata__block_classes[slab->class];
    unsigned free = 0;
    for (unsigned page = 0; page < STRATA__UNIT_PAGES; page++) {
        unsigned first = strata__block_index(class, page * STRATA__PAGE_BYTES);
        unsigned last = strata__block_index(
            class, page * STRATA__PAGE_BYTES + STRATA__PAGE_BYTES - 1);
        last = last < class->blocks ? last : class->blocks - 1U;
        if ((slab->touched >> page & 1) != 0 &&
            (first > last || range_is_free(slab, first, last))) {
            free |= 1U << page;
        }
    }
    return (uint16_t)free;
}

/* Of pages that are not touched none becomes resident for a zero. */
static void clear_touched(struct slab *slab, size_t offset, size_t bytes)
{
    for (size_t at = offset; at < offset + bytes;) {
        size_t end = (at / STRATA__PAGE_BYTES + 1) * STRATA__PAGE_BYTES;
        end = end < offset + bytes ? end : offset + bytes;
        if ((slab->touched >> at / STRATA__PAGE_BYTES & 1) != 0) {
            memset(slab->start + at, 0, end - at);
        }
        at = end;
    }
}

void strata__class_slab_clear(struct slab *slab)
{
    const struct strata__block_class *class = &strata__block_classes[slab->class];
    for (size_t index = 0; index < class->blocks; index++) {
        size_t offset = index * class->bytes;
        int is_free = (slab->free_bits[index / WORD_BITS] >> index % WORD_BITS & 1) != 0;
        if (is_free && (pages_of(offset, class->bytes) & slab->touched) != 0) {
            clear_touched(slab, offset, class->bytes);
        }
    }
}
