/*
 * Our side: the same operations on a heap in the `zend` layout.
 */
#ifndef STRATA_ALLOC_TESTS_ORACLE_REPLAY_H
#define STRATA_ALLOC_TESTS_ORACLE_REPLAY_H

#include <stddef.h>

#include "figures.h"
#include "operation.h"

/*
 * Carries out the list on a new heap. figures receives count + 1 records like those of
 * engine_run(). Returns 0, or -ENOMEM when the heap refused something.
 */
int replay_run(const struct operation *list, size_t count, struct figures *figures);

#endif
