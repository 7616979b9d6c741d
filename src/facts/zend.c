/*
 * zend.c - finds the heaps, reads each, notes what they occupy.
 *
 * Main chunks are 2 MiB aligned in private anonymous memory. Mappings merge with their
 * neighbours, so every aligned address inside is tried; a page that is not present is
 * not looked at. A thread-safe PHP has a heap for each thread.
 */
#include "facts/zend.h"

#include <errno.h>
#include <string.h>

#include "facts/span_list.h"
#include "facts/zend_heap.h"
#include "facts/zend_symbols.h"

enum {
    /* The text "PHP/8.2.36" lies in the image's read-only data; how far it is looked for. */
    VERSION_SCAN_BYTES = 8 << 20,
    VERSION_BYTES = 32,
    ZEND_MAX_PLACES = 1 << 18, /* looked at: 512 GiB, when nobody says what is empty */
};

static const char version_mark[] = "X-Powered-By: PHP/";

static bool can_hold_heap(const struct mapping *mapping)
{
    const uint32_t wanted = MAPPING_READ | MAPPING_WRITE;

    return mapping->inode == 0 && (mapping->permissions & wanted) == wanted &&
           (mapping->permissions & MAPPING_SHARED) == 0 &&
           (mapping->path[0] == '\0' || strncmp(mapping->path, "[anon:", 6) == 0);
}

static int add_spans(struct memory *memory, struct region *region,
    struct process_facts *process, const struct zend_pieces *pieces, uint32_t heap)
{
    for (size_t i = 0; i < pieces->count; i++) {
        const struct zend_piece *piece = &pieces->items[i];
        const struct span span = {
            .start = piece->start,
            .end = piece->start + piece->bytes,
            .owner = piece->huge ? SPAN_ZEND_HUGE : SPAN_ZEND_CHUNK,
            .index = heap,
        };
        if (span_list_add(memory, region, process, &span) == -ENOMEM) {
            return -ENOMEM;
        }
    }
    return 0;
}

static struct zend_heap_facts *add_heap(struct region *region, struct zend_facts *zend)
{
    struct zend_heap_facts *heap = region_grow(
        region, &zend->heaps, zend->heap_count, ZEND_MAX_HEAPS, sizeof(*heap));

    if (heap != NULL) {
        *heap = (struct zend_heap_facts){0};
        zend->heap_count++;
        zend->state = FACT_OK;
    }
    return heap;
}

/*
 * The layout of the heap whose main chunk lies at address. A page that was copied while
 * the target changed it may contradict itself, so it is read again some times. 0, -ENOENT
 * (no main chunk there), -EAGAIN (a main chunk in which nothing adds up).
 */
static int find_layout(
    struct memory *memory, uint64_t address, struct zend_layout *layout)
{
    uint8_t page[ZEND_PAGE_BYTES];

    for (int i = 0; i < ZEND_READ_TRIES; i++) {
        if (memory_read_present(memory, address, page, sizeof(page)) != 0) {
            return -ENOENT;
        }
        struct zend_chunk_head head = zend_chunk_head_decode(page);
        if (!zend_is_main_chunk(address, &head)) {
            return -ENOENT;
        }
        if (zend_layout_find(memory, address, page, layout) == 0) {
            return 0;
        }
    }
    return -EAGAIN;
}

/* A heap that is there and cannot be read is told: no heap at all would be a wrong 0. */
static int note_unread(
    struct region *region, struct zend_heap_facts *heap, uint64_t address)
{
    heap->address = address + ZEND_HEAP_SLOT;
    heap->main_chunk = address;
    heap->state = FACT_MALFORMED;
    heap->why = region_copy_text(region,
        "its first chunk is there, but what it counts does not add up: it is very busy, "
        "or of a build that is not known");
    return heap->why == NULL ? -ENOMEM : 0;
}

/* Reads the heap at address if a main chunk lies there. 0 or -ENOMEM. */
static int try_chunk(struct memory *memory, struct region *region,
    struct process_facts *process, uint64_t address)
{
    struct zend_layout layout;
    struct zend_pieces pieces;
    const int found = find_layout(memory, address, &layout);

    if (found == -ENOENT) {
        return 0;
    }
    struct zend_heap_facts *heap = add_heap(region, &process->zend);
    if (heap == NULL) {
        return process->zend.heap_count == ZEND_MAX_HEAPS ? 0 : -ENOMEM;
    }
    if (found != 0) {
        return note_unread(region, heap, address);
    }
    int rc = zend_heap_read(memory, address, &layout, region, heap, &pieces);
    return rc != 0 ? rc
                   : add_spans(memory, region, process, &pieces,
                         (uint32_t)(process->zend.heap_count - 1));
}

/*
 * The next place from *at on where a chunk may begin: aligned, and not in address space that
 * was only reserved, of which some programs have terabytes.
 */
static bool next_place(struct memory *memory, const struct mapping *mapping, uint64_t *at)
{
    const uint64_t mask = ZEND_CHUNK_BYTES - 1;
    uint64_t start;
    uint64_t stop;

    for (;;) {
        *at = (*at + mask) & ~mask;
        if (*at >= mapping->end || mapping->end - *at < ZEND_CHUNK_BYTES ||
            !memory_next_populated(memory, *at, mapping->end, &start, &stop)) {
            return false;
        }
        if (start == *at) {
            return true;
        }
        *at = start;
    }
}

