/* facts.h - everything that was read at one moment; what a capture holds. */
#ifndef STRATA_FACTS_TYPES_FACTS_H
#define STRATA_FACTS_TYPES_FACTS_H

#include "base/region.h"
#include "facts_types/cgroup_facts.h"
#include "facts_types/fpm_facts.h"
#include "facts_types/process_facts.h"

enum { FACTS_SCHEMA = 1 };

/* Bounds that hold for every source of facts, live or captured. */
enum {
    FACTS_MAX_PROCESSES = 100000,
    FACTS_MAX_MAPPINGS = 1000000,
    FACTS_MAX_SPANS = 1000000,
    FACTS_MAX_ARENAS = 16384,
    FACTS_MAX_CGROUPS = 100000,
    FACTS_MAX_GAPS = 10000,
};

enum target_kind {
    TARGET_PROCESS,
    TARGET_POOL,
    TARGET_CGROUP,
    TARGET_UNIT,
    TARGET_HOST,
    TARGET_KIND_COUNT
};

/* "process", "pool", "cgroup", "unit", "host" */
extern const char *const target_kind_names[TARGET_KIND_COUNT];

/* Something that should have been read and was not. */
struct gap {
    char *fact;     /* what is missing: "smaps", "pagemap", "glibc" */
    int32_t pid;    /* 0: not of one process */
    uint32_t state; /* enum fact_state, never ok */
    char *why;      /* cause, and what would give it */
};

struct host_facts {
    uint64_t page_bytes;
    uint64_t clock_ticks_per_second;
    uint64_t boot_unix_seconds; /* 0: unknown */
    char *kernel;               /* release; NULL when the host was not read */
    char *machine;              /* x86_64; NULL: unknown */
    char *hypervisor;           /* from DMI or the CPU flag; NULL: none seen */
    char *thp_enabled;          /* "madvise" */
    char *thp_defrag;
    bool
        page_counts_estimated; /* CONFIG_NO_PAGE_MAPCOUNT: PSS and shares are estimates */
    uint32_t page_counts_state; /* enum fact_state: ok when the line above is known */
    struct fact values[HOST_FACT_COUNT];
};

struct facts {
    struct region region; /* owns everything below */
    uint32_t schema;
    int64_t taken_at_unix_ns;

    uint32_t target_kind; /* enum target_kind */
    char *target_name;    /* what the user asked for, or the pool's or unit's name; never
                             NULL */

    struct host_facts host;
    struct process_facts *processes; /* the members; one for a process */
    size_t process_count;
    struct cgroup_facts
        *cgroups; /* each once; [0] is the target's own for a cgroup target */
    size_t cgroup_count;
    struct fpm_pool_facts *fpm_pools; /* of the FPM masters among the processes */
    size_t fpm_pool_count;
    int32_t
        target_cgroup; /* index of the cgroup that bills the target; -1: none or several */

    struct fact unique_bytes;         /* frames which the members map, each once */
    struct fact exclusive_bytes;      /* of these: mapped by nobody else */
    struct fact competitor_oom_score; /* highest oom_score in the same cgroup */
    int32_t competitor_pid;
    char *competitor_name;

    struct gap *gaps;
    size_t gap_count;
    uint64_t cost_wall_us;
    uint64_t cost_bytes_read;
};

#endif
