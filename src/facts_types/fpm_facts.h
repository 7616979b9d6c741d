/* fpm_facts.h - a PHP-FPM pool: how it is configured and what its status page says. */
#ifndef STRATA_FACTS_TYPES_FPM_FACTS_H
#define STRATA_FACTS_TYPES_FPM_FACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts_types/fact.h"

/* What FPM makes of its command line; the pool's name or the configuration follows. */
#define FPM_POOL_TITLE "php-fpm: pool "
#define FPM_MASTER_TITLE "php-fpm: master process"

enum {
    FPM_MAX_POOLS = 4096,
    FPM_MAX_WORKERS = 65536,
    FPM_IDLE_SECONDS = 10, /* pm.process_idle_timeout when none is set (fpm_conf.c) */
};

enum fpm_manager {
    FPM_UNKNOWN,
    FPM_STATIC,
    FPM_DYNAMIC,
    FPM_ONDEMAND,
    FPM_MANAGER_COUNT
};

/* "unknown", "static", "dynamic", "ondemand" */
extern const char *const fpm_manager_names[FPM_MANAGER_COUNT];

/* One row of the full status page. No request line: a URI may hold secrets. */
struct fpm_worker_facts {
    int32_t pid; /* in FPM's own pid namespace */
    char *state; /* "Idle", "Running", ...: the text differs between versions */
    uint64_t requests;
    /*
     * What FPM says of the last request; 0 while the worker is not idle, and the peak of
     * real with chunks cached from earlier requests included: never to be sized by.
     */
    struct fact last_request_memory;
};

/* One pool. A setting which the files do not give is absent, not the default. */
struct fpm_pool_facts {
    char *name;
    char *file;            /* the configuration file with the pool's section */
    uint32_t config_state; /* enum fact_state */
    char *config_why;
    uint32_t manager; /* enum fpm_manager */
    struct fact max_children;
    struct fact start_servers;
    struct fact min_spare;
    struct fact max_spare;
    struct fact max_requests;
    struct fact idle_timeout_seconds;
    struct fact
        memory_limit_bytes;    /* php_admin_value or php_value; absent: php.ini decides */
    bool memory_limit_admin;   /* a script cannot change it */
    bool opcache_size_in_pool; /* opcache.memory_consumption set here: has no effect */
    char *listen;
    char *status_path;
    char *status_listen;

    uint32_t status_state; /* enum fact_state */
    char *status_why;
    struct fact accepted_connections;
    struct fact listen_queue;
    struct fact idle;
    struct fact active;
    struct fact total;
    struct fact max_active;
    struct fact max_children_reached;
    struct fact slow_requests;
    struct fact memory_peak; /* 8.4 and later: the largest of the pool since its start */
    struct fpm_worker_facts *workers;
    size_t worker_count;
};

#endif
