/* A slab of the malloc replacement: one unit of blocks of one class (central.c). */
#ifndef STRATA_CLASS_SLAB_H
#define STRATA_CLASS_SLAB_H

#include <stddef.h>
#include <stdint.h>

#include "blockclass.h"
#include "unitmap.h"

#define STRATA__CLASS_SLAB_WORD_BITS 64U

struct slab {
    struct slab *next, *previous;
    char *start;
    uint32_t free_blocks;
    uint16_t touched;
    uint16_t idle;
    uint16_t first_word; /* no block is free in the words before */
    uint8_t list;
    uint8_t class;
    uint8_t was_full; /* so what is free now was freed */
    uint64_t free_bits[];
};

static inline size_t strata__class_slab_words(const struct strata__block_class *class)
{
    return (class->blocks + STRATA__CLASS_SLAB_WORD_BITS - 1) /
           STRATA__CLASS_SLAB_WORD_BITS;
}

/* At most `wanted` free blocks, lowest address first. Returns how many. */
size_t strata__class_slab_take(struct slab *slab, void **blocks, size_t wanted);
/* One free block of a slab that has one, anywhere. `state` is not 0. Returns 1. */
size_t strata__class_slab_take_random(uint64_t *state, struct slab *slab, void **blocks);
/* A free block on pages that are touched already, or NULL. */
void *strata__class_slab_take_bought(struct slab *slab);
/* Which block starts at the address; fatal when none does. */
unsigned strata__class_slab_index(const struct slab *slab, const void *address);
/* A block comes back; fatal when it is free. */
void strata__class_slab_give(struct slab *slab, const void *block);
/* Touched pages on which no block is handed out, those behind the last block included. */
uint16_t strata__class_slab_free_pages(const struct slab *slab);
/* Free blocks read as zeroes from now on. */
void strata__class_slab_clear(struct slab *slab);

#endif
