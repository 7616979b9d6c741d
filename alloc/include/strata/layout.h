/*
 * layout.h - what libstrata-malloc.so shows to readers outside of its process. Data only:
 * a reader includes this file and nothing else of the allocator.
 *
 * Where it is: a segment of System V shared memory, created by the process itself, of
 * which the key begins with STRATA_LAYOUT_KEY. It shows in /proc/sysvipc/shm with the
 * process as its creator, and in /proc/PID/maps as "/SYSV5354xxxx (deleted)"; the inode
 * there is the segment's id. shmat(2) with SHM_RDONLY needs no right to trace the process,
 * only the mode of the segment: owner, or all with STRATA_REGION_FOR=all. It is marked for
 * removal from the start, so it goes with its last user, however that ends. Where there
 * is no segment, the same bytes lie in the process's memory, at the start of a page of the
 * library's data (docs/decisions/006-statistics-region.md).
 *
 * How to read: check magic, version and bytes; copy what the counts say is used (a read of
 * other pages would make them exist); then copy again. Groups begin with a sequence, which is odd while the group is written and grows with each
 * change. Two equal copies with even sequences are one moment. All else has to be taken
 * as what a hostile process may write there.
 *
 * Units: bytes unless a name ends otherwise. Within one version fields are neither moved
 * nor given another meaning; new ones come out of the reserved space.
 */
#ifndef STRATA_LAYOUT_H
#define STRATA_LAYOUT_H

#include <stdint.h>

#include "strata/layout_tags.h"

#define STRATA_LAYOUT_MAGIC "strata-malloc 1" /* 16 bytes with the zero at its end */
#define STRATA_LAYOUT_VERSION 1U
#define STRATA_LAYOUT_KEY 0x53540000U      /* the upper half of the segment's key */
#define STRATA_LAYOUT_KEY_MASK 0xffff0000U /* the lower half is the process's, modulo */

enum {
    STRATA_LAYOUT_CLASSES = 64, /* room; class_count says how many there are */
    STRATA_LAYOUT_CPUS = 1024   /* room; cpu_count says how many rows are shared */
};

/* Blocks of one size, in slabs of 64 KiB. */
struct strata_layout_class {
    uint32_t sequence;
    uint32_t block_bytes;
    uint32_t slab_blocks; /* blocks in one slab */
    uint32_t reserved;
    uint64_t slabs;
    uint64_t free_blocks;      /* in slabs; out = slabs * slab_blocks - free_blocks and */
                               /* what is out of mixed units; in use = out - the counts */
                               /* of all CPUs */
    uint64_t touched_bytes;    /* pages of the slabs that may be resident */
    uint64_t peak_out_blocks;  /* most blocks out since the last reset */
    uint64_t purged_bytes;     /* pages of partly used slabs given back so far */
    uint64_t sampled_requests; /* requests that missed the CPU's blocks: a sample */
    uint64_t sampled_bytes;    /* what these asked for */
    uint64_t descriptor_bytes; /* of the slabs */
    uint64_t reserved_words[6];
};

/* Address space, and what of it is in spans that nobody uses. */
struct strata_layout_units {
    uint32_t sequence;
    uint32_t reserved;
    uint64_t mapped_bytes;    /* regions, without huge blocks */
    uint64_t free_bytes;      /* spans of whole units, resident or not */
    uint64_t dirty_bytes;     /* pages of these that may be resident */
    uint64_t peak_used_bytes; /* most of mapped - free since the last reset */
    uint64_t purged_bytes;    /* given back so far */
    uint64_t reserved_words[2];
};

/* Units of 64 KiB that blocks of all classes share. */
struct strata_layout_mixed {
    uint32_t sequence;
    uint32_t reserved;
    uint64_t units;
    uint64_t free_bytes;    /* in them */
    uint64_t touched_bytes; /* pages that may be resident */
    uint64_t purged_bytes;  /* given back so far, of units that live on */
    uint64_t descriptor_bytes;
    uint64_t reserved_words[10];
    uint64_t out_blocks[STRATA_LAYOUT_CLASSES]; /* by class, kept by CPUs or in use */
};

/* Blocks of whole pages: large ones in units, huge ones in mappings of their own. */
struct strata_layout_large {
    uint32_t sequence;
    uint32_t reserved;
    uint64_t large_bytes;
    uint64_t large_blocks;
    uint64_t large_asked_bytes; /* what the program asked for */
    uint64_t huge_bytes;
    uint64_t huge_blocks;
    uint64_t huge_asked_bytes;
    uint64_t peak_bytes;   /* most of large + huge since the last reset */
    uint64_t tail_bytes;   /* pages behind large blocks that may be resident */
    uint64_t purged_bytes; /* of tails, so far */
    uint64_t reserved_words[6];
};

/* STRATA_LIMIT: the figures that it compares, and what came of it. */
struct strata_layout_limit {
    uint32_t sequence;
    uint32_t reserved;
    uint64_t hard_bytes; /* 0: none */
    uint64_t soft_bytes; /* 0: none */
    uint64_t charged_bytes;
    uint64_t peak_charged_bytes;
    uint64_t refused;         /* requests that got ENOMEM because of the hard limit */
    uint64_t purges;          /* times that memory was given back because of a limit */
    uint64_t pressure_purges; /* because the kernel reported pressure */
};

/* Counts of the blocks that one CPU keeps, by class. With STRATA_HARDENED, where CPUs keep
 * none, the first row has those of the quarantine. */
struct strata_layout_cpu {
    uint16_t counts[STRATA_LAYOUT_CLASSES];
};

struct strata_region {
    char magic[16];
    uint32_t version;
    uint32_t bytes; /* of the whole, up to the last CPU's row that is shared */
    uint32_t class_count;
    uint32_t cpu_count;
    int32_t process_id; /* as the process sees it */
    uint32_t page_bytes;
    uint64_t started_boot_ns;  /* CLOCK_BOOTTIME when the region was made */
    uint64_t generation;       /* of forks: 0 in the program that was executed */
    uint64_t peak_resets;      /* times that peaks were reset */
    uint64_t descriptor_bytes; /* cut off for descriptors so far; kept ones included */
    uint64_t table_bytes;      /* tables of CPUs */
    uint64_t trims;            /* calls of malloc_trim and strata_malloc_trim */
    uint32_t thread_count;     /* entries that were ever used, from the first on */
    uint32_t tag_count;
    uint32_t record_count;
    uint32_t records_lost; /* pairs that found no room: they are counted nowhere */
    uint32_t cpus_used;    /* rows behind these are all zero, and better not read */
    uint32_t reserved;
    uint64_t reserved_words[18];
    struct strata_layout_units units;
    struct strata_layout_large large;
    struct strata_layout_limit limit;
    struct strata_layout_mixed mixed;
    struct strata_layout_class classes[STRATA_LAYOUT_CLASSES];
    char tags[STRATA_LAYOUT_TAGS][STRATA_LAYOUT_TAG_BYTES]; /* full names, "sql/sort" */
    struct strata_layout_thread threads[STRATA_LAYOUT_THREADS];
    struct strata_layout_record records[STRATA_LAYOUT_RECORDS];
    struct strata_layout_cpu cpus[STRATA_LAYOUT_CPUS];
};

#endif
