/*
 * glibc_mmapped.c - finds blocks above the mmap threshold.
 *
 * Such a block is a mapping of its own with one chunk in it, whose size word carries IS_MMAPPED
 * alone and whose size is whole pages (sysmalloc_mmap() in malloc/malloc.c). An aligned block
 * begins further inside, but the header at the start of its mapping stays as it was made. The
 * kernel merges neighbouring mappings, newest lowest, so blocks are found by hopping from
 * the start of a mapping over each block to the next. Only where mp_ says that blocks are missing
 * are single pages behind the hops looked at, within a budget.
 */
#include "facts/glibc_mmapped.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/number.h"
#include "facts/present_pages.h"
#include "facts/span_list.h"

enum {
    SCAN_PAGES = 1 << 15,
    SIZE_OFFSET = 8,
    /*
     * A mapping below this holds a block only where the threshold was set lower or the heap
     * could not grow; it is looked at when blocks are missing. A process may have 65,000 of these.
     */
    LIKELY_BYTES = 64 << 10,
};

/* prev_size of the first chunk: 0, and from 2.43 this mark for explicit huge pages. */
static const uint64_t huge_page_mark = 1;

static const char anonymous_prefix[] = "[anon";

struct mmapped_sums {
    uint64_t blocks;
    uint64_t bytes;
    uint64_t resident_bytes;
    uint64_t pages_left; /* of those that may be looked at one by one */
    size_t known_spans;  /* of other owners, settled: no page of theirs is */
};

static bool is_candidate(const struct mapping *mapping)
{
    const uint32_t wanted = MAPPING_READ | MAPPING_WRITE;

    return (mapping->permissions & (wanted | MAPPING_SHARED)) == wanted &&
           mapping->inode == 0 &&
           (mapping->path[0] == '\0' || strncmp(mapping->path, anonymous_prefix,
                                            sizeof(anonymous_prefix) - 1) == 0);
}

uint64_t glibc_mmapped_block(struct glibc_reader *reader, uint64_t address, uint64_t end)
{
    uint64_t before, header, size;

    if (page_cache_word(&reader->cache, address, &before) < 0 ||
        page_cache_word(&reader->cache, address + SIZE_OFFSET, &header) < 0) {
        return 0;
    }
    size = (header & ~(uint64_t)GLIBC_SIZE_BITS) + reader->layout->mmapped_excess_bytes;
    if (before > huge_page_mark || (header & GLIBC_SIZE_BITS) != GLIBC_IS_MMAPPED ||
        size <= GLIBC_CHUNK_HEADER_BYTES || size % reader->memory->page_bytes != 0 ||
        size > end - address) {
        return 0;
    }
    return size;
}

static int add_block(struct glibc_reader *reader, uint64_t address, uint64_t bytes,
    struct mmapped_sums *sums)
{
    const struct span span = {.start = address,
        .end = address + bytes,
        .owner = SPAN_GLIBC_MMAPPED,
        .index = (uint32_t)sums->blocks};
    struct process_facts *process = reader->process;
    int result = span_list_add(reader->memory, reader->region, process, &span);

    if (result == -ENOMEM) {
        return result;
    }
    sums->blocks++;
    sums->bytes += bytes;
    if (result == 0 &&
        process->spans[process->span_count - 1].resident.state == FACT_OK) {
        sums->resident_bytes += process->spans[process->span_count - 1].resident.value;
    }
    return 0;
}

/* Adds the blocks that follow each other from *at on; *at is then behind the last. */
static int hop(
    struct glibc_reader *reader, uint64_t *at, uint64_t end, struct mmapped_sums *sums)
{
    while (*at < end && sums->blocks < GLIBC_MAXIMUM_MMAPPED) {
        const uint64_t bytes = glibc_mmapped_block(reader, *at, end);
        int result;
        if (bytes == 0) {
            return 0;
        }
        result = add_block(reader, *at, bytes, sums);
        if (result < 0) {
            return result;
        }
        *at += bytes;
    }
    return 0;
}

