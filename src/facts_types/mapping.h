/* mapping.h - one line of /proc/PID/maps with its numbers, and who owns which part. */
#ifndef STRATA_FACTS_TYPES_MAPPING_H
#define STRATA_FACTS_TYPES_MAPPING_H

#include <stdbool.h>
#include <stdint.h>

#include "facts_types/fact_table.h"

enum mapping_permission {
    MAPPING_READ = 1,
    MAPPING_WRITE = 2,
    MAPPING_EXECUTE = 4,
    MAPPING_SHARED = 8,
};

/* VmFlags of smaps that a rule or a reader needs (Documentation/filesystems/proc.rst). */
enum mapping_flag {
    MAPPING_NORESERVE = 1,   /* nr */
    MAPPING_HUGETLB = 2,     /* ht */
    MAPPING_LOCKED = 4,      /* lo */
    MAPPING_HUGEPAGE = 8,    /* hg: madvise(MADV_HUGEPAGE) */
    MAPPING_NOHUGEPAGE = 16, /* nh */
    MAPPING_GROWSDOWN = 32,  /* gd: a main stack */
    MAPPING_IO = 64,         /* io or pf: device memory, not counted in Rss */
};

struct mapping {
    uint64_t start; /* addresses; [start, end) */
    uint64_t end;
    uint64_t offset_bytes; /* in the file */
    uint64_t inode;        /* 0: anonymous, or special such as [heap] */
    uint32_t device_major;
    uint32_t device_minor;
    uint32_t permissions; /* enum mapping_permission */
    uint32_t flags;       /* enum mapping_flag */
    char *path;           /* as printed, unescaped; "" when anonymous; never NULL */
    bool deleted;         /* the path ended in " (deleted)", which was cut off */
    struct fact values[MAPPING_FACT_COUNT]; /* absent when only maps could be read */
};

/*
 * A span is a piece of the address space whose owner was recognised by its content.
 * Mappings merge with their neighbours, so an owner is never told from mapping borders.
 * Spans of a process are sorted by start and do not overlap.
 */
enum span_owner {
    SPAN_STRATA_REGION,    /* strata's malloc: slabs, large blocks, free spans */
    SPAN_STRATA_HUGE,      /* one block of strata's malloc with its own mapping */
    SPAN_STRATA_BOOKS,     /* descriptors, tables and figures of strata's malloc */
    SPAN_GLIBC_MAIN_HEAP,  /* main arena, [sbrk_base, top end) */
    SPAN_GLIBC_ARENA_HEAP, /* a 64 MiB aligned heap of another arena; index: the arena */
    SPAN_GLIBC_MMAPPED,    /* one block that malloc took by mmap */
    SPAN_THREAD_STACK,     /* stack of a live thread, struct pthread included */
    SPAN_CACHED_STACK,     /* stack of an ended thread, kept by glibc for the next one */
    SPAN_ZEND_CHUNK,       /* 2 MiB chunk of PHP's memory manager */
    SPAN_ZEND_HUGE,        /* huge block of PHP's memory manager */
    SPAN_PYTHON_ARENA,     /* arena of CPython's object allocator */
    SPAN_OPCACHE,          /* shared segment of PHP's OPcache */
    SPAN_APCU,             /* shared segment of PHP's APCu */
    SPAN_OWNER_COUNT,
};

struct span {
    uint64_t start;
    uint64_t end;
    uint32_t owner; /* enum span_owner */
    uint32_t index; /* of the arena or heap in its own list; thread id for a stack */
    struct fact resident; /* present pages, from pagemap; zero pages count as present */
};

/* "glibc-main-heap", ...: the spelling in captures. */
extern const char *const span_owner_names[SPAN_OWNER_COUNT];

#endif
