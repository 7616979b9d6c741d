/*
 * glibc_version.c - reads the version of libc out of the target's memory.
 *
 * Only pages that are present are read, since reading others would map them. The texts are
 * in the read-only mappings: .dynstr at the start of the file is present in every dynamic
 * program, for the loader looked symbols up in it. Names of old libraries tell the version
 * themselves: libc-2.31.so. A version only orders the layouts that fit anyway.
 */
#include "facts/glibc_version.h"

#include <string.h>

enum { TEXT_OVERLAP_BYTES = 256, MAXIMUM_MINOR = 99, LIBRARY_MAPPINGS = 16 };

static const char banner[] = "GNU C Library (";
static const char banner_version[] = "version 2.";
static const char symbol_version[] = "GLIBC_2.";
static const char library_name[] = "libc.so.6";
static const char old_library_prefix[] = "libc-2.";

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}

bool glibc_is_library(const char *path)
{
    const char *name = base_name(path);

    return strcmp(name, library_name) == 0 ||
           strncmp(name, old_library_prefix, sizeof(old_library_prefix) - 1) == 0;
}

/* Digits at text; 0 when there are none or too many. */
static uint32_t read_minor(const char *text, const char *end)
{
    uint32_t minor = 0;

    while (text < end && *text >= '0' && *text <= '9') {
        minor = minor * 10 + (uint32_t)(*text - '0');
        if (minor > MAXIMUM_MINOR) {
            return 0;
        }
        text++;
    }
    return minor;
}

static uint32_t find_banner(const char *data, const char *end)
{
    const char *found = memmem(data, (size_t)(end - data), banner, sizeof(banner) - 1);

    if (found == NULL) {
        return 0;
    }
    if (end - found > TEXT_OVERLAP_BYTES) {
        end = found + TEXT_OVERLAP_BYTES;
    }
    found =
        memmem(found, (size_t)(end - found), banner_version, sizeof(banner_version) - 1);
    return found == NULL ? 0 : read_minor(found + sizeof(banner_version) - 1, end);
}

static uint32_t find_symbol_version(const char *data, const char *end)
{
    uint32_t newest = 0;

    for (;;) {
        uint32_t minor;
        data = memmem(
            data, (size_t)(end - data), symbol_version, sizeof(symbol_version) - 1);
        if (data == NULL) {
            return newest;
        }
        data += sizeof(symbol_version) - 1;
        minor = read_minor(data, end);
        if (minor > newest) {
            newest = minor;
        }
    }
}

/* Looks through one mapping; banner and symbols may be found in different ones. */
static void search_mapping(struct glibc_reader *reader, const struct mapping *mapping,
    uint32_t *from_banner, uint32_t *from_symbols)
{
    struct heap_window *window = &reader->window;
    uint64_t at = mapping->start;

    while (at < mapping->end && reader->loads_left > 0) {
        const char *data = (const char *)window->data;
        uint32_t minor;
        reader->loads_left--;
        if (heap_window_load(window, at, mapping->end) < 0) {
            return;
        }
        minor = find_banner(data, data + (window->end - window->start));
        if (minor != 0) {
            *from_banner = minor;
            return;
        }
        minor = find_symbol_version(data, data + (window->end - window->start));
        if (minor > *from_symbols) {
            *from_symbols = minor;
        }
        if (window->end >= mapping->end) {
            return;
        }
        at = window->end - reader->memory->page_bytes; /* a text may lie across */
    }
}

uint32_t glibc_version_minor(struct glibc_reader *reader, const struct mapping *library)
{
    const struct process_facts *process = reader->process;
    const char *name = base_name(library->path);
    uint32_t from_banner = 0, from_symbols = 0, mappings = 0;

    if (strncmp(name, old_library_prefix, sizeof(old_library_prefix) - 1) == 0) {
        name += sizeof(old_library_prefix) - 1;
        return read_minor(name, name + strlen(name));
    }
    for (size_t i = 0; i < process->mapping_count && from_banner == 0; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (strcmp(mapping->path, library->path) == 0 &&
            (mapping->permissions & MAPPING_READ) != 0 &&
            (mapping->permissions & MAPPING_WRITE) == 0 &&
            mappings++ < LIBRARY_MAPPINGS) {
            search_mapping(reader, mapping, &from_banner, &from_symbols);
        }
    }
    return from_banner != 0 ? from_banner : from_symbols;
}
