/*
 * arena_reserve.c - the base of all that is predicted for arenas.
 *
 * malloc raises mmap_threshold to the size of a freed block that had a mapping (up to 32 MiB), and
 * trim_threshold to twice that, until one of its parameters is set (malloc/malloc.c, glibc 2.31 to
 * 2.43).
 */
#include "findings/arena_reserve.h"

#include "base/number.h"
#include "model/known.h"

uint64_t arena_retained_bytes(const struct glibc_arena *arena)
{
    if (!state_is_known(arena->state) || !state_is_known(arena->resident_state)) {
        return 0;
    }
    const uint64_t beyond_use =
        number_subtract(arena->resident_bytes, arena->in_use_bytes);
    const uint64_t whole_pages =
        number_add(arena->free_resident_bytes, arena->top_resident_bytes);

    return beyond_use > whole_pages ? beyond_use : whole_pages;
}

uint64_t arena_end_bytes(const struct glibc_arena *arena)
{
    return number_smaller(arena_retained_bytes(arena), arena->top_resident_bytes);
}

bool thresholds_are_grown(const struct glibc_facts *glibc)
{
    const struct glibc_parameters *parameters = &glibc->parameters;

    return state_is_known(glibc->state) && state_is_known(parameters->state) &&
           !parameters->dynamic_threshold_off &&
           parameters->mmap_threshold_bytes >= GROWN_THRESHOLD_BYTES;
}
