/* part_table.h - every name that a byte can get: the parts of all layers in one table. */
#ifndef STRATA_MODEL_PART_TABLE_H
#define STRATA_MODEL_PART_TABLE_H

#include "facts_types/process_facts.h"

/*
 * The table is in the order in which parts of equal size are printed. PART_ALLOCATOR is
 * the first of ALLOCATOR_KIND_COUNT entries: memory that belongs to an allocator by
 * exclusion, since its blocks cannot be told apart from outside.
 */
enum part_kind {
    /* glibc malloc */
    PART_GLIBC_IN_USE,
    PART_GLIBC_MMAPPED,
    PART_GLIBC_CACHED,
    PART_GLIBC_FREE,
    PART_GLIBC_FREE_EDGES,
    PART_GLIBC_MAIN_TOP,
    PART_GLIBC_ARENA_TOPS,
    PART_GLIBC_MAIN_ARENA,
    PART_GLIBC_ARENAS,
    PART_GLIBC_UNREAD,
    /* strata's own malloc */
    PART_STRATA_IN_USE,
    PART_STRATA_HUGE,
    PART_STRATA_CACHED,
    PART_STRATA_FREE,
    PART_STRATA_BOOKS,
    /* other allocators */
    PART_ZEND_IN_USE,
    PART_ZEND_CHUNKS,
    PART_ZEND_HUGE,
    PART_ZEND_FREE_BLOCKS,
    PART_ZEND_FREE_PAGES,
    PART_ZEND_CACHED,
    PART_ZEND_OVERHEAD,
    PART_PYTHON_ARENAS,
    PART_ALLOCATOR,
    PART_ALLOCATOR_LAST = PART_ALLOCATOR + ALLOCATOR_KIND_COUNT - 1,
    /* what a MySQL or MariaDB server counts itself */
    PART_MYSQL_POOL,
    PART_MYSQL_KEY_BUFFER,
    PART_MYSQL_ARIA_CACHE,
    PART_MYSQL_LOG_BUFFER,
    PART_MYSQL_QUERY_CACHE,
    PART_MYSQL_SCHEMA,
    PART_MYSQL_INNODB,
    PART_MYSQL_OTHER,
    /* stacks */
    PART_THREAD_STACKS,
    PART_CACHED_STACKS,
    PART_MAIN_STACK,
    /* files */
    PART_PROGRAM_CODE,
    PART_PROGRAM_READ_ONLY,
    PART_PROGRAM_DATA,
    PART_FILE_PAGES,
    PART_FILE_COPIES,
    /* shared memory */
    PART_OPCACHE,
    PART_APCU,
    PART_SHM_ANONYMOUS,
    PART_SHM_MEMFD,
    PART_SHM_SYSV,
    PART_SHM_POSIX,
    /* the rest of the address space */
    PART_DEVICE,
    PART_KERNEL_PAGES,
    PART_GENERATED_CODE,
    PART_ANON_NAMED,
    PART_ANON_MAPPED,
    PART_ANON_LOADER,
    PART_BRK_OTHER,
    PART_UNEXPLAINED,
    /* a process of which only 'status' could be read */
    PART_STATUS_ANON,
    PART_STATUS_FILE,
    PART_STATUS_SHMEM,
    /* a group of processes */
    PART_SHARED_OUTSIDE,
    /* a cgroup */
    PART_CHARGED_ANON,
    PART_CHARGED_FILE,
    PART_CHARGED_SHMEM,
    PART_CHARGED_SLAB_RECLAIMABLE,
    PART_CHARGED_SLAB_UNRECLAIMABLE,
    PART_CHARGED_KERNEL_STACK,
    PART_CHARGED_PAGE_TABLES,
    PART_CHARGED_PERCPU,
    PART_CHARGED_SOCK,
    PART_CHARGED_KERNEL_OTHER,
    PART_CHARGED_HUGETLB,
    PART_CHARGED_REST,
    PART_KIND_COUNT,
};

struct part_name {
    const char *id;    /* stable: in JSON, and what rules look up */
    const char *title; /* for people */
};

extern const struct part_name part_table[PART_KIND_COUNT];

#endif
