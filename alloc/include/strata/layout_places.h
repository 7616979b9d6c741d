/*
 * layout_places.h - where the memory of libstrata-malloc.so lies in its process. Data only.
 *
 * Behind the region of layout.h, at the next page of the process's own memory and never shared, since
 * it holds addresses: where all memory of the allocator lies. A reader needs the right to
 * read the process's memory. Entries are appended and never taken away.
 */
#ifndef STRATA_LAYOUT_PLACES_H
#define STRATA_LAYOUT_PLACES_H

#include <stdint.h>

#include "strata/layout.h"

#define STRATA_DIRECTORY_MAGIC "strata-places 1"
/* From the start of the region. */
#define STRATA_DIRECTORY_OFFSET ((sizeof(struct strata_region) + 4095) / 4096 * 4096)
enum { STRATA_DIRECTORY_PLACES = 4096, STRATA_DIRECTORY_HUGE = 1024 };

enum strata_place_kind {
    STRATA_PLACE_UNUSED,
    STRATA_PLACE_REGION,     /* units: slabs, large blocks, free spans */
    STRATA_PLACE_DESCRIPTOR, /* descriptors of these */
    STRATA_PLACE_TABLE,      /* of a CPU */
    STRATA_PLACE_MAP,        /* a leaf of the address map */
    STRATA_PLACE_HUGE        /* one huge block */
};

/* A place that is not used has no bytes. */
struct strata_place {
    uint64_t address;
    uint64_t bytes_and_kind; /* whole pages, with the kind in the low bits */
};
#define STRATA_PLACE_KIND_MASK UINT64_C(0xfff)

struct strata_directory {
    char magic[16];
    uint32_t place_count;
    uint32_t places_lost;
    uint32_t huge_count; /* slots ever used; those with no bytes are free now */
    uint32_t reserved;
    uint64_t reserved_words[4];
    struct strata_place places[STRATA_DIRECTORY_PLACES];
    struct strata_place huge[STRATA_DIRECTORY_HUGE];
};

#endif
