/*
 * zend_heap.c - counters, chunk ring, cached chunks and huge list of one heap.
 *
 * The heap is one thread's own and has no lock; its owner goes on while we read. A walk
 * counts only when the counters in the main chunk's header are the same before and after
 * it and the sums agree: real is chunks plus huge blocks, and the blocks in use implied
 * by the page maps fit into used. Otherwise it is tried again; a heap that never rests is
 * given with the counters of one single read, as stale.
 *
 * Source of the layout: php-src Zend/zend_alloc.c, 7.4 to 8.5; see zend_layout.c.
 */
#include "facts/zend_heap.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "facts/zend_free_lists.h"
#include "facts/zend_map.h"
#include "facts_types/facts.h"

enum {
    USED_OFFSET = 0x10, /* size, peak: the same in all versions */
    PEAK_USED_OFFSET = 0x18,
    UNLIMITED_SHIFT = 62, /* memory_limit=-1 is stored as 2^63-1 (SIZE_MAX >> 1) */
    ROOM_PAGES = 64,      /* an eighth of a chunk: less is no loss worth a count */
    HALF_PAGES = 256,     /* a second run of as many does not fit beside it */
    THIRD_PAGES = 171,
    QUARTER_PAGES = 128,
    THOUSAND = 1000,
    CHUNKS_SANE = 1 << 24,
    SCRATCH_BYTES = 64 << 20, /* notes and pieces of one walk */
};

struct zend_counters zend_counters_decode(
    const uint8_t *page, const struct zend_layout *layout)
{
    const uint8_t *heap = page + ZEND_HEAP_SLOT;
    const uint8_t *real = heap + layout->real_size;
    const uint8_t *main = heap + layout->main_chunk;
    struct zend_counters counters = {
        .used_bytes = zend_word(heap, USED_OFFSET),
        .peak_used_bytes = zend_word(heap, PEAK_USED_OFFSET),
        .real_bytes = zend_word(real, 0),
        .peak_real_bytes = zend_word(real, 8),
        .limit_bytes = zend_word(real, 0x10),
        .hard_limit_bytes =
            layout->hard_limit == 0 ? 0 : zend_word(heap, layout->hard_limit),
        .huge_list = zend_word(heap, layout->main_chunk - 8),
        .cached_list = zend_word(main, 8),
        .chunks = zend_half_word(main, 0x10),
        .peak_chunks = zend_half_word(main, 0x14),
        .cached_chunks = zend_half_word(main, 0x18),
        .delete_boundary = zend_half_word(main, 0x28),
        .delete_count = zend_half_word(main, 0x2c),
    };
    memcpy(&counters.average_chunks, main + 0x20, sizeof(counters.average_chunks));
    if (!(counters.average_chunks >= 0 && counters.average_chunks < CHUNKS_SANE)) {
        counters.average_chunks = 0; /* not a number: no heap we know */
    }
    return counters;
}

static bool counters_equal(const struct zend_counters *a, const struct zend_counters *b)
{
    return a->used_bytes == b->used_bytes && a->real_bytes == b->real_bytes &&
           a->chunks == b->chunks && a->cached_chunks == b->cached_chunks &&
           a->huge_list == b->huge_list && a->cached_list == b->cached_list;
}

static bool counters_sane(const struct zend_counters *counters)
{
    return counters->used_bytes <= counters->real_bytes &&
           counters->used_bytes <= counters->peak_used_bytes &&
           counters->real_bytes <= counters->peak_real_bytes && counters->chunks >= 1 &&
           counters->chunks <= ZEND_MAX_CHUNKS &&
           counters->cached_chunks <= ZEND_MAX_CHUNKS;
}

