/*
 * glibc_find.c - main_arena and mp_ by their shape.
 *
 * Distributions strip libc and patch it, so neither symbols nor the version tell where
 * main_arena is. Its bins do: 127 pairs of pointers of which each empty one points at
 * itself, 16 bytes lower (bin_at() in malloc/malloc.c). A place shifted by a pair may pass as
 * well, hence the second proof: next leads round a ring of arenas back to the same struct,
 * and each other arena is at the start of an aligned heap whose heap_info points back
 * at it (malloc/arena.c). The distance of the bins from the struct that closes the ring gives
 * the layout; the size of heap_info and the shape of mp_ narrow it down, and the version
 * only decides between rows that fit.
 *
 * A process that uses another allocator has an all-zero main_arena: nothing is found, which
 * is an answer. Every word read is the target's and may be hostile: the ring is bounded and
 * its loops are noticed.
 */
#include "facts/glibc_find.h"

#include <errno.h>

#include "facts/glibc_parameters.h"
#include "facts/glibc_version.h"
#include "facts_types/facts.h"

enum {
    WORD_BYTES = sizeof(uint64_t),
    SMALLEST_HEAP_BYTES = 4 << 20, /* 4 * hp_pagesize in 2.35 to 2.41; 64 MiB else */
    MAXIMUM_DATA_BYTES = 64 << 20, /* of one mapping that is searched */
    STRUCT_OVERLAP_BYTES = 4096,   /* larger than malloc_state and mp_ */
    NONCONTIGUOUS_FLAG = 2,
    FLAGS_OFFSET = 4,
    MAXIMUM_RANGES = 16,
    OBJECT_ALIGNMENT = 32,
    MIXED_BINS = 4, /* that may change while they are copied */
};

static const char ring_open[] = "the ring of arenas does not close";
static const char ring_astray[] = "the ring of arenas leads to a place that is no arena";
static const char ring_long[] = "there are more arenas than are read";

/* Writable data that is searched: of libc or of the program. */
struct data_ranges {
    const struct mapping *mappings[MAXIMUM_RANGES];
    size_t count;
    bool of_program;
    const struct mapping *library; /* any mapping of the same file */
};

/* A place that looks like main_arena. */
struct candidate {
    uint64_t address;
    const struct glibc_state_layout *state;
    uint32_t heap_info_bytes; /* 0: no other arena, so unknown */
    struct glibc_ring ring;
};

const struct mapping *glibc_mapping_at(
    const struct glibc_reader *reader, uint64_t address)
{
    size_t low = 0, high = reader->process->mapping_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        const struct mapping *mapping = &reader->process->mappings[middle];
        if (address < mapping->start) {
            high = middle;
        } else if (address >= mapping->end) {
            low = middle + 1;
        } else {
            return mapping;
        }
    }
    return NULL;
}

/* ---- where to look */

static bool is_private_data(const struct mapping *mapping)
{
    const uint32_t wanted = MAPPING_READ | MAPPING_WRITE;

    return (mapping->permissions & (wanted | MAPPING_SHARED)) == wanted;
}

static bool is_program(const struct process_facts *process, const struct mapping *mapping)
{
    return mapping->inode != 0 && process->executable != NULL &&
           strcmp(mapping->path, process->executable) == 0;
}

static void add_range(struct data_ranges *ranges, const struct mapping *mapping)
{
    if (ranges->count < MAXIMUM_RANGES) {
        ranges->mappings[ranges->count++] = mapping;
    }
}

/* The writable mappings of the chosen file, and the .bss right behind each. */
static void collect_ranges(
    const struct process_facts *process, struct data_ranges *ranges)
{
    bool behind = false;
    uint64_t end = 0;

    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        const bool chosen = ranges->of_program ? is_program(process, mapping)
                                               : glibc_is_library(mapping->path);
        if (chosen && ranges->library == NULL) {
            ranges->library = mapping;
        }
        if (is_private_data(mapping) &&
            (chosen || (behind && mapping->start == end && mapping->path[0] == '\0'))) {
            add_range(ranges, mapping);
        }
        behind = chosen;
        end = mapping->end;
    }
}

/* ---- main_arena */

/*
 * Pairs that point at themselves, among pairs that are all plausible; 0: these are no bins.
 * own is the target's address of data. A pair that is being changed may be half of each.
 */
