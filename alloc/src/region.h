/*
 * The statistics region (layout.h): its memory, how it is shared with readers outside, and
 * how the owners of figures write them. Nothing of the allocator is ever read from it but the
 * counts of the CPUs' blocks, which have no other place: they are the figures.
 */
#ifndef STRATA_REGION_H
#define STRATA_REGION_H

#include <stddef.h>
#include <stdint.h>

#include "pagesize.h"
#include "strata/layout.h"
#include "strata/layout_places.h"

/* Calls on CPUs above go to the central lists. One less than the rows, since `alive` takes a
 * place in front. */
#define STRATA__CPUS_MAX (STRATA_LAYOUT_CPUS - 1)

struct strata__slots;

/*
 * One object, so that the sequences of sequence.h reach all of it from one address. The
 * kernel zeroes the first pages in the child of any fork (MADV_WIPEONFORK), also of one
 * that ran no handlers: such a child shares the counts below with its parent, and must not
 * touch them. It finds no tables, and then that nothing is alive.
 */
struct strata__shared {
    void *alive;
    struct strata__slots *caches[STRATA__CPUS_MAX]; /* by CPU; NULL: nothing kept there */
    struct strata_region region __attribute__((aligned(STRATA__PAGE_BYTES)));
    struct strata_directory directory __attribute__((aligned(STRATA__PAGE_BYTES)));
};
extern struct strata__shared strata__shared;

enum strata__region_mode {
    STRATA__REGION_PRIVATE, /* in this process's memory only */
    STRATA__REGION_OWNER,   /* a segment which its owner and root may read */
    STRATA__REGION_ALL,     /* a segment which everybody may read */
};

/* Once, before other threads use the allocator. Afterwards owners publish. */
void strata__region_start(enum strata__region_mode mode);
/* In the child of a fork, which has one thread: a region of its own in place of the
 * parent's, empty; owners publish again and CPUs fill in their rows. 0; or -errno, and
 * then the parent's is still there and must be left alone. */
int strata__region_renew(void);
/* In a child that cannot renew it yet: nothing it writes comes to the parent's any more. */
void strata__region_leave(void);
/* Is there something to publish to? Read before each group is written. */
int strata__region_is_open(void);
/* True in a child that no handler of fork has run in, until its region is renewed. */
int strata__region_is_orphaned(void);

/* Counts of events, of any thread. */
void strata__region_count_trim(void);
void strata__region_count_reset(void);

/* Appends to the directory. Any thread. */
void strata__region_add_place(
    const void *address, size_t bytes, enum strata_place_kind kind);
/* A slot of the directory for a huge block: its number + 1, or 0 when there is none. The
 * caller has the lock of huge blocks for all three. */
unsigned strata__region_huge_take(void);
void strata__region_huge_set(unsigned slot, const void *address, size_t bytes);
void strata__region_huge_drop(unsigned slot);

/* A group is written between begin and end, by whoever has the lock of its figures. */
/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static inline void strata__region_begin(uint32_t *sequence)
{
    __atomic_store_n(sequence, (*sequence + 1) | 1, __ATOMIC_RELAXED);
}

/* Not seen before the odd sequence is: a fence would do, but thread sanitizers know none. */
/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static inline void strata__region_set(uint64_t *field, uint64_t value)
{
    __atomic_store_n(field, value, __ATOMIC_RELEASE);
}

/* It is written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static inline void strata__region_end(uint32_t *sequence)
{
    __atomic_store_n(sequence, *sequence + 1, __ATOMIC_RELEASE);
}

#endif