static uint64_t distance(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

static int read_counters(const struct zend_walk *walk, struct zend_counters *counters)
{
    uint8_t page[ZEND_PAGE_BYTES];
    int rc = memory_read_present(walk->memory, walk->main_chunk, page, sizeof(page));

    if (rc != 0) {
        return rc;
    }
    *counters = zend_counters_decode(page, walk->layout);
    return counters_sane(counters) ? 0 : -EINVAL;
}

/* Adds the resident pages of [address, address + bytes); a state that is not ok stays. */
static uint64_t count_resident(
    struct memory *memory, uint64_t address, uint64_t bytes, struct zend_heap_facts *heap)
{
    uint64_t pages;

    if (heap->resident_state != FACT_OK) {
        return 0;
    }
    if (memory_count_present(memory, address, address + bytes, &pages) != 0) {
        heap->resident_state = FACT_ABSENT;
        return 0;
    }
    return pages * memory->page_bytes;
}

static void tally_run(struct zend_heap_facts *heap, const struct zend_run *run)
{
    const struct zend_size *size;
    struct zend_bin *bin;

    switch (run->kind) {
    case ZEND_RUN_FREE:
        heap->free_pages += run->pages;
        if (run->pages > heap->largest_free_pages) {
            heap->largest_free_pages = run->pages;
        }
        break;
    case ZEND_RUN_LARGE:
        heap->large_pages += run->pages;
        heap->large_runs++;
        break;
    case ZEND_RUN_SMALL:
        size = &zend_sizes[run->bin];
        bin = &heap->bins[run->bin];
        bin->runs++;
        bin->pages += run->pages;
        bin->blocks += size->blocks;
        heap->small_pages += run->pages;
        heap->run_tail_bytes += (uint64_t)run->pages * ZEND_PAGE_BYTES -
                                (uint64_t)size->blocks * size->block_bytes;
        break;
    }
}

static void tally_cliff(
    struct zend_heap_facts *heap, uint32_t largest_run_pages, uint32_t free_pages)
{
    if (free_pages < ROOM_PAGES) {
        return;
    }
    if (largest_run_pages >= HALF_PAGES) {
        heap->half_chunks++;
    } else if (largest_run_pages >= THIRD_PAGES) {
        heap->third_chunks++;
    } else if (largest_run_pages >= QUARTER_PAGES) {
        heap->quarter_chunks++;
    }
}

static uint32_t resident_pages_of(
    const uint8_t *bits, uint32_t first_page, uint32_t pages)
{
    uint32_t resident = 0;

    for (uint32_t i = first_page; i < first_page + pages; i++) {
        resident += (bits[i] & PAGE_PRESENT) != 0;
    }
    return resident;
}

/* Adds one chunk of the ring to the sums. */
static int tally_chunk(struct zend_walk *walk, struct zend_heap_facts *heap,
    const uint8_t *page, struct zend_chunk_note *note)
{
    uint8_t bits[ZEND_CHUNK_PAGES] = {0};
    struct zend_map map;
    struct zend_run run;
    uint32_t largest = 0;
    uint32_t free_pages = 0;
    int rc;

    if (heap->resident_state == FACT_OK &&
        memory_pages(walk->memory, note->address, ZEND_CHUNK_PAGES, bits) != 0) {
        heap->resident_state = FACT_ABSENT;
    }
    zend_map_begin(&map, page, walk->layout->free_map, walk->layout->page_map);
    while ((rc = zend_map_next(&map, &run)) == 1) {
        tally_run(heap, &run);
        if (run.kind == ZEND_RUN_FREE) {
            free_pages += run.pages;
            heap->free_resident_bytes +=
                (uint64_t)resident_pages_of(bits, run.first_page, run.pages) *
                ZEND_PAGE_BYTES;
        } else if (run.kind == ZEND_RUN_LARGE && run.pages > largest) {
            largest = run.pages;
        }
    }
    tally_cliff(heap, largest, free_pages);
    note->resident_pages = resident_pages_of(bits, 0, ZEND_CHUNK_PAGES);
    heap->resident_bytes += (uint64_t)note->resident_pages * ZEND_PAGE_BYTES;
    return rc == 0 && free_pages == note->free_pages ? 0 : -EINVAL;
}

static int add_piece(struct zend_walk *walk, uint64_t start, uint64_t bytes, bool huge)
{
    if (walk->pieces.count >= FACTS_MAX_SPANS) {
        return -EFBIG;
    }
    struct zend_piece *piece = region_grow(walk->region, &walk->pieces.items,
        walk->pieces.count, FACTS_MAX_SPANS, sizeof(*piece));

    if (piece == NULL) {
        return -ENOMEM;
    }
    *piece = (struct zend_piece){.start = start, .bytes = bytes, .huge = huge};
    walk->pieces.count++;
    return 0;
}

static struct zend_chunk_note *add_note(struct zend_walk *walk, uint64_t address)
{
    struct zend_chunk_note *note = region_grow(walk->region, &walk->notes,
        walk->note_count, 2 * (size_t)ZEND_MAX_CHUNKS, sizeof(*note));

    if (note == NULL || add_piece(walk, address, ZEND_CHUNK_BYTES, false) != 0) {
        return NULL;
    }
    *note = (struct zend_chunk_note){.address = address};
    walk->note_count++;
    return note;
}

static int walk_ring(struct zend_walk *walk, struct zend_heap_facts *heap)
{
    uint64_t at = walk->main_chunk;
    uint64_t previous = 0;

    for (uint32_t i = 0; i < walk->counters.chunks; i++) {
        uint8_t page[ZEND_PAGE_BYTES];
        int rc = memory_read_present(walk->memory, at, page, sizeof(page));
        if (rc != 0) {
            return rc;
        }
        struct zend_chunk_head head = zend_chunk_head_decode(page);
        if (head.heap != walk->main_chunk + ZEND_HEAP_SLOT ||
            (i > 0 && head.previous != previous) || head.next % ZEND_CHUNK_BYTES != 0) {
            return -EINVAL;
        }
        struct zend_chunk_note *note = add_note(walk, at);
        if (note == NULL) {
            return -ENOMEM;
        }
        note->number = head.number;
        note->free_pages = head.free_pages;
        rc = tally_chunk(walk, heap, page, note);
        if (rc != 0) {
            return rc;
        }
        previous = at;
        at = head.next;
    }
    return at == walk->main_chunk ? 0 : -EINVAL;
}

static int walk_cached(struct zend_walk *walk, struct zend_heap_facts *heap)
{
    uint64_t at = walk->counters.cached_list;

    for (uint32_t i = 0; i < walk->counters.cached_chunks; i++) {
        uint8_t bytes[0x28];
        if (at == 0 || at % ZEND_CHUNK_BYTES != 0) {
            return -EINVAL;
        }
        int rc = memory_read_present(walk->memory, at, bytes, sizeof(bytes));
        if (rc != 0) {
            return rc;
        }
        struct zend_chunk_note *note = add_note(walk, at);
        if (note == NULL) {
            return -ENOMEM;
        }
        uint64_t resident = count_resident(walk->memory, at, ZEND_CHUNK_BYTES, heap);
        note->cached = true;
        note->number = zend_half_word(bytes, 0x20);
        note->resident_pages = (uint32_t)(resident / ZEND_PAGE_BYTES);
        heap->cached_resident_bytes += resident;
        heap->resident_bytes += resident;
        at = zend_word(bytes, 8);
    }
    return at == 0 ? 0 : -EINVAL;
}

static int walk_huge(struct zend_walk *walk, struct zend_heap_facts *heap)
{
    struct zend_huge_sum sum;
    int rc = zend_huge_list_sum(walk->memory, walk->counters.huge_list, &sum);
    uint64_t at = walk->counters.huge_list;

    if (rc != 0 || sum.bytes > walk->counters.real_bytes) {
        return rc != 0 ? rc : -EINVAL;
    }
    for (uint64_t i = 0; i < sum.blocks; i++) {
        struct zend_huge_node node;
        rc = zend_huge_node_read(walk->memory, at, &node);
        if (rc != 0 || node.bytes > walk->counters.real_bytes) {
            return rc != 0 ? rc : -EINVAL;
        }
        rc = add_piece(walk, node.block, node.bytes, true);
        if (rc != 0) {
            return rc;
        }
        heap->huge_resident_bytes +=
            count_resident(walk->memory, node.block, node.bytes, heap);
        at = node.next;
    }
    heap->huge_blocks = sum.blocks;
    heap->huge_bytes = sum.bytes;
    heap->resident_bytes += heap->huge_resident_bytes;
    return 0;
}

/* What small blocks take: used less what is large and huge; the rest of the runs is free. */
static int split_small(struct zend_heap_facts *heap)
{
    uint64_t chunk_bytes = (heap->chunks + heap->cached_chunks) * ZEND_CHUNK_BYTES;
    uint64_t blocks_bytes = heap->small_pages * ZEND_PAGE_BYTES - heap->run_tail_bytes;
    uint64_t other = heap->large_pages * ZEND_PAGE_BYTES + heap->huge_bytes;

    if (heap->used_bytes < other || heap->used_bytes - other > blocks_bytes ||
        heap->real_bytes > chunk_bytes + heap->huge_bytes ||
        (chunk_bytes + heap->huge_bytes - heap->real_bytes) % ZEND_CHUNK_BYTES != 0) {
        return -EINVAL;
    }
    heap->small_live_bytes = heap->used_bytes - other;
    heap->small_free_bytes = blocks_bytes - heap->small_live_bytes;
    return 0;
}

static void store_counters(const struct zend_walk *walk, struct zend_heap_facts *heap)
{
    const struct zend_counters *counters = &walk->counters;

    *heap = (struct zend_heap_facts){
        .address = walk->main_chunk + ZEND_HEAP_SLOT,
        .main_chunk = walk->main_chunk,
        .state = FACT_OK,
        .resident_state = FACT_OK,
        .used_bytes = counters->used_bytes,
        .real_bytes = counters->real_bytes,
        .peak_used_bytes = counters->peak_used_bytes,
        .peak_real_bytes = counters->peak_real_bytes,
        .chunks = counters->chunks,
        .peak_chunks = counters->peak_chunks,
        .cached_chunks = counters->cached_chunks,
        .average_chunks_thousandths = (uint64_t)(counters->average_chunks * THOUSAND),
    };
    if (counters->limit_bytes >> UNLIMITED_SHIFT == 0) {
        heap->limit_bytes =
            (struct fact){.value = counters->limit_bytes, .state = FACT_OK};
    }
    if (counters->hard_limit_bytes != 0 &&
        counters->hard_limit_bytes >> UNLIMITED_SHIFT == 0) {
        heap->hard_limit_bytes =
            (struct fact){.value = counters->hard_limit_bytes, .state = FACT_OK};
    }
    heap->bins = walk->bins;
    heap->bin_count = ZEND_BIN_COUNT;
    for (size_t i = 0; i < ZEND_BIN_COUNT; i++) {
        heap->bins[i] = (struct zend_bin){.block_bytes = zend_sizes[i].block_bytes};
    }
}

/* One walk. 0, -EAGAIN when the heap moved or the sums do not fit, or -errno. */
static int walk_once(struct zend_walk *walk, struct zend_heap_facts *heap)
{
    struct zend_counters after;
    int rc = read_counters(walk, &walk->counters);

    if (rc != 0) {
        return rc == -EINVAL ? -EAGAIN : rc;
    }
    store_counters(walk, heap);
    walk->notes = NULL;
    walk->note_count = 0;
    walk->pieces = (struct zend_pieces){0};
    rc = walk_ring(walk, heap);
    rc = rc != 0 ? rc : walk_cached(walk, heap);
    rc = rc != 0 ? rc : walk_huge(walk, heap);
    rc = rc != 0 ? rc : split_small(heap);
    if (rc == -ENOMEM) {
        return rc;
    }
    int after_rc = read_counters(walk, &after);
    if (after_rc != 0) {
        return after_rc == -EINVAL ? -EAGAIN : after_rc;
    }
    heap->plus_minus_bytes = distance(after.used_bytes, walk->counters.used_bytes);
    if (distance(after.real_bytes, walk->counters.real_bytes) > heap->plus_minus_bytes) {
        heap->plus_minus_bytes = distance(after.real_bytes, walk->counters.real_bytes);
    }
    if (rc != 0 || !counters_equal(&walk->counters, &after)) {
        return -EAGAIN;
    }
    return 0;
}

static void read_deep(struct zend_walk *walk, struct zend_heap_facts *heap)
{
    struct zend_counters after;

    if (heap->chunks + heap->cached_chunks > ZEND_MAX_DEEP_CHUNKS) {
        heap->deep_state = FACT_ABSENT;
        heap->deep_why = region_copy_text(
            walk->region, "the heap is too large to walk its free lists");
        return;
    }
    int rc = zend_free_lists_read(walk, heap);
    if (rc == 0 &&
        (read_counters(walk, &after) != 0 || !counters_equal(&walk->counters, &after))) {
        rc = -EAGAIN;
    }
    heap->deep_state = rc == 0 ? FACT_OK : FACT_STALE;
    if (rc != 0) {
        heap->deep_why =
            region_copy_text(walk->region, "the free lists changed while they were read; "
                                           "try again when the worker is idle");
    }
}

static void store_failure(struct zend_walk *walk, int rc, struct zend_heap_facts *heap)
{
    struct zend_counters now;

    if (rc == -EAGAIN && read_counters(walk, &now) == 0) {
        uint64_t plus_minus = heap->plus_minus_bytes;
        walk->counters = now;
        store_counters(walk, heap);
        heap->bins = NULL;
        heap->bin_count = 0;
        heap->plus_minus_bytes = plus_minus;
        heap->state = FACT_STALE;
        heap->resident_state = FACT_ABSENT;
        heap->deep_state = FACT_ABSENT;
        heap->why = region_printf(walk->region,
            "the heap changed during each of %d walks: its counters are from one read, "
            "the page map is left out",
            ZEND_READ_TRIES);
        return;
    }
    heap->state = rc == -EAGAIN || rc == -EINVAL ? FACT_MALFORMED : FACT_GONE;
    heap->why = region_copy_text(walk->region,
        heap->state == FACT_GONE ? "the heap could not be read: it was unmapped meanwhile"
                                 : "what lies at its address contradicts itself");
}

static int copy_pieces(
    const struct zend_pieces *from, struct region *region, struct zend_pieces *to)
{
    *to = (struct zend_pieces){0};
    if (from->count == 0) {
        return 0;
    }
    to->items = region_alloc(region, from->count * sizeof(*to->items));
    if (to->items == NULL) {
        return -ENOMEM;
    }
    memcpy(to->items, from->items, from->count * sizeof(*to->items));
    to->count = from->count;
    return 0;
}

int zend_heap_read(struct memory *memory, uint64_t main_chunk,
    const struct zend_layout *layout, struct region *region, struct zend_heap_facts *heap,
    struct zend_pieces *pieces)
{
    struct region scratch;
    struct zend_walk walk = {.memory = memory,
        .layout = layout,
        .main_chunk = main_chunk,
        .region = &scratch,
        .bins = region_alloc(region, ZEND_BIN_COUNT * sizeof(*walk.bins))};
    int rc = walk.bins == NULL ? -ENOMEM : -EAGAIN;

    *heap = (struct zend_heap_facts){
        .address = main_chunk + ZEND_HEAP_SLOT, .main_chunk = main_chunk};
    region_init(&scratch, SCRATCH_BYTES);
    for (int i = 0; i < ZEND_READ_TRIES && rc == -EAGAIN; i++) {
        region_release(&scratch);
        rc = walk_once(&walk, heap);
    }
    if (rc == 0) {
        heap->plus_minus_bytes = 0;
        read_deep(&walk, heap);
    } else if (rc != -ENOMEM) {
        store_failure(&walk, rc, heap);
    }
    heap->why = region_copy_text(region, heap->why);
    heap->deep_why = region_copy_text(region, heap->deep_why);
    rc = rc == -ENOMEM ? rc : copy_pieces(&walk.pieces, region, pieces);
    region_release(&scratch);
    return rc;
}