static uint32_t count_empty_bins(const uint8_t *data, uint64_t own)
{
    uint32_t empty = 0, mixed = 0;

    for (uint32_t i = 0; i < GLIBC_BIN_COUNT; i++) {
        const uint64_t forward = glibc_word(data + i * GLIBC_BIN_BYTES);
        const uint64_t back = glibc_word(data + i * GLIBC_BIN_BYTES + WORD_BYTES);
        const uint64_t self = own + i * GLIBC_BIN_BYTES - GLIBC_CHUNK_HEADER_BYTES;
        if (forward == self && back == self) {
            empty++;
        } else if (forward == self || back == self) {
            mixed++;
        } else if (forward == 0 || back == 0 ||
                   (forward | back) % GLIBC_CHUNK_ALIGN != 0) {
            return 0;
        }
        if (mixed > MIXED_BINS) {
            return 0;
        }
    }
    return empty;
}

/* The arena at address has its bins where the layout says, at least one of them empty. */
static bool has_bins(
    struct glibc_reader *reader, uint64_t address, const struct glibc_state_layout *state)
{
    uint8_t data[GLIBC_BINS_BYTES];

    return memory_read_present(
               reader->memory, address + state->bins, data, sizeof(data)) == 0 &&
           count_empty_bins(data, address + state->bins) > 0;
}

/* The size of heap_info before an arena that is not main; 0: address is none. */
static uint32_t heap_info_before(struct glibc_reader *reader, uint64_t address)
{
    const uint64_t offset = address % SMALLEST_HEAP_BYTES;
    uint64_t owner;

    for (size_t i = 0; i < GLIBC_LAYOUT_COUNT; i++) {
        const uint32_t bytes = glibc_layouts[i].heap_info_bytes;
        if (offset == bytes &&
            memory_read_word(reader->memory, address - bytes, &owner) == 0 &&
            owner == address) {
            return bytes;
        }
    }
    return 0;
}

static int add_arena(
    struct glibc_reader *reader, struct glibc_ring *ring, uint64_t address)
{
    uint64_t *place = region_grow(
        reader->region, &ring->arenas, ring->count, FACTS_MAX_ARENAS, sizeof(*place));

    if (place == NULL) {
        ring->why = ring_long;
        return ring->count < FACTS_MAX_ARENAS ? -ENOMEM : -E2BIG;
    }
    *place = address;
    ring->count++;
    return 0;
}

/*
 * Follows next from main_arena. A loop that leaves it out is noticed by comparing with an
 * arena that is moved up at each power of two (Brent).
 */
static int follow_ring(struct glibc_reader *reader, struct candidate *candidate)
{
    struct glibc_ring *ring = &candidate->ring;
    uint64_t at = candidate->address, mark = at, next;
    size_t mark_at = 1;

    for (;;) {
        int result = add_arena(reader, ring, at);
        if (result < 0) {
            return result == -E2BIG ? 0 : result;
        }
        if (memory_read_word(reader->memory, at + candidate->state->next, &next) < 0) {
            ring->why = ring_astray;
            return 0;
        }
        if (next == candidate->address) {
            ring->closed = true;
            return 0;
        }
        const uint32_t bytes = heap_info_before(reader, next);
        if (next == mark || bytes == 0 ||
            (candidate->heap_info_bytes != 0 && bytes != candidate->heap_info_bytes) ||
            !has_bins(reader, next, candidate->state)) {
            ring->why = next == mark ? ring_open : ring_astray;
            return 0;
        }
        candidate->heap_info_bytes = bytes;
        if (ring->count == mark_at) {
            mark = next;
            mark_at *= 2;
        }
        at = next;
    }
}

/* The figures of the struct agree with each other, and top is the address of a chunk. */
static bool is_plausible(struct glibc_reader *reader, const struct candidate *candidate)
{
    const struct glibc_state_layout *state = candidate->state;
    uint64_t held, peak, top, header;

    return memory_read_word(
               reader->memory, candidate->address + state->system_mem, &held) == 0 &&
           memory_read_word(
               reader->memory, candidate->address + state->max_system_mem, &peak) == 0 &&
           memory_read_word(reader->memory, candidate->address + state->top, &top) == 0 &&
           held > 0 && held <= peak && peak <= glibc_maximum_bytes &&
           top % GLIBC_CHUNK_ALIGN == 0 && top < glibc_maximum_address &&
           memory_read_word(reader->memory, top + WORD_BYTES, &header) == 0;
}

/* Compilers align large static objects; a struct that starts elsewhere is less likely one. */
static bool is_aligned(const struct candidate *candidate)
{
    return candidate->address % OBJECT_ALIGNMENT == 0;
}

static bool is_better(const struct candidate *candidate, const struct candidate *best)
{
    if (best->address == 0 || candidate->ring.closed) {
        return true;
    }
    if (candidate->ring.count != best->ring.count) {
        return candidate->ring.count > best->ring.count;
    }
    return is_aligned(candidate) && !is_aligned(best);
}

