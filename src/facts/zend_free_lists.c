/*
 * zend_free_lists.c - follows the free list of each bin and rehearses a collection.
 *
 * A free block's first word points to the next free block of its bin. Every pointer is
 * checked against the page map before it is followed: it must lie in a chunk of the ring, in
 * a run of that bin, at a block border, and a run may not have more free blocks than blocks.
 * That bounds the walk by the number of blocks, whatever the lists look like.
 *
 * The rehearsal follows zend_mm_gc() and zend_mm_delete_chunk() of php-src
 * Zend/zend_alloc.c: runs whose blocks are all free give their pages back to the chunk;
 * a chunk that is then empty leaves the ring for the cache or for the kernel.
 */
#include "facts/zend_free_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/zend_map.h"

enum {
    CACHE_PAGES = 1024, /* 4 MiB of target pages, direct mapped by page number */
    NO_RUN = 0xffff,
    DELETE_COUNT_LIMIT = 4,
};

/* The runs of one chunk: where the run of each page starts, its bin, and free blocks in it. */
struct chunk_runs {
    uint64_t address;
    uint32_t note; /* index in walk->notes */
    uint16_t run_start[ZEND_CHUNK_PAGES];
    uint16_t free_blocks[ZEND_CHUNK_PAGES]; /* by the run's first page */
    uint8_t bin[ZEND_CHUNK_PAGES];
};

struct page_cache {
    struct memory *memory;
    uint64_t addresses[CACHE_PAGES]; /* 0: empty */
    uint8_t (*pages)[ZEND_PAGE_BYTES];
};

struct deep_walk {
    const struct zend_walk *walk;
    struct chunk_runs *chunks; /* sorted by address */
    size_t chunk_count;
    struct page_cache cache;
};

static int cached_word(struct page_cache *cache, uint64_t address, uint64_t *word)
{
    uint64_t page = address & ~(uint64_t)(ZEND_PAGE_BYTES - 1);
    size_t slot = (page / ZEND_PAGE_BYTES) % CACHE_PAGES;

    if (cache->addresses[slot] != page) {
        cache->addresses[slot] = 0;
        int rc =
            memory_read_present(cache->memory, page, cache->pages[slot], ZEND_PAGE_BYTES);
        if (rc != 0) {
            return rc;
        }
        cache->addresses[slot] = page;
    }
    *word = zend_word(cache->pages[slot], (uint32_t)(address - page));
    return 0;
}

static int compare_chunks(const void *left, const void *right)
{
    uint64_t a = ((const struct chunk_runs *)left)->address;
    uint64_t b = ((const struct chunk_runs *)right)->address;

    return a < b ? -1 : a > b;
}

static struct chunk_runs *find_chunk(struct deep_walk *deep, uint64_t address)
{
    struct chunk_runs key = {.address = address & ~(uint64_t)(ZEND_CHUNK_BYTES - 1)};

    return bsearch(
        &key, deep->chunks, deep->chunk_count, sizeof(*deep->chunks), compare_chunks);
}

static int note_runs(struct deep_walk *deep, struct chunk_runs *chunk)
{
    const struct zend_layout *layout = deep->walk->layout;
    uint8_t page[ZEND_PAGE_BYTES];
    struct zend_map map;
    struct zend_run run;
    int rc = memory_read_present(deep->walk->memory, chunk->address, page, sizeof(page));

    if (rc != 0) {
        return rc;
    }
    memset(chunk->run_start, 0xff, sizeof(chunk->run_start));
    zend_map_begin(&map, page, layout->free_map, layout->page_map);
    while ((rc = zend_map_next(&map, &run)) == 1) {
        for (uint32_t i = 0; run.kind == ZEND_RUN_SMALL && i < run.pages; i++) {
            chunk->run_start[run.first_page + i] = (uint16_t)run.first_page;
            chunk->bin[run.first_page + i] = (uint8_t)run.bin;
        }
    }
    return rc;
}

static int note_chunks(struct deep_walk *deep)
{
    const struct zend_walk *walk = deep->walk;

    for (size_t i = 0; i < walk->note_count && !walk->notes[i].cached; i++) {
        struct chunk_runs *chunk = &deep->chunks[deep->chunk_count++];
        chunk->address = walk->notes[i].address;
        chunk->note = (uint32_t)i;
        int rc = note_runs(deep, chunk);
        if (rc != 0) {
            return rc;
        }
    }
    qsort(deep->chunks, deep->chunk_count, sizeof(*deep->chunks), compare_chunks);
    return 0;
}

/* Counts the free block at address in its run; -EINVAL when it cannot be one of bin's. */
static int count_block(struct deep_walk *deep, uint64_t address, uint32_t bin)
{
    struct chunk_runs *chunk = find_chunk(deep, address);
    const struct zend_size *size = &zend_sizes[bin];

    if (chunk == NULL) {
        return -EINVAL;
    }
    uint64_t offset = address - chunk->address;
    uint32_t page = (uint32_t)(offset / ZEND_PAGE_BYTES);
    uint32_t start = chunk->run_start[page];
    if (start == NO_RUN || chunk->bin[page] != bin) {
        return -EINVAL;
    }
    uint64_t in_run = offset - (uint64_t)start * ZEND_PAGE_BYTES;
    if (in_run % size->block_bytes != 0 || in_run / size->block_bytes >= size->blocks ||
        chunk->free_blocks[start] >= size->blocks) {
        return -EINVAL;
    }
    chunk->free_blocks[start]++;
    return 0;
}