static int find_by_shape(
    struct memory *memory, struct region *region, struct process_facts *process)
{
    size_t places_left = ZEND_MAX_PLACES;

    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (!can_hold_heap(mapping)) {
            continue;
        }
        for (uint64_t at = mapping->start;
             places_left > 0 && next_place(memory, mapping, &at);
             at += ZEND_CHUNK_BYTES, places_left--) {
            int rc = try_chunk(memory, region, process, at);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* php, php8.2, php-fpm8.2, libphp.so, frankenphp: images that may hold the engine. */
static bool may_be_php(const struct mapping *mapping)
{
    const char *slash = strrchr(mapping->path, '/');

    return mapping->inode != 0 && mapping->offset_bytes == 0 && slash != NULL &&
           strstr(slash, "php") != NULL;
}

/* The exported code leads to heap: mark the one found by shape, or note a custom heap. */
static int note_symbol_heap(struct memory *memory, struct region *region,
    struct process_facts *process, uint64_t at)
{
    uint64_t custom;

    for (size_t i = 0; i < process->zend.heap_count; i++) {
        if (process->zend.heaps[i].address == at) {
            process->zend.heaps[i].found_by_symbol = true;
            return 0;
        }
    }
    if (at == 0 || memory_read_word(memory, at, &custom) != 0) {
        return 0;
    }
    struct zend_heap_facts *heap = add_heap(region, &process->zend);
    if (heap == NULL) {
        return -ENOMEM;
    }
    heap->address = at;
    heap->found_by_symbol = true;
    heap->custom = (uint32_t)custom != 0; /* use_custom_heap, the first field */
    heap->state = heap->custom ? FACT_ABSENT : FACT_MALFORMED;
    heap->why = region_copy_text(region,
        heap->custom
            ? "USE_ZEND_ALLOC=0 or handlers of an extension: PHP takes its memory "
              "from malloc and counts none of it"
            : "the engine points at a heap that has not the shape of one");
    return heap->why == NULL ? -ENOMEM : 0;
}

/*
 * Looks for the version in the read-only mappings of the same file, in present pages only.
 * A window is longer than a page, so that a text across a border is seen.
 */
static char *find_version(
    struct memory *memory, struct region *region, const struct mapping *mapping)
{
    char window[ZEND_PAGE_BYTES + VERSION_BYTES];
    uint64_t end = mapping->end;

    if (end - mapping->start > VERSION_SCAN_BYTES) {
        end = mapping->start + VERSION_SCAN_BYTES;
    }
    for (uint64_t at = mapping->start; at < end; at += ZEND_PAGE_BYTES) {
        size_t bytes = end - at < sizeof(window) ? ZEND_PAGE_BYTES : sizeof(window);
        if (memory_read_present(memory, at, window, bytes) != 0) {
            bytes = ZEND_PAGE_BYTES; /* the page behind it may never have been touched */
            if (memory_read_present(memory, at, window, bytes) != 0) {
                continue;
            }
        }
        const char *mark = memmem(window, bytes, version_mark, sizeof(version_mark) - 1);
        if (mark != NULL) {
            mark += sizeof(version_mark) - 1;
            size_t left = bytes - (size_t)(mark - window);
            size_t length = 0;
            while (length < left && mark[length] != '\0' &&
                   strchr("0123456789.", mark[length]) != NULL) {
                length++;
            }
            if (length < left) { /* else its end is not there */
                return region_copy(region, mark, length);
            }
        }
    }
    return NULL;
}

/* Linkers put constants into a segment of their own, or (Debian's, for aarch64) behind the code. */
static void read_version(struct memory *memory, struct region *region,
    struct process_facts *process, const struct mapping *image)
{
    static const uint32_t permissions[] = {MAPPING_READ, MAPPING_READ | MAPPING_EXECUTE};

    for (size_t kind = 0; kind < sizeof(permissions) / sizeof(permissions[0]); kind++) {
        for (size_t i = 0; i < process->mapping_count; i++) {
            const struct mapping *mapping = &process->mappings[i];
            if (process->zend.version == NULL && mapping->inode == image->inode &&
                mapping->device_major == image->device_major &&
                mapping->device_minor == image->device_minor &&
                mapping->permissions == permissions[kind]) {
                process->zend.version = find_version(memory, region, mapping);
            }
        }
    }
}

static int read_symbols(
    struct memory *memory, struct region *region, struct process_facts *process)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        struct zend_symbols symbols;
        if (!may_be_php(mapping) ||
            zend_symbols_read(memory, mapping->start, &symbols) != 0 || !symbols.is_php) {
            continue;
        }
        process->zend.thread_safe = symbols.thread_safe;
        read_version(memory, region, process, mapping);
        return note_symbol_heap(memory, region, process, symbols.heap);
    }
    return 0;
}

int zend_read(struct memory *memory, struct region *region, struct process_facts *process)
{
    process->zend = (struct zend_facts){0};
    int rc = find_by_shape(memory, region, process);
    return rc != 0 ? rc : read_symbols(memory, region, process);
}
