/*
 * zend_free_lists.c - follows the free list of each bin and rehearses a collection.
 *
 * A free block's first word points to the next free block of its bin. Every pointer is
 * checked against the page map before it is followed: it must lie in a chunk of the ring, in
 * a run of that bin, at a block border, and a run may not have more free blocks than blocks.
 * That bounds the walk by the number of blocks, whatever the lists look like.
 *
 * A list runs through the heap in the order in which blocks were freed: following it from
 * page to page may read each page once for every block. So a bin whose list has read many
 * pages gets the first words of all its blocks, in one pass over its runs, and is followed
 * in those. A page belongs to one bin, and is read about once.
 *
 * The rehearsal follows zend_mm_gc() and zend_mm_delete_chunk() of php-src
 * Zend/zend_alloc.c: runs whose blocks are all free give their pages back to the chunk;
 * a chunk that is then empty leaves the ring for the cache or for the kernel.
 */
#include "facts/zend_free_lists.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "facts/page_cache.h"
#include "facts/zend_map.h"

enum {
    NO_RUN = 0xffff,
    READS_SHIFT = 2, /* read page by page before a pass: a quarter of the bin */
    WORDS_MAX = (12 << 20) / 8, /* 12 MiB of ours; a larger bin is read page by page */
    WINDOW_PAGES = 64,
    DELETE_COUNT_LIMIT = 4,
};

/* The runs of one chunk: where the run of each page starts, its bin, and free blocks in it. */
struct chunk_runs {
    uint64_t address;
    uint32_t note; /* index in walk->notes */
    uint32_t
        first_block[ZEND_CHUNK_PAGES]; /* of the run, by its first page, in its bin */
    uint16_t run_start[ZEND_CHUNK_PAGES];
    uint16_t free_blocks[ZEND_CHUNK_PAGES]; /* by the run's first page */
    uint8_t bin[ZEND_CHUNK_PAGES];
};

struct deep_walk {
    const struct zend_walk *walk;
    struct chunk_runs *chunks; /* sorted by address */
    size_t chunk_count;
    uint32_t bin_blocks[ZEND_BIN_COUNT];
    struct page_cache cache;
    uint64_t bytes_before; /* read before this bin */
    uint8_t *window;
    uint64_t *words; /* the first word of each block of one bin, or NULL */
};

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