static int walk_bin(
    struct deep_walk *deep, uint64_t first, uint32_t bin, struct zend_heap_facts *heap)
{
    for (uint64_t at = first; at != 0;) {
        int rc = count_block(deep, at, bin);
        if (rc != 0) {
            return rc;
        }
        heap->bins[bin].free_blocks++;
        rc = cached_word(&deep->cache, at, &at);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int walk_bins(struct deep_walk *deep, struct zend_heap_facts *heap)
{
    uint64_t slots[ZEND_BIN_COUNT];
    uint64_t free_bytes = 0;
    uint64_t address =
        deep->walk->main_chunk + ZEND_HEAP_SLOT + deep->walk->layout->free_slots;
    int rc = memory_read_present(deep->walk->memory, address, slots, sizeof(slots));

    for (uint32_t bin = 0; bin < ZEND_BIN_COUNT && rc == 0; bin++) {
        rc = walk_bin(deep, slots[bin], bin, heap);
        free_bytes += heap->bins[bin].free_blocks * zend_sizes[bin].block_bytes;
    }
    if (rc == 0 && free_bytes != heap->small_free_bytes) {
        return -EINVAL;
    }
    return rc;
}

/* The state that zend_mm_delete_chunk() works on. */
struct rehearsal {
    uint64_t chunks;
    uint64_t cached; /* count */
    double average;
    uint64_t boundary;
    uint64_t count;
    const struct zend_chunk_note **cache; /* a stack, the head is the last */
    size_t cache_count;
    uint64_t unmapped_chunks;
    uint64_t unmapped_pages; /* resident ones of these */
};

static void unmap_chunk(struct rehearsal *gc, const struct zend_chunk_note *note)
{
    gc->unmapped_chunks++;
    gc->unmapped_pages += note->resident_pages;
}

static void delete_chunk(struct rehearsal *gc, const struct zend_chunk_note *note)
{
    gc->chunks--;
    if ((double)(gc->chunks + gc->cached) < gc->average + 0.1 ||
        (gc->chunks == gc->boundary && gc->count >= DELETE_COUNT_LIMIT)) {
        gc->cached++;
        gc->cache[gc->cache_count++] = note;
        return;
    }
    if (gc->cache_count == 0) {
        if (gc->chunks != gc->boundary) {
            gc->boundary = gc->chunks;
            gc->count = 0;
        } else {
            gc->count++;
        }
    }
    if (gc->cache_count == 0 || note->number > gc->cache[gc->cache_count - 1]->number) {
        unmap_chunk(gc, note);
        return;
    }
    unmap_chunk(gc, gc->cache[gc->cache_count - 1]);
    gc->cache[gc->cache_count - 1] = note;
}

/* Pages of the runs of this chunk that are free block by block. */
static uint32_t complete_pages(const struct chunk_runs *chunk)
{
    uint32_t pages = 0;

    for (uint32_t page = 1; page < ZEND_CHUNK_PAGES; page++) {
        if (chunk->run_start[page] == page &&
            chunk->free_blocks[page] == zend_sizes[chunk->bin[page]].blocks) {
            pages += zend_sizes[chunk->bin[page]].pages;
        }
    }
    return pages;
}

/* The chunks in ring order, as zend_mm_gc() visits them. */
static void rehearse_chunks(
    struct deep_walk *deep, struct rehearsal *gc, struct zend_heap_facts *heap)
{
    const struct zend_walk *walk = deep->walk;

    for (size_t i = 0; i < walk->note_count && !walk->notes[i].cached; i++) {
        const struct zend_chunk_note *note = &walk->notes[i];
        uint32_t pages = complete_pages(find_chunk(deep, note->address));
        heap->gc_bytes += (uint64_t)pages * ZEND_PAGE_BYTES;
        if (note->free_pages + pages == ZEND_USABLE_PAGES && i > 0) {
            delete_chunk(gc, note);
        }
    }
    heap->gc_real_bytes = gc->unmapped_chunks * ZEND_CHUNK_BYTES;
    heap->gc_resident_bytes = gc->unmapped_pages * ZEND_PAGE_BYTES;
}

static int rehearse(struct deep_walk *deep, struct zend_heap_facts *heap)
{
    const struct zend_walk *walk = deep->walk;
    const struct zend_counters *counters = &walk->counters;
    struct rehearsal gc = {
        .chunks = counters->chunks,
        .cached = counters->cached_chunks,
        .average = counters->average_chunks,
        .boundary = counters->delete_boundary,
        .count = counters->delete_count,
        .cache = calloc(walk->note_count, sizeof(*gc.cache)),
    };

    if (gc.cache == NULL) {
        return -ENOMEM;
    }
    for (size_t i = walk->note_count; i > 0 && walk->notes[i - 1].cached; i--) {
        gc.cache[gc.cache_count++] = &walk->notes[i - 1];
    }
    rehearse_chunks(deep, &gc, heap);
    free(gc.cache);
    return 0;
}

int zend_free_lists_read(const struct zend_walk *walk, struct zend_heap_facts *heap)
{
    struct deep_walk deep = {.walk = walk, .cache.memory = walk->memory};
    int rc = -ENOMEM;

    deep.chunks = calloc(walk->counters.chunks, sizeof(*deep.chunks));
    deep.cache.pages = malloc(sizeof(*deep.cache.pages) * CACHE_PAGES);
    if (deep.chunks != NULL && deep.cache.pages != NULL) {
        rc = note_chunks(&deep);
        rc = rc != 0 ? rc : walk_bins(&deep, heap);
        rc = rc != 0 ? rc : rehearse(&deep, heap);
    }
    free(deep.cache.pages);
    free(deep.chunks);
    return rc;
}
