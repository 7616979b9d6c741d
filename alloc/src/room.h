/*
 * How the table of a CPU is divided: each class has a room of its own, of `most` blocks
 * (blockclass.h), of which only so much is used as percpu.c allows at present.
 */
#ifndef STRATA_ROOM_H
#define STRATA_ROOM_H

#include <stdint.h>

#include "blockclass.h"

#define STRATA__CPU_SLOTS 2917

struct strata__room {
    uint16_t first;    /* slot in every table */
    uint16_t capacity; /* blocks that a CPU keeps at most; changes at any time */
};
extern struct strata__room strata__rooms[STRATA__BLOCK_CLASSES];

static inline unsigned strata__room_of(unsigned class)
{
    return __atomic_load_n(&strata__rooms[class].capacity, __ATOMIC_RELAXED);
}

#endif
