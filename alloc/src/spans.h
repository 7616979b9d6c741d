/*
 * Free spans of whole units: found by length, by address and by the time they were freed.
 * All under the unit heap's lock, where nothing else is said.
 */
#ifndef STRATA_SPANS_H
#define STRATA_SPANS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/queue.h>

/* A free span, or a large or huge block. */
struct strata__span {
    LIST_ENTRY(strata__span)
    list; /* of a bin, of blocks with a tail, or of huge blocks */
    TAILQ_ENTRY(strata__span) by_time; /* dirty spans, as they were freed */
    char *start;
    size_t bytes; /* of a block */
    uint32_t units;
    uint32_t epoch;
    uint8_t dirty;
    uint8_t bin;             /* of a free span */
    uint8_t seen;            /* of a block, see large_books.c */
    uint8_t guard_bits;      /* of a huge block: 2^ that much in front of it; 0: none */
    uint16_t rounding_bytes; /* of a block: less was asked for by that much */
    uint16_t huge_slot;      /* of a huge block, in the region's directory */
};
LIST_HEAD(strata__span_list, strata__span);

/* It is on no list, and its ends are not marked. */
void strata__span_init(
    struct strata__span *span, char *start, size_t units, uint32_t epoch);
/* As span_init, on a descriptor from metadata; NULL when there is none. */
struct strata__span *strata__span_new(char *start, size_t units, uint32_t epoch);

/* The free span that starts or ends with the unit at this address, or NULL. */
struct strata__span *strata__spans_at(const char *address);
/* The one of those with resident pages that was freed first, or NULL. */
struct strata__span *strata__spans_oldest(void);

/* Joins the span, which is on no list, with its free neighbours and puts it on. */
void strata__spans_insert(struct strata__span *span);
void strata__spans_unlink(struct strata__span *span);
/* Cuts `units` at `start` out of a span on the lists. 0, or -ENOMEM: only when the span
 * falls in two and there is no descriptor for the second part. */
int strata__spans_carve(struct strata__span *span, char *start, size_t units);
/* Cuts `units` on an alignment out of the span that suits best, or says NULL. */
char *strata__spans_take(size_t units, size_t alignment_units);

/* Of spans that are on the lists, or will be again; both are read without the lock. */
size_t strata__spans_free_bytes(void);
size_t strata__spans_dirty_bytes(void);
/* Resident pages come with a span or go from it. */
void strata__spans_add_dirty(size_t bytes);

/* Walks all and compares with the two; a difference is fatal. */
void strata__spans_check(void);

#endif
