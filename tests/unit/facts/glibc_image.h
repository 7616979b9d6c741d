/* glibc_image.h - a small synthetic process with a glibc heap, for tests and fuzzers. */
#ifndef STRATA_TESTS_GLIBC_IMAGE_H
#define STRATA_TESTS_GLIBC_IMAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/glibc_layout.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

enum {
    GLIBC_IMAGE_PAGE = 4096,
    GLIBC_IMAGE_TEXT_BYTES = 4 << 10,
    GLIBC_IMAGE_DATA_BYTES = 32 << 10,
    GLIBC_IMAGE_MAIN_BYTES = 512 << 10,
    GLIBC_IMAGE_HEAP_BYTES = 132 << 10,
    GLIBC_IMAGE_BLOCK_BYTES = 64 << 10,
    GLIBC_IMAGE_MAX_BYTES = 512 << 10,
};

/* The pieces of memory, in address order. */
enum glibc_image_part {
    GLIBC_IMAGE_MAIN,  /* [heap] */
    GLIBC_IMAGE_HEAP,  /* heap of a second arena */
    GLIBC_IMAGE_BLOCK, /* two blocks taken by mmap, merged */
    GLIBC_IMAGE_TEXT,  /* libc, read only: version */
    GLIBC_IMAGE_DATA,  /* libc, writable: main_arena, mp_ */
    GLIBC_IMAGE_PARTS,
};

struct glibc_image;

/*
 * before_read is called ahead of each read, with the number of reads so far: a target that
 * runs. touched_absent says that a page was read which is not present: never allowed.
 */
struct glibc_image {
    struct memory memory; /* first */
    const struct glibc_layout *layout;
    struct mapping mappings[GLIBC_IMAGE_PARTS];
    uint8_t *data[GLIBC_IMAGE_PARTS];
    uint8_t present[GLIBC_IMAGE_PARTS][GLIBC_IMAGE_MAX_BYTES / GLIBC_IMAGE_PAGE];
    uint64_t reads;
    void (*before_read)(struct glibc_image *image);
    bool touched_absent;
    /* Addresses that tests break. */
    uint64_t main_arena;
    uint64_t parameters;
    uint64_t second_arena;
    uint64_t main_first; /* first chunk of the main heap: a tcache */
    uint64_t main_free;  /* its free chunk, of several pages */
    uint64_t main_fast;  /* its chunk in a fast bin; 0: the layout has none */
    uint64_t main_last;  /* the last chunk in use below top */
    uint64_t second_free;
    /* What a reader must find. */
    struct glibc_arena expected_main;
    struct glibc_arena expected_second;
    uint64_t cached_bytes;
};

/* Builds the image of a layout. Memory of its own: release it. Aborts without memory. */
void glibc_image_init(struct glibc_image *image, enum glibc_layout_id layout);
void glibc_image_release(struct glibc_image *image);

/* The process that has this memory; its arrays belong to image. */
void glibc_image_process(struct glibc_image *image, struct process_facts *process);

void glibc_image_put(struct glibc_image *image, uint64_t address, uint64_t word);
uint64_t glibc_image_get(const struct glibc_image *image, uint64_t address);

/* The pages of [start, end) are no longer in memory. */
void glibc_image_drop(struct glibc_image *image, uint64_t start, uint64_t end);

#endif
