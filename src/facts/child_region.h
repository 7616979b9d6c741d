/* child_region.h - the statistics region of the malloc replacement in a child of ours. */
#ifndef STRATA_FACTS_CHILD_REGION_H
#define STRATA_FACTS_CHILD_REGION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct strata_region; /* strata/layout.h */

/*
 * Kept from when the child was seen to have a region until it has ended: an attached
 * segment outlives its process. All zeroes: none yet.
 */
struct child_region {
    const struct strata_region *region; /* of the child, read only; NULL: none */
    uint64_t bytes;
    uint64_t inode; /* which segment */
    bool preloaded; /* the library was seen among the child's mappings */
};

/* Bytes; what the program takes and why. */
struct child_layers {
    uint64_t in_use_bytes;
    uint64_t cached_bytes; /* kept by CPUs */
    uint64_t free_bytes;   /* pages that may be resident, without a block in use */
    uint64_t descriptor_bytes;
    uint64_t charged_bytes; /* the sum: what a limit bounds */
    uint64_t peak_charged_bytes;
    uint64_t held_bytes;  /* address space, as heap_strata_sums() has it */
    uint64_t limit_bytes; /* 0: none */
    uint64_t refused;
    uint64_t purges;
    uint64_t pressure_purges;
};

/* Looks whether the child has a region, or another after an exec. Cheap when not. */
void child_region_look(struct child_region *child, pid_t pid);
/* Sums up. False when there is no region, or one that makes no sense. */
bool child_region_read(const struct child_region *child, struct child_layers *layers);
void child_region_release(struct child_region *child);

#endif
