/*
 * zend_layout.c - self-calibration: each offset is the only one that makes the heap consistent.
 *
 * The layout of struct _zend_mm_heap differs between branches and has changed inside one
 * (8.2.34 to 8.2.35 put a hard limit behind the limit), so a version proves nothing. What
 * holds since 7.0: the main chunk's first word points at its own heap slot; the heap holds a
 * pointer to its main chunk, with the huge list before it and the cached chunks and counts
 * behind it; the page map starts with a large run of one page, the header's own.
 */
#include "facts/zend_layout.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "facts/zend_map.h"

enum {
    /* Where the free map may start in a chunk: 7.4 has it at 0x1c8, 8.4 at 0x230. */
    FREE_MAP_FIRST = 0x160,
    FREE_MAP_LIMIT = 0x440,
    FREE_MAP_BYTES = 64,
    /* Where main_chunk and real_size may lie in the heap struct. */
    FIELD_FIRST = 0x100,
    HEADER_RUN = 0x40000001, /* a large run of one page */
    HUGE_LIST_MAX = 1 << 17, /* of at least 2 MiB each: 256 GiB */
    /* Distance from real_size to main_chunk in builds that have a hard limit. */
    HARD_LIMIT_DISTANCE = 0x38,
    HARD_LIMIT_OFFSET = 0x18,
};

/* No block is larger; it bounds what counting the pages of a hostile one may cost. */
#define HUGE_BLOCK_MAX_BYTES (UINT64_C(1) << 40)

/* clang-format off */
const struct zend_size zend_sizes[ZEND_BIN_COUNT] = {
    {8, 512, 1}, {16, 256, 1}, {24, 170, 1}, {32, 128, 1}, {40, 102, 1}, {48, 85, 1},
    {56, 73, 1}, {64, 64, 1}, {80, 51, 1}, {96, 42, 1}, {112, 36, 1}, {128, 32, 1},
    {160, 25, 1}, {192, 21, 1}, {224, 18, 1}, {256, 16, 1}, {320, 64, 5}, {384, 32, 3},
    {448, 9, 1}, {512, 8, 1}, {640, 32, 5}, {768, 16, 3}, {896, 9, 2}, {1024, 8, 2},
    {1280, 16, 5}, {1536, 8, 3}, {1792, 16, 7}, {2048, 8, 4}, {2560, 8, 5}, {3072, 4, 3},
};
/* clang-format on */

uint64_t zend_word(const uint8_t *page, uint32_t offset)
{
    uint64_t word;

    memcpy(&word, page + offset, sizeof(word));
    return word;
}

uint32_t zend_half_word(const uint8_t *page, uint32_t offset)
{
    uint32_t word;

    memcpy(&word, page + offset, sizeof(word));
    return word;
}

struct zend_chunk_head zend_chunk_head_decode(const uint8_t *page)
{
    return (struct zend_chunk_head){
        .heap = zend_word(page, 0),
        .next = zend_word(page, 8),
        .previous = zend_word(page, 0x10),
        .free_pages = zend_half_word(page, 0x18),
        .free_tail = zend_half_word(page, 0x1c),
        .number = zend_half_word(page, 0x20),
    };
}

static bool is_chunk_address(uint64_t address)
{
    return address != 0 && address % ZEND_CHUNK_BYTES == 0;
}

bool zend_is_main_chunk(uint64_t address, const struct zend_chunk_head *head)
{
    return head->heap == address + ZEND_HEAP_SLOT && is_chunk_address(head->next) &&
           is_chunk_address(head->previous) && head->free_pages <= ZEND_USABLE_PAGES &&
           head->free_tail >= 1 && head->free_tail <= ZEND_CHUNK_PAGES;
}

int zend_huge_node_read(
    struct memory *memory, uint64_t address, struct zend_huge_node *node)
{
    uint8_t bytes[24];
    int rc = memory_read_present(memory, address, bytes, sizeof(bytes));

    if (rc != 0) {
        return rc;
    }
    *node = (struct zend_huge_node){
        .block = zend_word(bytes, 0),
        .bytes = zend_word(bytes, 8),
        .next = zend_word(bytes, 16),
    };
    if (!is_chunk_address(node->block) || node->bytes == 0 ||
        node->bytes > HUGE_BLOCK_MAX_BYTES || node->bytes % ZEND_PAGE_BYTES != 0 ||
        node->next % 8 != 0) {
        return -EINVAL;
    }
    return 0;
}

int zend_huge_list_sum(struct memory *memory, uint64_t first, struct zend_huge_sum *sum)
{
    uint64_t mark = 0; /* a node that was passed; it moves on at 1, 2, 4, 8, ... nodes */
    uint64_t mark_at = 1;

    *sum = (struct zend_huge_sum){0};
    for (uint64_t at = first; at != 0;) {
        struct zend_huge_node node;
        if (at == mark) {
            return -EINVAL; /* a ring */
        }
        if (sum->blocks == mark_at) {
            mark = at;
            mark_at *= 2;
        }
        if (at % 8 != 0 || sum->blocks == HUGE_LIST_MAX) {
            return -EINVAL;
        }
        int rc = zend_huge_node_read(memory, at, &node);
        if (rc != 0) {
            return rc;
        }
        if (__builtin_add_overflow(sum->bytes, node.bytes, &sum->bytes)) {
            return -EINVAL;
        }
        sum->blocks++;
        at = node.next;
    }
    return 0;
}

