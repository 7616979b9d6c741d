/*
 * python_arena.c - recognises obmalloc's arenas by the headers of their pools.
 *
 * Objects/obmalloc.c takes arenas by mmap and cuts them into 64 pools: 1 MiB and 16 KiB since
 * 3.10, 256 KiB and 4 KiB before. Each pool that was used begins with struct pool_header,
 * whose fields constrain each other: the last offset is the pool's size less one block, and
 * the next offset lies a whole number of blocks behind the header. Pools are taken in
 * order, so a used arena always shows its first one. Mappings merge, so every page could be
 * the first of an arena; only present pages are read.
 */
#include "facts/python_arena.h"

#include <errno.h>
#include <string.h>

#include "facts/present_pages.h"
#include "facts/span_list.h"

enum {
    POOLS = 64,
    POOL_HEADER_BYTES = 48,
    ALIGNMENT = 16,
    SIZE_CLASSES = 32,
    MAXIMUM_ARENA_INDEX = 1 << 20,
    MINIMUM_MAPPING_BYTES = 256 << 10,
    SCAN_READS = 1 << 17, /* headers that are read in one process */
};

static const uint64_t pool_sizes[] = {16 << 10, 4 << 10};

/* The fields of struct pool_header that are used; 64-bit, little endian. */
struct pool {
    uint32_t count;
    uint32_t arena;
    uint32_t size_class;
    uint32_t next_offset;
    uint32_t last_offset;
};

struct arena_search {
    struct memory *memory;
    struct region *region;
    struct process_facts *process;
    size_t known_spans; /* of other owners, sorted: nothing is looked for inside them */
    uint64_t reads_left;
};

static uint32_t number_at(const uint8_t *data, size_t offset)
{
    uint32_t number;

    memcpy(&number, data + offset, sizeof(number));
    return number;
}

static bool is_pool(const struct pool *pool, uint64_t pool_bytes)
{
    const uint32_t block = (pool->size_class + 1) * ALIGNMENT;

    return pool->size_class < SIZE_CLASSES && pool->arena < MAXIMUM_ARENA_INDEX &&
           pool->last_offset == pool_bytes - block &&
           pool->next_offset >= POOL_HEADER_BYTES && pool->next_offset <= pool_bytes &&
           (pool->next_offset - POOL_HEADER_BYTES) % block == 0 &&
           pool->count <= (pool_bytes - POOL_HEADER_BYTES) / block;
}

/* False when address, on a present page, cannot be read. */
static bool read_pool(struct arena_search *search, uint64_t address, struct pool *pool)
{
    uint8_t data[POOL_HEADER_BYTES];

    if (search->reads_left == 0) {
        return false;
    }
    search->reads_left--;
    if (memory_read_present(search->memory, address, data, sizeof(data)) < 0) {
        return false;
    }
    *pool = (struct pool){.count = number_at(data, 0),
        .arena = number_at(data, 32),
        .size_class = number_at(data, 36),
        .next_offset = number_at(data, 40),
        .last_offset = number_at(data, 44)};
    return true;
}

/* The end of the last pool of the arena whose first pool is at address. */
static uint64_t arena_end(struct arena_search *search, uint64_t address, uint64_t end,
    uint64_t pool_bytes, uint32_t arena)
{
    for (uint64_t i = POOLS - 1; i > 0; i--) {
        const uint64_t at = address + i * pool_bytes;
        struct pool pool;
        if (at + pool_bytes <= end && read_pool(search, at, &pool) &&
            is_pool(&pool, pool_bytes) && pool.arena == arena) {
            return at + pool_bytes;
        }
    }
    return address + pool_bytes <= end ? address + pool_bytes : end;
}

/* Is there an arena at address? *next is then behind it. */
static int take_arena(
    struct arena_search *search, uint64_t address, uint64_t end, uint64_t *next)
{
    struct pool pool;

    if (!read_pool(search, address, &pool)) {
        return 0;
    }
    for (size_t i = 0; i < sizeof(pool_sizes) / sizeof(pool_sizes[0]); i++) {
        const uint64_t bytes = pool_sizes[i];
        if (address % bytes != 0 || !is_pool(&pool, bytes)) {
            continue;
        }
        const struct span span = {.start = address,
            .end = arena_end(search, address, end, bytes, pool.arena),
            .owner = SPAN_PYTHON_ARENA,
            .index = pool.arena};
        int result =
            span_list_add(search->memory, search->region, search->process, &span);
        *next = span.end;
        return result == -ENOMEM ? result : 0;
    }
    return 0;
}

static int search_mapping(struct arena_search *search, const struct mapping *mapping)
{
    struct present_pages pages;
    uint64_t at = mapping->start;

    present_pages_init(&pages, search->memory);
    while (search->reads_left > 0) {
        uint64_t page, next;
        int result = present_pages_next(&pages, at, mapping->end, &page);
        if (result <= 0) {
            return result;
        }
        at = span_list_behind(search->process->spans, search->known_spans, page);
        if (at == page) {
            next = page + search->memory->page_bytes;
            result = take_arena(search, page, mapping->end, &next);
            if (result < 0) {
                return result;
            }
            at = next;
        }
    }
    return 0;
}

static bool has_python(const struct process_facts *process)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        const char *slash = strrchr(mapping->path, '/');
        if ((mapping->permissions & MAPPING_EXECUTE) != 0 && slash != NULL &&
            (strncmp(slash, "/python", 7) == 0 ||
                strncmp(slash, "/libpython", 10) == 0)) {
            return true;
        }
    }
    return false;
}

int python_arena_read(
    struct memory *memory, struct region *region, struct process_facts *process)
{
    const uint32_t wanted = MAPPING_READ | MAPPING_WRITE;
    struct arena_search search = {
        .memory = memory, .region = region, .process = process, .reads_left = SCAN_READS};
    int result = 0;

    if (!has_python(process)) {
        return 0;
    }
    span_list_settle(process->spans, &process->span_count);
    search.known_spans = process->span_count;
    for (size_t i = 0; i < process->mapping_count && result == 0; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if ((mapping->permissions & (wanted | MAPPING_SHARED)) == wanted &&
            mapping->inode == 0 && mapping->path[0] != '[' &&
            mapping->end - mapping->start >= MINIMUM_MAPPING_BYTES) {
            result = search_mapping(&search, mapping);
        }
    }
    return result;
}