static void note_run(
    struct deep_walk *deep, struct chunk_runs *chunk, const struct zend_run *run)
{
    for (uint32_t i = 0; i < run->pages; i++) {
        chunk->run_start[run->first_page + i] = (uint16_t)run->first_page;
        chunk->bin[run->first_page + i] = (uint8_t)run->bin;
    }
    chunk->first_block[run->first_page] = deep->bin_blocks[run->bin];
    deep->bin_blocks[run->bin] += zend_sizes[run->bin].blocks;
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
        if (run.kind == ZEND_RUN_SMALL) {
            note_run(deep, chunk, &run);
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

/*
 * Counts the free block at address in its run; -EINVAL when it cannot be one of bin's.
 * *index is its place among all blocks of the bin.
 */
static int count_block(
    struct deep_walk *deep, uint64_t address, uint32_t bin, uint32_t *index)
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
    *index = chunk->first_block[start] + (uint32_t)(in_run / size->block_bytes);
    return 0;
}

/* How many pages from a run on are runs of the same bin, in whole runs. */
static uint32_t adjacent_pages(const struct chunk_runs *chunk, uint32_t first_page)
{
    const uint32_t run_pages = zend_sizes[chunk->bin[first_page]].pages;
    uint32_t pages = run_pages;

    while (pages + run_pages <= WINDOW_PAGES &&
           first_page + pages + run_pages <= ZEND_CHUNK_PAGES &&
           chunk->run_start[first_page + pages] == first_page + pages &&
           chunk->bin[first_page + pages] == chunk->bin[first_page]) {
        pages += run_pages;
    }
    return pages;
}

/* The first words of the blocks in so many pages of runs of one bin. */
static int read_words(struct deep_walk *deep, const struct chunk_runs *chunk,
    uint32_t first_page, uint32_t pages)
{
    const struct zend_size *size = &zend_sizes[chunk->bin[first_page]];
    int rc = memory_read_present(deep->walk->memory,
        chunk->address + (uint64_t)first_page * ZEND_PAGE_BYTES, deep->window,
        (size_t)pages * ZEND_PAGE_BYTES);

    for (uint32_t page = 0; rc == 0 && page < pages; page += size->pages) {
        uint64_t *words = deep->words + chunk->first_block[first_page + page];
        for (uint32_t i = 0; i < size->blocks; i++) {
            words[i] =
                zend_word(deep->window, page * ZEND_PAGE_BYTES + i * size->block_bytes);
        }
    }
    return rc;
}

/* Fills words from all runs of the bin. */
static int read_bin_words(struct deep_walk *deep, uint32_t bin)
{
    deep->words = malloc(deep->bin_blocks[bin] * sizeof(*deep->words));
    if (deep->words == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < deep->chunk_count; i++) {
        const struct chunk_runs *chunk = &deep->chunks[i];
        uint32_t page = 1;
        while (page < ZEND_CHUNK_PAGES) {
            if (chunk->run_start[page] != page || chunk->bin[page] != bin) {
                page++;
                continue;
            }
            uint32_t pages = adjacent_pages(chunk, page);
            int rc = read_words(deep, chunk, page, pages);
            if (rc != 0) {
                return rc;
            }
            page += pages;
        }
    }
    return 0;
}

/* What follows the block at address, which is the one of this index in its bin. */
static int next_block(
    struct deep_walk *deep, uint32_t bin, uint32_t index, uint64_t *address)
{
    uint64_t bin_bytes = (uint64_t)deep->bin_blocks[bin] / zend_sizes[bin].blocks *
                         zend_sizes[bin].pages * ZEND_PAGE_BYTES;
    uint64_t read_bytes = deep->walk->memory->bytes_read - deep->bytes_before;

    if (deep->words == NULL && read_bytes > bin_bytes >> READS_SHIFT &&
        deep->bin_blocks[bin] <= WORDS_MAX) {
        int rc = read_bin_words(deep, bin);
        if (rc != 0) {
            return rc;
        }
    }
    if (deep->words == NULL) {
        return page_cache_word(&deep->cache, *address, address);
    }
    *address = deep->words[index];
    return 0;
}

static int walk_bin(
    struct deep_walk *deep, uint64_t first, uint32_t bin, struct zend_heap_facts *heap)
{
    uint32_t index = 0;
    int rc = 0;

    deep->bytes_before = deep->walk->memory->bytes_read;
    for (uint64_t at = first; at != 0 && rc == 0;) {
        rc = count_block(deep, at, bin, &index);
        if (rc == 0) {
            heap->bins[bin].free_blocks++;
            rc = next_block(deep, bin, index, &at);
        }
    }
    free(deep->words);
    deep->words = NULL;
    return rc;
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
        .cache = calloc(walk->note_count, sizeof(void *)),
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
    struct deep_walk deep = {.walk = walk};
    int rc = page_cache_init(&deep.cache, walk->memory, UINT64_MAX);

    deep.chunks = calloc(walk->counters.chunks, sizeof(*deep.chunks));
    deep.window = malloc((size_t)WINDOW_PAGES * ZEND_PAGE_BYTES);
    if (deep.chunks == NULL || deep.window == NULL) {
        rc = -ENOMEM;
    }
    if (rc == 0) {
        rc = note_chunks(&deep);
        rc = rc != 0 ? rc : walk_bins(&deep, heap);
        rc = rc != 0 ? rc : rehearse(&deep, heap);
    }
    free(deep.window);
    page_cache_release(&deep.cache);
    free(deep.chunks);
    return rc;
}
