/* fpm_status.h - PHP-FPM's status page, asked for over FastCGI. */
#ifndef STRATA_FACTS_FPM_STATUS_H
#define STRATA_FACTS_FPM_STATUS_H

#include <stddef.h>

#include "base/region.h"
#include "facts_types/fpm_facts.h"

/*
 * Fills the status fields of pool from an answer of the page with json&full: HTTP headers,
 * an empty line, one JSON object. What is missing there stays absent. 0, -ENOENT (the
 * server has no such page), -EINVAL (not that page, or of another pool), -ENOMEM.
 */
int fpm_status_parse(
    const char *answer, size_t bytes, struct region *region, struct fpm_pool_facts *pool);

/*
 * Asks pool for its status and stores the result, or why there is none, in its status
 * fields. pm.status_listen is used when it is set; else, the pool's own socket, unless
 * may_use_worker is false: a full pool has no slot left for us. path_prefix is the
 * master's root directory as we reach it. Only -ENOMEM fails.
 */
int fpm_status_read(const char *path_prefix, bool may_use_worker, struct region *region,
    struct fpm_pool_facts *pool);

#endif
