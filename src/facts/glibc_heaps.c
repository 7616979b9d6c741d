/*
 * glibc_heaps.c - where an arena's chunks lie.
 *
 * main_arena grows by sbrk: one extent from sbrk_base to the end of top, as long as nothing
 * else moved the break. When brk fails it continues in mapped pieces (sysmalloc() in
 * malloc/malloc.c), which are not listed anywhere: only the one with top can be told.
 *
 * Another arena has aligned heaps, chained by heap_info.prev from the newest, which holds top,
 * to the first, which holds the malloc_state itself (new_heap(), sysmalloc()). A chain may
 * be torn or forged: each heap must name this arena and be no larger than a heap can be, and
 * all together may not be more than the arena holds. The mappings are of an earlier moment and
 * may lack the newest heaps, so they prove nothing here.
 */
#include "facts/glibc_heaps.h"

#include <errno.h>
#include <stdlib.h>

#include "facts/glibc_find.h"
#include "facts/glibc_mmapped.h"

enum {
    HEAP_ARENA = 0,
    HEAP_PREVIOUS = 8,
    HEAP_SIZE = 16,
    HEAP_WORDS = 3,
    FLAGS_OFFSET = 4,
    NONCONTIGUOUS_FLAG = 2,
    FIRST_CAPACITY = 16,
};

void glibc_extents_init(struct glibc_extents *extents)
{
    *extents = (struct glibc_extents){0};
}

void glibc_extents_release(struct glibc_extents *extents)
{
    free(extents->items);
    *extents = (struct glibc_extents){0};
}

static int append(struct glibc_extents *extents, const struct glibc_extent *extent)
{
    if (extents->count == extents->capacity) {
        const size_t capacity =
            extents->capacity == 0 ? FIRST_CAPACITY : extents->capacity * 2;
        struct glibc_extent *grown = realloc(extents->items, capacity * sizeof(*grown));
        if (grown == NULL) {
            return -ENOMEM;
        }
        extents->items = grown;
        extents->capacity = capacity;
    }
    extents->items[extents->count++] = *extent;
    extents->bytes += extent->end - extent->base;
    return 0;
}

static int refuse(struct glibc_extents *extents, const char *why)
{
    extents->why = why;
    return -EBADMSG;
}

/* The first place at or behind address where a chunk's user memory is aligned. */
static uint64_t first_chunk(uint64_t address)
{
    return glibc_align_up(address + GLIBC_CHUNK_HEADER_BYTES, GLIBC_CHUNK_ALIGN) -
           GLIBC_CHUNK_HEADER_BYTES;
}

static int list_main(struct glibc_reader *reader, const uint8_t *state, uint64_t top,
    uint64_t top_bytes, struct glibc_extents *extents)
{
    const uint64_t held = glibc_word(state + reader->layout->state.system_mem);
    const uint64_t end = top + top_bytes;
    struct glibc_extent extent = {.end = end, .has_top = true};

    if (held > end) {
        return refuse(extents, "the main arena holds more than lies below its top");
    }
    extent.base = end - held;
    extent.start = first_chunk(extent.base);
    if (extent.start > top) {
        return refuse(extents, "the main arena holds less than its top chunk");
    }
    return append(extents, &extent);
}

/* A main arena that brk could not serve alone: its piece made by sbrk, and that of top. */
static int list_pieces(struct glibc_reader *reader, const uint8_t *state, uint64_t top,
    uint64_t top_bytes, struct glibc_extents *extents)
{
    const uint64_t held = glibc_word(state + reader->layout->state.system_mem);
    const uint64_t base = reader->process->glibc.parameters.sbrk_base;
    const struct mapping *heap = base == 0 ? NULL : glibc_mapping_at(reader, base);
    const struct mapping *mapped = glibc_mapping_at(reader, top);
    const uint64_t end = top + top_bytes;
    int result = 0;

    if (heap != NULL && heap != mapped && heap->end - base <= held) {
        const struct glibc_extent piece = {.base = base, .start = base, .end = heap->end};
        result = append(extents, &piece);
    }
    if (result == 0 && mapped != NULL && end <= mapped->end) {
        struct glibc_extent piece = {.base = mapped->start, .end = end, .has_top = true};
        /* Newer blocks taken by mmap may have merged with the piece, at its start. */
        for (uint64_t block = 1; block != 0 && piece.base < top;) {
            block = glibc_mmapped_block(reader, piece.base, top);
            piece.base += block;
        }
        piece.start = piece.base;
        result = append(extents, &piece);
    }
    return result < 0 ? result : -EXDEV;
}

