/*
 * The real engine: runs engine.php under a PHP command line and brings back its figures.
 */
#ifndef STRATA_ALLOC_TESTS_ORACLE_ENGINE_H
#define STRATA_ALLOC_TESTS_ORACLE_ENGINE_H

#include <stddef.h>

#include "figures.h"
#include "operation.h"

/*
 * Runs `php -n` on the script with the operations as input. figures receives count + 1
 * records: the start, then one for each operation. Returns 0 or -errno: -ENOENT when php
 * is not there, -EPROTO when it ended early or not well (it has written why to stderr).
 */
int engine_run(const char *php, const char *script, const struct operation *list,
    size_t count, struct figures *figures);

#endif
