/* process_facts.h - what was read of one process. */
#ifndef STRATA_FACTS_TYPES_PROCESS_FACTS_H
#define STRATA_FACTS_TYPES_PROCESS_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts_types/glibc_facts.h"
#include "facts_types/mapping.h"
#include "facts_types/strata_facts.h"
#include "facts_types/mysql_facts.h"
#include "facts_types/zend_facts.h"

enum allocator_kind {
    ALLOCATOR_GLIBC,
    ALLOCATOR_MUSL,
    ALLOCATOR_JEMALLOC,
    ALLOCATOR_TCMALLOC,
    ALLOCATOR_MIMALLOC,
    ALLOCATOR_STRATA,
    ALLOCATOR_GO,
    ALLOCATOR_JVM,
    ALLOCATOR_ZEND,
    ALLOCATOR_PYTHON,
    ALLOCATOR_KIND_COUNT,
};

/* "glibc", "jemalloc", ... */
extern const char *const allocator_kind_names[ALLOCATOR_KIND_COUNT];

/* One allocator that was found in the process; there may be several. */
struct allocator_facts {
    uint32_t kind;  /* enum allocator_kind */
    bool active;    /* it holds memory, as far as can be told */
    bool preloaded; /* mapped, and named in LD_PRELOAD */
    bool linked_statically;
    char *evidence; /* how it was recognised: a mapped file, a text in the binary, ... */
    char *version;  /* NULL when unknown */
};

/* A setting of the allocator found in the process's environment (a fixed list of names). */
struct environment_facts {
    char *name; /* MALLOC_ARENA_MAX, GLIBC_TUNABLES, LD_PRELOAD, ... */
    char *value;
};

/* By so much start_unix_seconds may be early: of boot and start, parts of seconds are cut off. */
enum { PROCESS_START_EARLY_SECONDS = 2 };

struct process_facts {
    int32_t pid;
    int32_t parent_pid;
    uint64_t start_time_ticks; /* since boot; (pid, start time) identifies the process */
    uint64_t start_unix_seconds; /* 0: unknown */
    uint32_t user_id;
    int32_t namespace_pid; /* innermost NSpid; the pid it knows itself by */
    char run_state;        /* R S D Z T ...; 0 unknown */
    bool kernel_thread;
    char *name; /* comm, unescaped; never NULL */
    char *
        title; /* the command line's program and title only: no arguments, they may hold secrets */
    char *executable; /* NULL when unreadable */
    bool executable_deleted;
    int32_t cgroup_index; /* in facts.cgroups; -1 when unknown */

    struct fact values[PROCESS_FACT_COUNT];

    uint32_t mappings_state;   /* enum fact_state */
    bool mappings_have_values; /* read from smaps, not only from maps */
    struct mapping *mappings;  /* sorted by start */
    size_t mapping_count;
    struct span *spans; /* sorted by start, not overlapping */
    size_t span_count;

    struct glibc_facts glibc;
    struct zend_facts zend;
    struct strata_facts strata;
    struct mysql_facts *mysql; /* one, when the process is such a server; else none */
    size_t mysql_count;
    struct allocator_facts *allocators;
    size_t allocator_count;
    struct environment_facts *environment;
    size_t environment_count;
    uint32_t environment_state; /* enum fact_state */
    uint32_t
        preload_state; /* ok: every LD_PRELOAD library is mapped; absent: none asked; malformed: asked and not mapped */
};

#endif
