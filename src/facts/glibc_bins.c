/*
 * glibc_bins.c - follows the bins of an arena.
 *
 * A main arena whose memory is not one piece, because something else moved the break or brk
 * failed and mmap stood in (sysmalloc() in malloc/malloc.c), cannot be walked from its
 * start to its top: nothing tells where its pieces begin. Its bins still list every free
 * chunk; this is how mallinfo2(3) counts. It costs a read for each chunk, so it is the second
 * choice.
 */
#include "facts/glibc_bins.h"

#include <errno.h>

#include "base/number.h"

enum { SIZE_OFFSET = 8, FORWARD_OFFSET = 16 };

static int take_chunk(struct glibc_reader *reader, uint64_t chunk, uint64_t size,
    struct glibc_bin_sums *sums)
{
    const uint64_t page = reader->memory->page_bytes;
    const uint64_t first = glibc_align_up(chunk + GLIBC_CHUNK_STRUCT_BYTES, page);
    const uint64_t last = glibc_align_down(chunk + size, page);
    uint64_t pages = 0;
    int result = first < last
                     ? heap_window_count_resident(&reader->window, first, last, &pages)
                     : 0;

    sums->free_bytes += size;
    sums->free_chunks++;
    sums->resident_pages += pages;
    sums->shared_bytes += size - number_subtract(last, first);
    if (size > sums->largest_bytes) {
        sums->largest_bytes = size;
    }
    return result;
}

/* held bounds the walk: a ring soon has more free bytes than the arena holds. */
static int follow(struct glibc_reader *reader, uint64_t head, uint64_t chunk,
    uint64_t held, struct glibc_bin_sums *sums)
{
    while (chunk != head) {
        uint64_t header = 0, next = 0;
        int result = chunk % GLIBC_CHUNK_ALIGN != 0 || chunk > glibc_maximum_address
                         ? -EBADMSG
                         : page_cache_word(&reader->cache, chunk + SIZE_OFFSET, &header);
        if (result == 0) {
            result = page_cache_word(&reader->cache, chunk + FORWARD_OFFSET, &next);
        }
        if (result == 0 && reader->links_left == 0) {
            result = -EBUSY;
        }
        if (result < 0) {
            return result == -EFAULT || result == -ENODATA ? -EBADMSG : result;
        }
        const uint64_t size = header & ~(uint64_t)GLIBC_SIZE_BITS;
        if (size < GLIBC_CHUNK_MINIMUM_BYTES || size > glibc_maximum_bytes ||
            sums->free_bytes > held) {
            return -EBADMSG;
        }
        result = take_chunk(reader, chunk, size, sums);
        if (result < 0) {
            return result;
        }
        reader->links_left--;
        chunk = next;
    }
    return 0;
}

int glibc_bins_read(struct glibc_reader *reader, uint64_t address, const uint8_t *state,
    struct glibc_bin_sums *sums)
{
    const uint32_t bins = reader->layout->state.bins;
    const uint64_t held = glibc_word(state + reader->layout->state.system_mem);

    *sums = (struct glibc_bin_sums){0};
    page_cache_reset(&reader->cache);
    for (uint32_t i = 0; i < GLIBC_BIN_COUNT; i++) {
        const uint64_t offset = bins + (uint64_t)i * GLIBC_BIN_BYTES;
        int result = follow(reader, address + offset - GLIBC_CHUNK_HEADER_BYTES,
            glibc_word(state + offset), held, sums);
        if (result < 0) {
            return result;
        }
    }
    return 0;
}