/* Looks at each present page of [at, end), and hops on from every block it meets. */
static int scan(
    struct glibc_reader *reader, uint64_t at, uint64_t end, struct mmapped_sums *sums)
{
    struct present_pages pages;
    int result;

    present_pages_init(&pages, reader->memory);
    while (sums->pages_left > 0) {
        uint64_t page;
        result = present_pages_next(&pages, at, end, &page);
        if (result <= 0) {
            return result;
        }
        at = span_list_behind(reader->process->spans, sums->known_spans, page);
        if (at != page) {
            continue;
        }
        sums->pages_left--;
        result = hop(reader, &at, end, sums);
        if (result < 0) {
            return result;
        }
        at += at == page ? reader->memory->page_bytes : 0;
    }
    return 0;
}

static bool is_complete(
    const struct glibc_reader *reader, const struct mmapped_sums *sums)
{
    const struct glibc_parameters *parameters = &reader->process->glibc.parameters;

    return parameters->state != FACT_OK || sums->blocks >= parameters->mmapped_blocks;
}

/* Heaps of arenas are large and hold no such block: heap_info begins with the arena. */
static bool is_heap(struct glibc_reader *reader, const struct mapping *mapping)
{
    uint64_t arena;

    return mapping->start % reader->heap_bytes == 0 &&
           page_cache_word(&reader->cache, mapping->start, &arena) == 0 &&
           arena % reader->heap_bytes == reader->layout->heap_info_bytes;
}

/* First starts of large mappings and what follows them; then, if need be, the rest. */
static int search(struct glibc_reader *reader, uint64_t *ends, struct mmapped_sums *sums)
{
    const struct process_facts *process = reader->process;
    int result = 0;

    for (size_t i = 0; i < process->mapping_count && result == 0; i++) {
        const struct mapping *mapping = &process->mappings[i];
        ends[i] = mapping->start;
        if (is_candidate(mapping) && mapping->end - mapping->start >= LIKELY_BYTES) {
            result = hop(reader, &ends[i], mapping->end, sums);
        }
    }
    for (size_t i = 0;
         i < process->mapping_count && result == 0 && !is_complete(reader, sums); i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (is_candidate(mapping) && !is_heap(reader, mapping)) {
            result = scan(reader, ends[i], mapping->end, sums);
        }
    }
    return result;
}

static void report(struct glibc_reader *reader, const struct mmapped_sums *sums)
{
    struct glibc_facts *facts = &reader->process->glibc;
    const uint64_t told = facts->parameters.mmapped_bytes;
    const bool known = facts->parameters.state == FACT_OK;
    struct fact found = {.value = sums->bytes, .state = FACT_OK};
    struct fact resident = {.value = sums->resident_bytes, .state = FACT_OK};

    if (!known || told != sums->bytes) {
        found.state = FACT_STALE;
        found.plus_minus = known ? number_subtract(told, sums->bytes) +
                                       number_subtract(sums->bytes, told)
                                 : sums->bytes;
        resident.state = FACT_STALE;
        resident.plus_minus = found.plus_minus;
    }
    facts->mmapped_found_bytes = found;
    facts->mmapped_resident_bytes = resident;
}

int glibc_mmapped_read(struct glibc_reader *reader)
{
    struct mmapped_sums sums = {.pages_left = SCAN_PAGES};
    uint64_t *ends;
    int result;

    ends = malloc((reader->process->mapping_count + 1) * sizeof(*ends));
    if (ends == NULL) {
        return -ENOMEM;
    }
    page_cache_reset(&reader->cache);
    span_list_settle(reader->process->spans, &reader->process->span_count);
    sums.known_spans = reader->process->span_count;
    result = search(reader, ends, &sums);
    free(ends);
    if (result == 0) {
        report(reader, &sums);
    }
    return result;
}