/* Do the runs fill the chunk exactly, as many pages free as the head says? */
static bool map_fits(const uint8_t *page, uint32_t free_map, uint32_t free_pages)
{
    struct zend_map map;
    struct zend_run run;
    uint32_t free_seen = 0;
    int rc;

    if ((page[free_map] & 1) == 0 ||
        zend_half_word(page, free_map + FREE_MAP_BYTES) != HEADER_RUN ||
        zend_map_taken(page + free_map) != ZEND_CHUNK_PAGES - free_pages) {
        return false;
    }
    zend_map_begin(&map, page, free_map, free_map + FREE_MAP_BYTES);
    while ((rc = zend_map_next(&map, &run)) == 1) {
        free_seen += run.kind == ZEND_RUN_FREE ? run.pages : 0;
    }
    return rc == 0 && free_seen == free_pages;
}

static int find_free_map(const uint8_t *page, uint32_t free_pages, uint32_t *free_map)
{
    for (uint32_t at = FREE_MAP_FIRST; at < FREE_MAP_LIMIT; at += 8) {
        if (map_fits(page, at, free_pages)) {
            *free_map = at;
            return 0;
        }
    }
    return -ENOENT;
}

/* The only word of the heap struct that equals the chunk's own address. */
static int find_main_chunk(
    uint64_t address, const uint8_t *heap, uint32_t heap_bytes, uint32_t *offset)
{
    uint32_t found = 0;

    for (uint32_t at = FIELD_FIRST; at + 0x30 <= heap_bytes; at += 8) {
        if (zend_word(heap, at) == address) {
            if (found != 0) {
                return -ENOENT;
            }
            found = at;
        }
    }
    *offset = found;
    return found == 0 ? -ENOENT : 0;
}

/*
 * real_size is followed by the peak, which is not smaller. Since 8.0.14 and 8.1.1 it counts
 * cached chunks; before (php bug 81585) cached chunks were left out at the end of a request,
 * so there only whole chunks up to that sum can be demanded.
 */
static bool is_real_size(const uint8_t *heap, uint32_t at, uint64_t chunk_bytes,
    uint64_t huge_bytes, bool exact)
{
    uint64_t real = zend_word(heap, at);
    uint64_t limit = zend_word(heap, at + 0x10);

    if (zend_word(heap, at + 8) < real || limit == 0 || real < huge_bytes) {
        return false;
    }
    real -= huge_bytes;
    if (exact) {
        return real == chunk_bytes;
    }
    return real >= ZEND_CHUNK_BYTES && real <= chunk_bytes &&
           real % ZEND_CHUNK_BYTES == 0;
}

static int find_real_size(
    struct memory *memory, const uint8_t *heap, uint32_t main_chunk, uint32_t *real_size)
{
    struct zend_huge_sum huge;
    uint64_t chunks = zend_half_word(heap, main_chunk + 0x10);
    uint64_t cached = zend_half_word(heap, main_chunk + 0x18);
    int rc = zend_huge_list_sum(memory, zend_word(heap, main_chunk - 8), &huge);

    if (rc != 0) {
        return -ENOENT;
    }
    uint64_t chunk_bytes = (chunks + cached) * ZEND_CHUNK_BYTES;
    for (int exact = 1; exact >= 0; exact--) {
        for (uint32_t at = FIELD_FIRST; at + 0x20 <= main_chunk; at += 8) {
            if (is_real_size(heap, at, chunk_bytes, huge.bytes, exact == 1)) {
                *real_size = at;
                return 0;
            }
        }
    }
    return -ENOENT;
}

int zend_layout_find(struct memory *memory, uint64_t address, const uint8_t *page,
    struct zend_layout *layout)
{
    struct zend_chunk_head head = zend_chunk_head_decode(page);
    const uint8_t *heap = page + ZEND_HEAP_SLOT;

    *layout = (struct zend_layout){0};
    if (!zend_is_main_chunk(address, &head) ||
        find_free_map(page, head.free_pages, &layout->free_map) != 0) {
        return -ENOENT;
    }
    layout->page_map = layout->free_map + FREE_MAP_BYTES;
    uint32_t heap_bytes = layout->free_map - ZEND_HEAP_SLOT;
    if (find_main_chunk(address, heap, heap_bytes, &layout->main_chunk) != 0 ||
        find_real_size(memory, heap, layout->main_chunk, &layout->real_size) != 0) {
        return -ENOENT;
    }
    layout->free_slots = layout->real_size - ZEND_BIN_COUNT * 8;
    if (layout->main_chunk - layout->real_size == HARD_LIMIT_DISTANCE &&
        zend_word(heap, layout->real_size + HARD_LIMIT_OFFSET) >=
            zend_word(heap, layout->real_size + 0x10)) {
        layout->hard_limit = layout->real_size + HARD_LIMIT_OFFSET;
    }
    return 0;
}