/* Bins were seen at address: which state layout makes them the bins of an arena? */
static int try_layouts(struct glibc_reader *reader, uint64_t bins, struct candidate *best)
{
    const struct glibc_state_layout *tried = NULL;

    for (size_t i = 0; i < GLIBC_LAYOUT_COUNT && !best->ring.closed; i++) {
        const struct glibc_state_layout *state = &glibc_layouts[i].state;
        struct candidate candidate = {.address = bins - state->bins, .state = state};
        if (tried != NULL && tried->bins == state->bins) {
            continue;
        }
        tried = state;
        int result = follow_ring(reader, &candidate);
        if (result < 0) {
            return result;
        }
        /* Bins without a ring prove little: the rest of the struct must make sense. */
        if ((candidate.ring.closed || is_plausible(reader, &candidate)) &&
            is_better(&candidate, best)) {
            *best = candidate;
        }
    }
    return 0;
}

/* Looks at each aligned address of the view at which a whole struct fits. */
static int search_view(
    struct glibc_reader *reader, uint64_t limit, struct candidate *best)
{
    const struct heap_window *window = &reader->window;
    uint64_t found[MAXIMUM_RANGES];
    size_t count = 0;

    for (uint64_t at = window->start;
         at + GLIBC_BINS_BYTES <= window->end && at < limit && count < MAXIMUM_RANGES;
         at += WORD_BYTES) {
        if (count_empty_bins(window->data + (at - window->start), at) > 0) {
            found[count++] = at;
        }
    }
    for (size_t i = 0; i < count; i++) {
        int result = try_layouts(reader, found[i], best);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}

typedef int search_view_function(
    struct glibc_reader *reader, uint64_t limit, void *context);

static int search_arena_view(struct glibc_reader *reader, uint64_t limit, void *context)
{
    struct candidate *best = context;

    return best->ring.closed ? 0 : search_view(reader, limit, best);
}

/* Calls search with views that cover the ranges and overlap by more than any struct. */
static int search_ranges(struct glibc_reader *reader, const struct data_ranges *ranges,
    search_view_function *search, void *context)
{
    for (size_t i = 0; i < ranges->count; i++) {
        const struct mapping *mapping = ranges->mappings[i];
        uint64_t at = mapping->start;
        uint64_t end = mapping->end;
        if (end - at > MAXIMUM_DATA_BYTES) {
            end = at + MAXIMUM_DATA_BYTES;
        }
        while (at < end && reader->loads_left > 0) {
            int result = heap_window_load(&reader->window, at, end);
            reader->loads_left--;
            if (result == 0) {
                result = search(reader, end, context);
            }
            if (result < 0) {
                return result;
            }
            at = reader->window.end >= end ? end
                                           : reader->window.end - STRUCT_OVERLAP_BYTES;
        }
    }
    return 0;
}

/* ---- mp_ and the choice of a row */

struct parameter_search {
    const struct glibc_state_layout *state;
    uint64_t heap_start;
    struct glibc_parameter_match match;
};

static int search_parameter_view(
    struct glibc_reader *reader, uint64_t limit, void *context)
{
    struct parameter_search *search = context;
    const struct heap_window *window = &reader->window;
    const struct glibc_parameter_layout *tried = NULL;