/* One heap of the chain: checks it and gives the next address, 0 behind the last. */
static int list_heap(struct glibc_reader *reader, uint64_t arena, uint64_t heap,
    struct glibc_extent *extent, uint64_t *previous)
{
    uint64_t words[HEAP_WORDS];
    const uint64_t header_bytes = reader->layout->heap_info_bytes;
    uint64_t size;
    int result = memory_read_present(reader->memory, heap, words, sizeof(words));

    if (result < 0) {
        return result == -EFAULT || result == -ENODATA ? -EBADMSG : result;
    }
    size = words[HEAP_SIZE / sizeof(words[0])];
    *previous = words[HEAP_PREVIOUS / sizeof(words[0])];
    if (words[HEAP_ARENA] != arena || size <= header_bytes || size > reader->heap_bytes ||
        size % reader->memory->page_bytes != 0 || *previous % reader->heap_bytes != 0) {
        return -EBADMSG;
    }
    *extent = (struct glibc_extent){.base = heap, .end = heap + size};
    extent->start = heap + header_bytes;
    if (heap + header_bytes == arena) {
        extent->start = first_chunk(arena + reader->layout->state.bytes);
    }
    return extent->start < extent->end ? 0 : -EBADMSG;
}

static int compare_bases(const void *left, const void *right)
{
    const struct glibc_extent *a = left, *b = right;

    return (a->base > b->base) - (a->base < b->base);
}

static int list_heaps(struct glibc_reader *reader, uint64_t arena, const uint8_t *state,
    uint64_t top, struct glibc_extents *extents)
{
    const uint64_t held = glibc_word(state + reader->layout->state.system_mem);
    uint64_t heap = glibc_align_down(top, reader->heap_bytes), previous;

    do {
        struct glibc_extent extent;
        int result = list_heap(reader, arena, heap, &extent, &previous);
        if (result == 0 && extents->count == 0) {
            extent.has_top = true;
            result = top >= extent.start && top < extent.end ? 0 : -EBADMSG;
        }
        if (result == 0) {
            result = append(extents, &extent);
        }
        if (result == -EBADMSG) {
            return refuse(extents, "a heap of the arena is not what it claims to be");
        }
        if (result < 0) {
            return result;
        }
        if (extents->bytes > held || extents->count > GLIBC_MAXIMUM_HEAPS) {
            return refuse(extents, "the heaps are more than the arena holds");
        }
        heap = previous;
    } while (heap != 0);
    qsort(extents->items, extents->count, sizeof(*extents->items), compare_bases);
    return 0;
}

int glibc_extents_list(struct glibc_reader *reader, uint64_t address,
    const uint8_t *state, uint64_t top, uint64_t top_bytes, struct glibc_extents *extents)
{
    extents->count = 0;
    extents->bytes = 0;
    extents->why = NULL;
    if (address != reader->main_arena) {
        return list_heaps(reader, address, state, top, extents);
    }
    if ((glibc_half_word(state + FLAGS_OFFSET) & NONCONTIGUOUS_FLAG) != 0) {
        return list_pieces(reader, state, top, top_bytes, extents);
    }
    return list_main(reader, state, top, top_bytes, extents);
}

static int compare_address(const void *key, const void *item)
{
    const uint64_t address = *(const uint64_t *)key;
    const struct glibc_extent *extent = item;

    return address < extent->base ? -1 : address >= extent->end;
}

struct glibc_extent *glibc_extents_at(
    const struct glibc_extents *extents, uint64_t address)
{
    return extents->count == 0 ? NULL
                               : bsearch(&address, extents->items, extents->count,
                                     sizeof(*extents->items), compare_address);
}
