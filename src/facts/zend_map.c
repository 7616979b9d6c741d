/*
 * zend_map.c - decodes free_map and map[] of a chunk (php-src Zend/zend_alloc.c, 7.0-8.5).
 *
 * A set bit in free_map means that the page is taken. map[] words of free pages and of the
 * pages behind the first of a large run are stale: only the bitmap tells what is free, and
 * runs are followed by their length.
 *   0x40000000 | pages            large run (10 bits)
 *   0x80000000 | bin              small run, one page or the first of several (5 bits)
 *   0xC0000000 | bin | off << 16  further page of a small run
 */
#include "facts/zend_map.h"

#include <errno.h>

enum {
    KIND_SHIFT = 30,
    KIND_LARGE = 1,
    KIND_SMALL = 2,
    LARGE_PAGES_MASK = 0x3ff,
    BIN_MASK = 0x1f,
};

void zend_map_begin(
    struct zend_map *map, const uint8_t *page, uint32_t free_map, uint32_t page_map)
{
    *map = (struct zend_map){
        .free_map = page + free_map, .words = page + page_map, .next_page = 1};
}

static bool page_taken(const uint8_t *free_map, uint32_t page)
{
    return (free_map[page / 8] >> (page % 8) & 1) != 0;
}

static int free_run(struct zend_map *map, struct zend_run *run)
{
    uint32_t end = map->next_page;

    while (end < ZEND_CHUNK_PAGES && !page_taken(map->free_map, end)) {
        end++;
    }
    *run = (struct zend_run){.kind = ZEND_RUN_FREE,
        .first_page = map->next_page,
        .pages = end - map->next_page};
    map->next_page = end;
    return 1;
}

int zend_map_next(struct zend_map *map, struct zend_run *run)
{
    uint32_t first = map->next_page;

    if (first >= ZEND_CHUNK_PAGES) {
        return 0;
    }
    if (!page_taken(map->free_map, first)) {
        return free_run(map, run);
    }
    uint32_t word = zend_half_word(map->words, first * 4);
    uint32_t bin = word & BIN_MASK;
    *run = (struct zend_run){.first_page = first};
    switch (word >> KIND_SHIFT) {
    case KIND_LARGE:
        run->kind = ZEND_RUN_LARGE;
        run->pages = word & LARGE_PAGES_MASK;
        break;
    case KIND_SMALL:
        if (bin >= ZEND_BIN_COUNT) {
            return -EINVAL;
        }
        run->kind = ZEND_RUN_SMALL;
        run->bin = bin;
        run->pages = zend_sizes[bin].pages;
        break;
    default:
        return -EINVAL;
    }
    if (run->pages == 0 || run->pages > ZEND_CHUNK_PAGES - first) {
        return -EINVAL;
    }
    for (uint32_t page = first; page < first + run->pages; page++) {
        if (!page_taken(map->free_map, page)) {
            return -EINVAL;
        }
    }
    map->next_page = first + run->pages;
    return 1;
}

uint32_t zend_map_taken(const uint8_t *free_map)
{
    uint32_t taken = 0;

    for (uint32_t i = 0; i < ZEND_CHUNK_PAGES / 8; i++) {
        taken += (uint32_t)__builtin_popcount(free_map[i]);
    }
    return taken;
}
