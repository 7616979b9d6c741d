/* zend_map.h - the page map of one Zend MM chunk: which page belongs to which run. */
#ifndef STRATA_FACTS_ZEND_MAP_H
#define STRATA_FACTS_ZEND_MAP_H

#include <stdbool.h>
#include <stdint.h>

#include "facts/zend_layout.h"

enum zend_run_kind { ZEND_RUN_FREE, ZEND_RUN_LARGE, ZEND_RUN_SMALL };

/* Consecutive pages of one chunk with one use. */
struct zend_run {
    enum zend_run_kind kind;
    uint32_t first_page;
    uint32_t pages;
    uint32_t bin; /* of a small run */
};

/* Walks a chunk's runs in address order, page 0 (the header) left out. */
struct zend_map {
    const uint8_t *free_map; /* 64 bytes */
    const uint8_t *words;    /* 512 words */
    uint32_t next_page;
};

/* page is the chunk's first page and must outlive the walk. */
void zend_map_begin(
    struct zend_map *map, const uint8_t *page, uint32_t free_map, uint32_t page_map);

/*
 * 1 with *run filled, 0 behind the last page, -EINVAL when the map contradicts itself
 * (a run over the end or over free pages, an unknown word).
 */
int zend_map_next(struct zend_map *map, struct zend_run *run);

/* Pages whose bit is set in the free map (taken), page 0 included. */
uint32_t zend_map_taken(const uint8_t *free_map);

#endif
