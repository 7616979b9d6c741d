/*
 * fact_table.c - the constant tables made from facts.def. Data only: this target holds
 * no function, so that every layer may see it.
 */
#include "facts_types/fact_table.h"

#include "facts_types/facts.h"

const char *const fact_state_names[FACT_STATE_COUNT] = {
    [FACT_ABSENT] = "absent",
    [FACT_OK] = "ok",
    [FACT_STALE] = "stale",
    [FACT_DENIED] = "denied",
    [FACT_GONE] = "gone",
    [FACT_MALFORMED] = "malformed",
};

#define ROW(name, source, key, unit, kind, since, summary)                               \
    {#name, source, key, FACT_UNIT_##unit, FACT_##kind, since, summary},

const struct fact_info process_fact_table[PROCESS_FACT_COUNT] = {
#define FACT_PROCESS(ID, ...) ROW(__VA_ARGS__)
#include "facts_types/facts.def"
};

const struct fact_info mapping_fact_table[MAPPING_FACT_COUNT] = {
#define FACT_MAPPING(ID, ...) ROW(__VA_ARGS__)
#include "facts_types/facts.def"
};

const struct fact_info host_fact_table[HOST_FACT_COUNT] = {
#define FACT_HOST(ID, ...) ROW(__VA_ARGS__)
#include "facts_types/facts.def"
};

const struct fact_info cgroup_fact_table[CGROUP_FACT_COUNT] = {
#define FACT_CGROUP(ID, ...) ROW(__VA_ARGS__)
#include "facts_types/facts.def"
};

const struct fact_info mysql_fact_table[MYSQL_FACT_COUNT] = {
#define FACT_MYSQL(ID, ...) ROW(__VA_ARGS__)
#include "facts_types/facts.def"
};

const char *const mysql_family_names[MYSQL_FAMILY_COUNT] = {
    [MYSQL_UNKNOWN] = "unknown",
    [MYSQL_MYSQL] = "mysql",
    [MYSQL_MARIADB] = "mariadb",
};

const char *const mysql_since_names[MYSQL_SINCE_COUNT] = {
    [MYSQL_SINCE_UNKNOWN] = "unknown",
    [MYSQL_SINCE_START] = "start",
    [MYSQL_SINCE_LATER] = "later",
};

const char *const span_owner_names[SPAN_OWNER_COUNT] = {
    [SPAN_STRATA_REGION] = "strata-region",
    [SPAN_STRATA_HUGE] = "strata-huge",
    [SPAN_STRATA_BOOKS] = "strata-books",
    [SPAN_GLIBC_MAIN_HEAP] = "glibc-main-heap",
    [SPAN_GLIBC_ARENA_HEAP] = "glibc-arena-heap",
    [SPAN_GLIBC_MMAPPED] = "glibc-mmapped",
    [SPAN_THREAD_STACK] = "thread-stack",
    [SPAN_CACHED_STACK] = "cached-stack",
    [SPAN_ZEND_CHUNK] = "zend-chunk",
    [SPAN_ZEND_HUGE] = "zend-huge",
    [SPAN_PYTHON_ARENA] = "python-arena",
    [SPAN_OPCACHE] = "opcache",
    [SPAN_APCU] = "apcu",
};

const char *const allocator_kind_names[ALLOCATOR_KIND_COUNT] = {
    [ALLOCATOR_GLIBC] = "glibc",
    [ALLOCATOR_MUSL] = "musl",
    [ALLOCATOR_JEMALLOC] = "jemalloc",
    [ALLOCATOR_TCMALLOC] = "tcmalloc",
    [ALLOCATOR_MIMALLOC] = "mimalloc",
    [ALLOCATOR_STRATA] = "strata",
    [ALLOCATOR_GO] = "go",
    [ALLOCATOR_JVM] = "jvm",
    [ALLOCATOR_ZEND] = "zend",
    [ALLOCATOR_PYTHON] = "python",
};

const char *const target_kind_names[TARGET_KIND_COUNT] = {
    [TARGET_PROCESS] = "process",
    [TARGET_POOL] = "pool",
    [TARGET_CGROUP] = "cgroup",
    [TARGET_UNIT] = "unit",
    [TARGET_HOST] = "host",
};

const char *const fpm_manager_names[FPM_MANAGER_COUNT] = {
    [FPM_UNKNOWN] = "unknown",
    [FPM_STATIC] = "static",
    [FPM_DYNAMIC] = "dynamic",
    [FPM_ONDEMAND] = "ondemand",
};
