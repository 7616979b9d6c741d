/* fpm_status.h - PHP-FPM's status page, asked for over FastCGI. */
#ifndef STRATA_FACTS_FPM_STATUS_H
#define STRATA_FACTS_FPM_STATUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts_types/fpm_facts.h"

/*
 * Fills the status fields of pool from an answer of the page with json&full: HTTP headers,
 * an empty line, one JSON object. What is missing there stays absent. 0, -ENOENT (the
 * server has no such page), -EINVAL (not that page, or of another pool), -ENOMEM.
 */
int fpm_status_parse(
    const char *answer, size_t bytes, struct region *region, struct fpm_pool_facts *pool);

/* The time for all pools together: titles are free, so there may be thousands of them. */
enum { FPM_STATUS_TOTAL_MS = 3000 };

/* Whose pools are asked. */
struct fpm_master {
    const char *path_prefix; /* its root directory as we reach it */
    int32_t pid;             /* its sockets were made by it */
    bool same_network;       /* its network namespace is ours */
    bool ask_nobody;         /* as of the root */
    int64_t *left_ms; /* of the time for all pools; what a request took is taken off */
};

/*
 * Asks pool for its status and stores the result, or why there is none, in its status
 * fields. pm.status_listen is used when it is set; else, the pool's own socket, unless
 * may_use_worker is false: a full pool has no slot left for us. Only -ENOMEM fails.
 */
int fpm_status_read(const struct fpm_master *master, bool may_use_worker,
    struct region *region, struct fpm_pool_facts *pool);

#endif
