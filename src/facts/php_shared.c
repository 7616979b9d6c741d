/*
 * php_shared.c - recognises the segments of OPcache and APCu by their headers.
 *
 * OPcache's segment begins with struct zend_smm_shared_globals, whose first field points to
 * the list of segments, which lies in the segment; the first entry of that points to a
 * zend_shared_segment with the segment's size and its own address (php-src
 * ext/opcache/zend_shared_alloc.h and .c, 7.4 to 8.4). The end of the segment is the JIT's
 * where there is one, with a protection and so a mapping of its own. APCu's begins with a lock of the C
 * library, then the segment's size and how much of it is free (apc_sma.c, struct
 * sma_header_t). Where the lock ends differs between libraries, and two numbers are little
 * evidence, so that is only looked for where APCu is loaded.
 */
#include "facts/php_shared.h"

#include <errno.h>
#include <stdbool.h>
#include <string.h>

#include "facts/process_name.h"
#include "facts/span_list.h"

enum {
    HEADER_BYTES = 4096,
    WORD_BYTES = sizeof(uint64_t),
    SEGMENT_WORDS = 5, /* size, end (from 8.0), pos, address: all that versions have */
    LOCK_WORDS_MAX = 16,
    SMALLEST_BYTES = 64 << 10,
};

struct segment {
    uint64_t start;
    uint64_t bytes;
    uint8_t header[HEADER_BYTES];
};

/* The word at an address of the segment's header; 0 outside of it. */
static uint64_t word_at(const struct segment *segment, uint64_t address)
{
    uint64_t word;

    if (address < segment->start || address % WORD_BYTES != 0 ||
        address - segment->start > HEADER_BYTES - WORD_BYTES) {
        return 0;
    }
    memcpy(&word, segment->header + (address - segment->start), sizeof(word));
    return word;
}

/* What the header of OPcache says the segment's size is; 0 when it is no such header. */
static uint64_t opcache_bytes(const struct segment *segment)
{
    const uint64_t list = word_at(segment, segment->start);
    const uint64_t first = word_at(segment, list);

    for (uint64_t i = 1; i < SEGMENT_WORDS; i++) {
        if (word_at(segment, first + i * WORD_BYTES) == segment->start) {
            return word_at(segment, first);
        }
    }
    return 0;
}

static bool is_apcu(const struct segment *segment)
{
    for (uint64_t i = 1; i <= LOCK_WORDS_MAX; i++) {
        const uint64_t at = segment->start + i * WORD_BYTES;
        const uint64_t available = word_at(segment, at + WORD_BYTES);
        if (word_at(segment, at) == segment->bytes) {
            return available > 0 && available < segment->bytes &&
                   available % WORD_BYTES == 0;
        }
    }
    return false;
}

static bool has_apcu(const struct process_facts *process)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        if (strcmp(process_path_base(process->mappings[i].path), "apcu.so") == 0) {
            return true;
        }
    }
    return false;
}

static bool is_shared_anonymous(const struct mapping *mapping)
{
    return (mapping->permissions & MAPPING_SHARED) != 0 &&
           strcmp(mapping->path, "/dev/zero") == 0;
}

static bool may_begin_a_segment(const struct mapping *mapping)
{
    const uint32_t wanted = MAPPING_READ | MAPPING_WRITE;

    return is_shared_anonymous(mapping) && (mapping->permissions & wanted) == wanted &&
           mapping->end - mapping->start >= SMALLEST_BYTES;
}

static bool goes_on(const struct mapping *mapping, const struct mapping *next)
{
    return is_shared_anonymous(next) && next->start == mapping->end &&
           next->inode == mapping->inode && next->device_major == mapping->device_major &&
           next->device_minor == mapping->device_minor;
}

/* How many mappings, from the first on, are the bytes of one segment; 0 when none end there. */
static size_t mappings_of_segment(
    const struct process_facts *process, size_t first, uint64_t bytes)
{
    const struct mapping *mappings = process->mappings;

    for (size_t i = first; i < process->mapping_count; i++) {
        if (mappings[i].end - mappings[first].start == bytes) {
            return i - first + 1;
        }
        if (i + 1 == process->mapping_count || !goes_on(&mappings[i], &mappings[i + 1])) {
            break;
        }
    }
    return 0;
}

int php_shared_read(
    struct memory *memory, struct region *region, struct process_facts *process)
{
    const bool apcu = has_apcu(process);
    size_t next;

    for (size_t i = 0; i < process->mapping_count; i = next) {
        const struct mapping *mapping = &process->mappings[i];
        struct segment segment = {
            .start = mapping->start, .bytes = mapping->end - mapping->start};
        uint32_t owner = SPAN_OPCACHE;

        next = i + 1;
        if (!may_begin_a_segment(mapping) ||
            memory_read_present(
                memory, segment.start, segment.header, sizeof(segment.header)) != 0) {
            continue;
        }
        size_t parts = mappings_of_segment(process, i, opcache_bytes(&segment));
        if (parts == 0 && apcu && is_apcu(&segment)) {
            owner = SPAN_APCU;
            parts = 1;
        }
        for (next = i + (parts > 0 ? parts : 1); parts > 0; parts--, mapping++) {
            struct span span = {
                .start = mapping->start, .end = mapping->end, .owner = owner};
            if (span_list_add(memory, region, process, &span) == -ENOMEM) {
                return -ENOMEM;
            }
        }
    }
    return 0;
}
