/* glibc_facts.h - what was read of glibc malloc in another process. */
#ifndef STRATA_FACTS_TYPES_GLIBC_FACTS_H
#define STRATA_FACTS_TYPES_GLIBC_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts_types/fact.h"

/*
 * One arena. Every byte count is valid when state is FACT_OK or FACT_STALE.
 * held == in_use + free + fast + top + overhead, where overhead is arena header, heap_info
 * and fence posts. Names as in malloc_info(3): held is "system current".
 */
struct glibc_arena {
    uint64_t address;
    bool main;
    bool contiguous; /* main arena grown by sbrk only */
    uint32_t state;  /* enum fact_state */
    char *why;       /* when state is not ok */
    uint64_t plus_minus_bytes;
    uint64_t held_bytes; /* system_mem */
    uint64_t held_peak_bytes;
    uint64_t
        in_use_bytes; /* chunks handed out, tcached ones included, headers included */
    uint64_t in_use_chunks; /* 0 with bytes in use: a main heap of several pieces */
    uint64_t free_bytes;    /* free chunks, without fast bins and without top */
    uint64_t free_chunks;
    uint64_t fast_bytes;
    uint64_t fast_chunks;
    uint64_t top_bytes;
    uint64_t overhead_bytes;
    uint64_t largest_free_bytes;
    uint64_t heap_count; /* 64 MiB heaps; 1 for the main arena */
    uint64_t attached_threads;
    uint64_t cached_bytes; /* in tcaches: part of in_use */
    uint64_t cached_chunks;
    /* From pagemap; state separately, since pagemap may be denied. */
    uint32_t resident_state;      /* enum fact_state of the five below */
    uint64_t resident_bytes;      /* of the whole arena */
    uint64_t free_resident_bytes; /* whole resident pages inside free and fast chunks */
    uint64_t
        trim_gain_bytes; /* of these and of the main top: what malloc_trim(0) gives back */
    uint64_t top_resident_bytes;  /* resident whole pages of top */
    uint64_t top_trimmable_bytes; /* part of trim_gain that is the main arena's top */
    /*
     * Free bytes, of free and fast chunks and of top, on pages that hold something else
     * too: resident as long as that is. With the whole pages and those that are not
     * resident they make up free + fast + top. Absent in captures of earlier versions.
     */
    struct fact free_shared_bytes;
    /*
     * What pins the main heap: above its largest stretch of free chunks, of 128 KiB or
     * more, lie blocks in use of at most a quarter of its size. Without them top would reach
     * down to that stretch.
     */
    uint64_t pin_address;       /* of the lowest of these blocks; 0: none */
    uint64_t pin_bytes;         /* in use between the stretch and top */
    uint64_t pinned_free_bytes; /* free in the stretch and above it, without top */
};

/* struct malloc_par. */
struct glibc_parameters {
    uint32_t state; /* enum fact_state */
    uint64_t trim_threshold_bytes;
    uint64_t top_pad_bytes;
    uint64_t mmap_threshold_bytes;
    uint64_t arena_test;
    uint64_t arena_max; /* 0: not set */
    uint64_t mmapped_blocks;
    uint64_t mmapped_blocks_peak;
    uint64_t mmapped_bytes;
    uint64_t mmapped_peak_bytes;
    uint64_t sbrk_base;
    uint64_t tcache_bins;
    uint64_t tcache_max_bytes;
    uint64_t tcache_count;
    uint64_t thp_pagesize_bytes; /* 0: huge pages not asked for */
    bool dynamic_threshold_off;  /* no_dyn_threshold */
};

struct glibc_facts {
    uint32_t state;  /* enum fact_state; absent: no glibc malloc ran in this process */
    char *why;       /* when state is not ok */
    char *version;   /* "2.36", from the library's own text; NULL when unknown */
    uint32_t layout; /* enum glibc_layout of the reader, for captures */
    bool static_binary;
    struct glibc_parameters parameters;
    struct glibc_arena *arenas;
    size_t arena_count;
    struct fact mmapped_found_bytes; /* sum of the blocks found by walking */
    struct fact mmapped_resident_bytes;
    struct fact tcaches;      /* threads with a cache that was found */
    struct fact tcache_bytes; /* in all of them */
};

#endif
