/* strata_image.h - a process with libstrata-malloc.so in it, in memory of the test. */
#ifndef STRATA_TESTS_STRATA_IMAGE_H
#define STRATA_TESTS_STRATA_IMAGE_H

#include <stdbool.h>
#include <stdint.h>
#include <strata/layout.h>
#include <strata/layout_places.h>

#include "base/region.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

enum { STRATA_IMAGE_HEAP_BYTES = 4 << 20 };

/*
 * The region and its directory at base, then a heap of which all pages are present. The
 * figures are of one class of 64 bytes with 2 slabs, 1,000 blocks in use, 5 more in a unit
 * that all classes share, and 10 with a CPU; a
 * large block of 70,000 bytes; a thread with one tag.
 */
struct strata_image {
    struct memory memory; /* first */
    uint64_t base;
    uint64_t heap;  /* address of the heap */
    uint8_t *bytes; /* of region and directory */
    struct strata_region *region;
    struct strata_directory *directory;
    bool *present; /* pages of these */
    bool touched_absent;
    bool moving; /* each copy finds another region */
    struct mapping mappings[3];
    struct process_facts process;
    struct region facts;
};

void strata_image_open(struct strata_image *image, bool shared);
void strata_image_close(struct strata_image *image);
/* heap_strata_read() of the image; it must succeed. */
void strata_image_read(struct strata_image *image);

#endif
