/* zend_image.h - a made-up Zend MM heap in memory of our own, for tests and fuzzing. */
#ifndef STRATA_TESTS_UNIT_FACTS_ZEND_IMAGE_H
#define STRATA_TESTS_UNIT_FACTS_ZEND_IMAGE_H

#include <stdint.h>

#include "facts/memory.h"
#include "facts/zend_layout.h"

enum { ZEND_IMAGE_CHUNKS = 4 };

/* Offsets in the heap struct of one real build, from the table of known builds. */
struct zend_image_build {
    const char *name;
    uint32_t real_size;
    uint32_t hard_limit; /* 0: none */
    uint32_t main_chunk;
    uint32_t free_map; /* in the chunk */
};

/*
 * Chunks at addresses base + i * 2 MiB. Only the first pages of chunks and pages that a test
 * writes are present. A test changes the bytes through zend_image_page().
 */
struct zend_image {
    struct memory memory; /* first: is what readers get */
    const struct zend_image_build *build;
    uint64_t base;
    uint8_t *bytes;         /* ZEND_IMAGE_CHUNKS chunks */
    uint8_t *present;       /* one byte for each page */
    int reads_until_change; /* > 0: used grows by 8 after that many reads, each time */
    int reads;
};

void zend_image_open(struct zend_image *image, const struct zend_image_build *build);

/* The same at another address, a multiple of 2 MiB: a heap of another thread. */
void zend_image_open_at(
    struct zend_image *image, const struct zend_image_build *build, uint64_t base);
void zend_image_close(struct zend_image *image);

uint8_t *zend_image_at(struct zend_image *image, uint64_t address);
void zend_image_word(struct zend_image *image, uint64_t address, uint64_t value);
void zend_image_half(struct zend_image *image, uint64_t address, uint32_t value);

/* Address of the heap struct, and of a field of the heap by its offset. */
uint64_t zend_image_heap(const struct zend_image *image);

/* Takes pages of a chunk and writes the map word; for a small run with its further pages. */
void zend_image_large(struct zend_image *image, int chunk, uint32_t page, uint32_t pages);
void zend_image_small(struct zend_image *image, int chunk, uint32_t page, uint32_t bin);

/* Adds bytes to used and to its peak. */
void zend_image_use(struct zend_image *image, uint64_t bytes);

#endif
