/* glibc_layout.h - where glibc malloc keeps what, for each release, as data. */
#ifndef STRATA_FACTS_GLIBC_LAYOUT_H
#define STRATA_FACTS_GLIBC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/* Facts of every release on a 64-bit machine (malloc/malloc.c, malloc/arena.c). */
enum {
    GLIBC_CHUNK_ALIGN = 16,
    GLIBC_CHUNK_HEADER_BYTES = 16, /* prev_size, size */
    GLIBC_CHUNK_MINIMUM_BYTES = 32,
    GLIBC_CHUNK_STRUCT_BYTES = 48, /* sizeof(struct malloc_chunk) */
    GLIBC_BIN_COUNT = 127,         /* pairs of pointers in bins[] */
    GLIBC_BIN_BYTES = 16,
    GLIBC_BINS_BYTES = GLIBC_BIN_COUNT * GLIBC_BIN_BYTES,
    GLIBC_FAST_BIN_COUNT = 10,
    GLIBC_STATE_MAXIMUM_BYTES = 0x898,
    GLIBC_TCACHE_MAXIMUM_BINS = 76,
    GLIBC_TCACHE_SMALL_BINS = 64,
    GLIBC_TCACHE_MAXIMUM_BYTES = 760,
    GLIBC_TCACHE_DEFAULT_COUNT = 16, /* 7 up to 2.42 */
};

/* The low bits of a chunk's size word. */
enum glibc_chunk_bit {
    GLIBC_PREV_IN_USE = 1,
    GLIBC_IS_MMAPPED = 2,
    GLIBC_NON_MAIN_ARENA = 4,
    GLIBC_SIZE_BITS = 7,
};

enum glibc_layout_id {
    GLIBC_LAYOUT_2_26,
    GLIBC_LAYOUT_2_27,
    GLIBC_LAYOUT_2_30,
    GLIBC_LAYOUT_2_32,
    GLIBC_LAYOUT_2_35,
    GLIBC_LAYOUT_2_42,
    GLIBC_LAYOUT_2_43,
    GLIBC_LAYOUT_COUNT,
};

/* struct malloc_state: an arena. Offsets in bytes. */
struct glibc_state_layout {
    uint32_t fast_bins; /* 0: this release has none */
    uint32_t top;
    uint32_t last_remainder;
    uint32_t bins;
    uint32_t next;
    uint32_t attached_threads;
    uint32_t system_mem;
    uint32_t max_system_mem;
    uint32_t bytes;
};

/* struct malloc_par: the one mp_. The first five words never moved. */
struct glibc_parameter_layout {
    uint32_t thp_pagesize; /* 0: not in this release */
    uint32_t hp_pagesize;  /* 0: not in this release */
    uint32_t n_mmaps;      /* int; then int n_mmaps_max, max_n_mmaps, no_dyn_threshold */
    uint32_t mmapped_mem;  /* then max_mmapped_mem, sbrk_base */
    uint32_t tcache_bins;  /* then tcache_max_bytes, tcache_count */
    uint32_t bytes;
};

/* struct tcache_perthread_struct. */
struct glibc_tcache_layout {
    uint32_t count_bytes; /* width of one counter: 1 or 2 */
    uint32_t bins;
    uint32_t entries;     /* offset of the pointers */
    uint32_t chunk_bytes; /* of the chunk that holds the struct */
    bool counts_down;     /* counters hold the slots left, not the blocks held */
};

struct glibc_layout {
    uint32_t first_minor; /* of 2.x */
    uint32_t last_minor;
    uint32_t heap_info_bytes;
    bool mangled_links; /* next pointers of fast bins and tcaches: safe-linking */
    uint32_t mmapped_excess_bytes; /* of a mapped block that its size does not count */
    bool heap_follows_hugepage;    /* a heap is 4 * hp_pagesize when that is set */
    struct glibc_state_layout state;
    struct glibc_parameter_layout parameters;
    struct glibc_tcache_layout tcache;
};

extern const struct glibc_layout glibc_layouts[GLIBC_LAYOUT_COUNT];

#endif
