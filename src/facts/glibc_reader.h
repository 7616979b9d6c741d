/* glibc_reader.h - what the parts of the glibc reader share while one process is read. */
#ifndef STRATA_FACTS_GLIBC_READER_H
#define STRATA_FACTS_GLIBC_READER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "base/region.h"
#include "facts/glibc_layout.h"
#include "facts/heap_window.h"
#include "facts/memory.h"
#include "facts/page_cache.h"
#include "facts_types/process_facts.h"

/* What one reading may cost, whatever the target holds. */
enum {
    GLIBC_MAXIMUM_HEAPS = 1 << 16,   /* heaps of one arena: 4 TiB */
    GLIBC_MAXIMUM_TCACHES = 1 << 15, /* candidates in the whole process */
    GLIBC_MAXIMUM_MMAPPED = 1 << 18, /* blocks taken by mmap; glibc's default: 65536 */
    GLIBC_CHASE_PAGES = 1 << 17,     /* pages read while links are followed */
    GLIBC_CHASE_LINKS = 1 << 24,     /* links followed in all */
    GLIBC_CHASE_BLOCKS = 1 << 19,    /* blocks in caches of threads, likewise */
    GLIBC_SWEEP_FACTOR = 2,          /* times that fast bins may read all of it, */
    GLIBC_SWEEP_EXTRA_MIB = 1024,    /* and what they may read besides */
    GLIBC_WINDOWS_EXTRA = 1 << 15,   /* loads besides those for all that is mapped */
    GLIBC_WINDOWS_FACTOR = 6,        /* times that all of it may be loaded */
};

/* A chunk is never larger than the address space; larger sizes are rubbish. */
static const uint64_t glibc_maximum_bytes = UINT64_C(1) << 46;

/* User addresses end below this on every 64-bit machine; above, sums could wrap. */
static const uint64_t glibc_maximum_address = UINT64_C(1) << 56;

/* 64 MiB: 2 * DEFAULT_MMAP_THRESHOLD_MAX, malloc/arena.c. */
static const uint64_t glibc_heap_default_bytes = UINT64_C(64) << 20;

struct glibc_reader {
    struct memory *memory;
    struct process_facts *process; /* mappings in, spans and glibc out */
    struct region *region;         /* owns what is put into process */
    const struct glibc_layout *layout;
    uint64_t parameters; /* address of mp_; 0: not found */
    uint64_t main_arena;
    uint64_t heap_bytes; /* size and alignment of a heap of another arena */
    struct heap_window window;
    struct page_cache cache;
    uint64_t loads_left; /* windows that may still be loaded: bounds the whole reading */
    uint64_t sweep_bytes_left; /* that may still be loaded to follow fast bins */
    uint64_t links_left;       /* links that may still be followed */
    uint64_t blocks_left;      /* in caches of threads, that may still be read */
    uint64_t tcache_limit;     /* blocks that one bin of a tcache may hold */
    uint64_t *tcaches;         /* chunks that may be a tcache, from the walks */
    size_t tcache_count;
    uint64_t *regions; /* starts of mapped pieces of the main arena */
    size_t region_count;
};

/* The little-endian word at data, which need not be aligned. */
static inline uint64_t glibc_word(const uint8_t *data)
{
    uint64_t word;

    memcpy(&word, data, sizeof(word));
    return word;
}

static inline uint32_t glibc_half_word(const uint8_t *data)
{
    uint32_t word;

    memcpy(&word, data, sizeof(word));
    return word;
}

static inline uint64_t glibc_align_up(uint64_t value, uint64_t alignment)
{
    return (value + alignment - 1) / alignment * alignment;
}

static inline uint64_t glibc_align_down(uint64_t value, uint64_t alignment)
{
    return value / alignment * alignment;
}

#endif
