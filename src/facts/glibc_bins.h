/* glibc_bins.h - the free chunks of an arena by its lists, where its heap cannot be walked. */
#ifndef STRATA_FACTS_GLIBC_BINS_H
#define STRATA_FACTS_GLIBC_BINS_H

#include "facts/glibc_reader.h"

struct glibc_bin_sums {
    uint64_t free_bytes;
    uint64_t free_chunks;
    uint64_t largest_bytes;
    uint64_t resident_pages; /* whole pages inside the chunks, as mtrim() counts them */
    uint64_t shared_bytes;   /* of the chunks, what lies on no such page */
};

/*
 * Follows all bins of the arena at address, whose malloc_state was copied to state. 0;
 * -EBADMSG when a list leads to what is no chunk; -EBUSY when the budget of links is spent; or
 * -errno of the memory.
 */
int glibc_bins_read(struct glibc_reader *reader, uint64_t address, const uint8_t *state,
    struct glibc_bin_sums *sums);

#endif