    for (size_t i = 0; i < GLIBC_LAYOUT_COUNT; i++) {
        const struct glibc_layout *layout = &glibc_layouts[i];
        if (layout->state.bins != search->state->bins ||
            (tried != NULL && tried->bytes == layout->parameters.bytes)) {
            continue;
        }
        tried = &layout->parameters;
        for (uint64_t at = window->start;
             at + layout->parameters.bytes <= window->end && at < limit;
             at += WORD_BYTES) {
            glibc_parameters_match(layout, window->data + (at - window->start), at,
                search->heap_start, &search->match);
        }
    }
    return 0;
}

/* Where the main heap began, when sbrk alone made it: the end of top less system_mem. */
static uint64_t heap_start_of(struct glibc_reader *reader, const struct candidate *best)
{
    uint64_t top, header, held, flags;

    if (memory_read_word(reader->memory, best->address, &flags) < 0 ||
        memory_read_word(reader->memory, best->address + best->state->top, &top) < 0 ||
        memory_read_word(reader->memory, best->address + best->state->system_mem, &held) <
            0 ||
        top % GLIBC_CHUNK_ALIGN != 0 || held == 0 ||
        (flags >> (FLAGS_OFFSET * 8) & NONCONTIGUOUS_FLAG) != 0 ||
        memory_read_word(reader->memory, top + WORD_BYTES, &header) < 0) {
        return 0;
    }
    return top + (header & ~(uint64_t)GLIBC_SIZE_BITS) - held;
}

static bool is_row_possible(const struct glibc_layout *row, const struct candidate *best,
    const struct glibc_parameter_match *match)
{
    return row->state.bins == best->state->bins &&
           (best->heap_info_bytes == 0 ||
               row->heap_info_bytes == best->heap_info_bytes) &&
           (match->score == 0 || row->parameters.bytes == match->layout->bytes);
}

/* The size of the first chunk of the main heap, which the first thread's tcache takes. */
static uint64_t first_chunk_bytes(struct glibc_reader *reader, uint64_t heap_start)
{
    const uint64_t chunk = glibc_align_up(heap_start, GLIBC_CHUNK_ALIGN);
    uint64_t header;

    if (heap_start == 0 ||
        memory_read_word(reader->memory, chunk + WORD_BYTES, &header) < 0) {
        return 0;
    }
    return header & ~(uint64_t)GLIBC_SIZE_BITS;
}

/*
 * Of the rows that fit: the one of the release minor, else one whose tcache has the size
 * of the first chunk, else the newest.
 */
static const struct glibc_layout *choose_row(const struct candidate *best,
    const struct glibc_parameter_match *match, uint32_t minor, uint64_t tcache_bytes)
{
    enum { RANK_FITS = 1, RANK_TCACHE = 2, RANK_RELEASE = 4 };
    const struct glibc_layout *chosen = NULL;
    int chosen_rank = 0;

    for (size_t i = 0; i < GLIBC_LAYOUT_COUNT; i++) {
        const struct glibc_layout *row = &glibc_layouts[i];
        int rank = RANK_FITS;
        if (!is_row_possible(row, best, match)) {
            continue;
        }
        rank += row->tcache.chunk_bytes == tcache_bytes ? RANK_TCACHE : 0;
        rank += minor >= row->first_minor && minor <= row->last_minor ? RANK_RELEASE : 0;
        if (rank >= chosen_rank) {
            chosen = row;
            chosen_rank = rank;
        }
    }
    return chosen;
}

static uint64_t heap_bytes_of(struct glibc_reader *reader)
{
    enum { HEAP_HUGE_PAGES = 4 };
    const struct glibc_layout *layout = reader->layout;
    uint64_t page = 0;

    if (layout->heap_follows_hugepage && reader->parameters != 0 &&
        memory_read_word(reader->memory,
            reader->parameters + layout->parameters.hp_pagesize, &page) == 0 &&
        page != 0 && (page & (page - 1)) == 0 && page >= SMALLEST_HEAP_BYTES / 4 &&
        page <= glibc_maximum_bytes / HEAP_HUGE_PAGES) {
        return page * HEAP_HUGE_PAGES;
    }
    return glibc_heap_default_bytes;
}

static int describe(struct glibc_reader *reader, const struct data_ranges *ranges,
    const struct candidate *best, const struct parameter_search *search)
{
    const struct glibc_parameter_match *match = &search->match;
    struct glibc_facts *facts = &reader->process->glibc;
    const uint32_t minor = glibc_version_minor(reader, ranges->library);
    const uint64_t tcache_bytes = first_chunk_bytes(reader, search->heap_start);

    reader->main_arena = best->address;
    reader->parameters = match->address;
    reader->layout = choose_row(best, match, minor, tcache_bytes);
    if (reader->layout == NULL) {
        /* heap_info and mp_ contradict each other: the ring is the stronger proof. */
        const struct glibc_parameter_match none = {0};
        reader->parameters = 0;
        reader->layout = choose_row(best, &none, minor, tcache_bytes);
    }
    if (reader->layout == NULL) {
        return -ENOENT;
    }
    reader->heap_bytes = heap_bytes_of(reader);
    facts->layout = (uint32_t)(reader->layout - glibc_layouts);
    facts->static_binary = ranges->of_program;
    if (minor != 0) {
        facts->version = region_printf(reader->region, "2.%u", minor);
        if (facts->version == NULL) {
            return -ENOMEM;
        }
    }
    return 0;
}

int glibc_find(struct glibc_reader *reader, struct glibc_ring *ring)
{
    struct data_ranges ranges = {0};
    struct candidate best = {0};
    struct parameter_search search = {0};
    int result;

    *ring = (struct glibc_ring){0};
    collect_ranges(reader->process, &ranges);
    if (ranges.library == NULL) {
        ranges.of_program = true;
        collect_ranges(reader->process, &ranges);
    }
    result = search_ranges(reader, &ranges, search_arena_view, &best);
    if (result < 0) {
        return result;
    }
    if (best.address == 0) {
        return -ENOENT;
    }
    search.state = best.state;
    search.heap_start = heap_start_of(reader, &best);
    result = search_ranges(reader, &ranges, search_parameter_view, &search);
    if (result < 0) {
        return result;
    }
    *ring = best.ring;
    return describe(reader, &ranges, &best, &search);
}
