/* arena_reserve.h - what one arena of glibc keeps resident beyond its blocks in use. */
#ifndef STRATA_FINDINGS_ARENA_RESERVE_H
#define STRATA_FINDINGS_ARENA_RESERVE_H

#include <stdbool.h>
#include <stdint.h>

#include "facts_types/glibc_facts.h"

/* From here on a threshold of malloc was raised by a large block that was freed. */
#define GROWN_THRESHOLD_BYTES (UINT64_C(1) << 20)

/*
 * Rests of pages that blocks in use share are part of it. 0 when the arena or its pages could
 * not be read.
 */
uint64_t arena_retained_bytes(const struct glibc_arena *arena);

/* The part of it at the end of the heap (top). */
uint64_t arena_end_bytes(const struct glibc_arena *arena);

/* True when malloc has raised its thresholds by itself, and may raise them further. */
bool thresholds_are_grown(const struct glibc_facts *glibc);

#endif
