/* glibc_state.h - a copy of an arena's malloc_state, and whether two of them are the same. */
#ifndef STRATA_FACTS_GLIBC_STATE_H
#define STRATA_FACTS_GLIBC_STATE_H

#include "facts/glibc_reader.h"

/*
 * Copies the malloc_state at address; state has room for GLIBC_STATE_MAXIMUM_BYTES. 0 or as
 * memory_read_present().
 */
int glibc_state_read(struct glibc_reader *reader, uint64_t address, uint8_t *state);

/* system_mem: bytes the arena holds. */
uint64_t glibc_state_held(const struct glibc_reader *reader, const uint8_t *state);

/* A thread is inside malloc() for this arena: what it leaves half done is no damage. */
bool glibc_state_locked(const uint8_t *state);

/* The flag of a main arena that something else than malloc moved the break of. */
bool glibc_state_contiguous(const uint8_t *state);

/*
 * Fast bins, top, bins and system_mem are equal: nothing was taken or given back, unless
 * all of it was undone.
 */
bool glibc_state_same(
    const struct glibc_layout *layout, const uint8_t *before, const uint8_t *after);

/* A hash of what glibc_state_same() compares; and one of the fast bins alone. */
uint64_t glibc_state_fingerprint(const struct glibc_layout *layout, const uint8_t *state);
uint64_t glibc_state_fast_fingerprint(
    const struct glibc_layout *layout, const uint8_t *state);

#endif
