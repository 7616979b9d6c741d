/* strata_facts.h - what was read of strata's own malloc replacement in another process. */
#ifndef STRATA_FACTS_TYPES_STRATA_FACTS_H
#define STRATA_FACTS_TYPES_STRATA_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts_types/fact.h"

/* Bounds for live and captured facts alike; the region of layout.h has no more room. */
enum {
    STRATA_MAX_CLASSES = 64,
    STRATA_MAX_THREADS = 4096,
    STRATA_MAX_RECORDS = 65536,
};

/* Blocks of one size, in slabs of 64 KiB. */
struct strata_class_facts {
    uint64_t block_bytes;
    uint64_t slabs;
    uint64_t in_use_blocks; /* handed out to the program */
    uint64_t cached_blocks; /* kept by CPUs for their next call */
    uint64_t free_blocks;   /* in slabs */
    uint64_t touched_bytes; /* pages of the slabs that may be resident */
    uint64_t peak_blocks;   /* most in use and cached since the last reset */
    uint64_t purged_bytes;  /* pages of partly used slabs given back so far */
    uint64_t sampled_requests;
    uint64_t sampled_bytes; /* what these asked for */
};

/* A thread that has used tags. */
struct strata_thread_facts {
    int32_t thread_id; /* as the process itself sees it */
    char *name;        /* NULL when it gave none */
    uint64_t used_bytes;
    uint64_t peak_bytes;
    uint64_t ceiling_bytes; /* 0: none */
    uint64_t refused;
};

/* What one thread holds under one tag. */
struct strata_record_facts {
    uint32_t thread; /* index into the threads */
    char *tag;       /* "sql/sort"; never NULL */
    uint64_t used_bytes;
    uint64_t used_blocks;
    uint64_t peak_bytes;
    uint64_t allocations;
};

/*
 * Byte counts are valid when state is FACT_OK or FACT_STALE. in_use + cached + free == held,
 * to the byte; with FACT_OK they are of one moment.
 */
struct strata_facts {
    uint32_t state; /* enum fact_state; absent: no region in this process */
    char *why;      /* when state is not ok */
    uint32_t layout_version;
    bool shared; /* by a segment of shared memory: no right to trace was needed */
    uint64_t plus_minus_bytes; /* of in_use, cached and held, when state is stale */
    uint64_t generation;       /* forks since the program was executed */

    uint64_t in_use_bytes;
    uint64_t in_use_blocks;
    uint64_t cached_bytes;
    uint64_t held_bytes; /* address space: regions and huge blocks */
    uint64_t free_bytes;
    uint64_t touched_bytes;      /* pages that may be resident, by its own books */
    uint64_t free_touched_bytes; /* of these: in no block that is in use or cached */
    uint64_t large_bytes;        /* parts of in_use */
    uint64_t large_blocks;
    uint64_t huge_bytes; /* a mapping for each */
    uint64_t huge_blocks;
    uint64_t large_asked_bytes; /* what the program asked for, of large and huge */
    uint64_t mixed_bytes;       /* units that small blocks of all classes share */
    uint64_t mixed_touched_bytes;
    uint64_t span_free_bytes;    /* spans of whole units that nobody uses: part of free */
    uint64_t span_touched_bytes; /* pages of these that may be resident */
    uint64_t slab_tail_bytes;    /* behind the last block of each slab */
    uint64_t descriptor_bytes;   /* its books, outside of held */
    uint64_t table_bytes;        /* of the CPUs, outside of held */
    uint64_t purged_bytes;       /* given back to the kernel so far */
    uint64_t trims;              /* calls of malloc_trim */
    uint64_t peak_span_bytes;    /* most address space of slabs and large blocks in use */
    uint64_t peak_large_bytes;   /* most in large and huge blocks */
    uint64_t limit_hard_bytes;   /* STRATA_LIMIT; 0: none */
    uint64_t limit_soft_bytes;   /* 0: none */
    uint64_t limit_charged_bytes;
    uint64_t limit_peak_bytes;
    uint64_t limit_refused; /* requests */
    uint64_t limit_purges;

    bool places_known;       /* the spans of the process hold all its memory */
    uint32_t resident_state; /* enum fact_state of the three below, from pagemap */
    uint64_t resident_bytes; /* of regions and huge blocks */
    uint64_t huge_resident_bytes;
    uint64_t free_resident_bytes; /* resident beyond the blocks in use and cached */

    struct strata_class_facts *classes;
    size_t class_count;
    struct strata_thread_facts *threads;
    size_t thread_count;
    struct strata_record_facts *records;
    size_t record_count;
};

#endif
