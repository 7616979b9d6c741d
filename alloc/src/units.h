/*
 * Spans of whole units (64 KiB) of address space: taken from the system in regions, handed
 * out for slabs and large blocks, given back page by page.
 */
#ifndef STRATA_UNITS_H
#define STRATA_UNITS_H

#include <stddef.h>
#include <stdint.h>

#include "spans.h"
#include "unitmap.h"

struct strata__units_stats {
    size_t mapped_bytes;    /* regions */
    size_t free_bytes;      /* free spans, resident or not */
    size_t dirty_bytes;     /* pages of free spans that may be resident */
    size_t peak_used_bytes; /* most of mapped - free since the last reset */
    size_t purged_bytes;    /* given back so far */
};

/* `units` on a multiple of `alignment_units` (a power of two), which read as zeroes where
 * no touched bit is set in the address map. NULL when the system gives no memory. The map's entries of the units are of kind UNUSED. */
char *strata__units_take(size_t units, size_t alignment_units);
/* Takes the `extra` units behind a taken span. 0, or -ENOMEM if they are not free. */
int strata__units_extend(char *start, size_t units, size_t extra);
/* `span` is a descriptor from metadata, which becomes the unit heap's: so giving cannot
 * fail. The map's touched bits say which pages may be resident; its entries must be of
 * kind UNUSED again. */
void strata__units_give(struct strata__span *span, char *start, size_t units);

/* Gives back the pages of spans freed up to `epoch`, oldest first, until at most
 * `keep_bytes` are dirty. Returns the bytes given back. */
size_t strata__units_purge(uint32_t epoch, size_t keep_bytes);
/* Use and resident free pages together stay below five quarters of the most that was in
 * use in this epoch and the one before: what is above goes back. */
void strata__units_keep_within_bounds(void);
/* Spans freed from now on carry this epoch. */
void strata__units_set_epoch(uint32_t epoch);

/* Gives back pages of a taken unit, a bit for each; returns those that went. */
uint16_t strata__units_purge_pages(char *start, unsigned pages);

/* Units in use, read without the lock. */
size_t strata__units_used_bytes(void);
/* Writes the figures to the region; whatever changes them does it itself. */
void strata__units_publish(void);
/* The most in use is from now on what it was last. */
void strata__units_reset_peak(void);
/* Regions, read without the lock. */
size_t strata__units_mapped_bytes(void);
/* Resident pages of free spans, read without the lock. */
size_t strata__units_dirty_bytes(void);
void strata__units_get_stats(struct strata__units_stats *stats);
/* Walks every free span and compares with the counters; a difference is fatal. */
void strata__units_check(void);

/* For fork. Ranks below the locks of the classes and above metadata's. */
void strata__units_lock(void);
void strata__units_unlock(void);
void strata__units_reset_lock(void);

#endif
