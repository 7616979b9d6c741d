/* zend_facts.h - what was read of PHP's memory manager (Zend MM) in another process. */
#ifndef STRATA_FACTS_TYPES_ZEND_FACTS_H
#define STRATA_FACTS_TYPES_ZEND_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts_types/fact.h"

enum { ZEND_BIN_COUNT = 30, ZEND_MAX_HEAPS = 4096 };

/* One size class of small blocks. */
struct zend_bin {
    uint64_t block_bytes;
    uint64_t runs;
    uint64_t pages;
    uint64_t blocks;      /* in all runs, free or not */
    uint64_t free_blocks; /* on the free list; valid when the heap's deep_state is ok */
};

/*
 * One heap. The counters are the heap's own, under the names of memory_get_usage(): used
 * without and real with the argument true. All byte counts are valid when state is FACT_OK
 * or FACT_STALE. real == small_live + small_free + run_tail + large + free_pages
 * + headers + cached + huge, to the byte, when state is ok.
 */
struct zend_heap_facts {
    uint64_t address;    /* of struct _zend_mm_heap */
    uint64_t main_chunk; /* 0: custom handlers, no chunk */
    uint32_t state;      /* enum fact_state */
    char *why;
    uint64_t plus_minus_bytes; /* of used and real, when state is stale */
    bool custom;          /* USE_ZEND_ALLOC=0 or handlers of an extension: no counters */
    bool found_by_symbol; /* the exported functions lead to this heap too */
    uint64_t used_bytes;
    uint64_t real_bytes;
    uint64_t peak_used_bytes;
    uint64_t peak_real_bytes;
    struct fact limit_bytes;      /* memory_limit; absent when it is -1 */
    struct fact hard_limit_bytes; /* builds of October 2026 and later */
    uint64_t chunks;
    uint64_t peak_chunks;
    uint64_t cached_chunks;
    uint64_t average_chunks_thousandths; /* the decaying average that trims the cache */

    uint64_t small_pages; /* pages of all small runs */
    uint64_t small_live_bytes;
    uint64_t small_free_bytes; /* blocks on the free lists */
    uint64_t run_tail_bytes;   /* what is left over at the end of small runs */
    uint64_t large_pages;
    uint64_t large_runs;
    uint64_t free_pages;         /* in chunks of the ring, without cached chunks */
    uint64_t largest_free_pages; /* longest run of free pages in one chunk */
    uint64_t huge_blocks;
    uint64_t huge_bytes;
    /* The cliffs: chunks with room (64 pages and more) no second such run fits into. */
    uint64_t half_chunks;    /* one run of 256 pages or more */
    uint64_t third_chunks;   /* largest run of 171 to 255 pages */
    uint64_t quarter_chunks; /* largest run of 128 to 170 pages */

    uint32_t resident_state;        /* enum fact_state of the four below, from pagemap */
    uint64_t resident_bytes;        /* of chunks, cached chunks and huge blocks */
    uint64_t free_resident_bytes;   /* free pages of the ring that are resident */
    uint64_t cached_resident_bytes; /* cached chunks */
    uint64_t huge_resident_bytes;

    uint32_t
        deep_state; /* enum fact_state: were the free lists walked on a quiet heap? */
    char *deep_why;
    struct zend_bin *bins; /* ZEND_BIN_COUNT; none without a page map */
    size_t bin_count;
    uint64_t gc_bytes;          /* what gc_mem_caches() would return */
    uint64_t gc_real_bytes;     /* by how much real would fall */
    uint64_t gc_resident_bytes; /* by how much the resident set would fall */
};

struct zend_facts {
    uint32_t state; /* enum fact_state; absent: no Zend heap in this process */
    char *why;
    char *version;    /* "8.2.36", from the binary's own text; NULL when unknown */
    bool thread_safe; /* ZTS build */
    struct zend_heap_facts *heaps;
    size_t heap_count;
};

#endif
