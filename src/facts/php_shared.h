/* php_shared.h - the shared memory that PHP's caches take: OPcache, APCu. */
#ifndef STRATA_FACTS_PHP_SHARED_H
#define STRATA_FACTS_PHP_SHARED_H

#include "base/region.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

/*
 * Adds a span for each shared anonymous mapping whose first bytes are the header of a
 * cache, and for those after it that the header's size takes in. Only the first page is read, if it is present. 0 or -ENOMEM.
 */
int php_shared_read(
    struct memory *memory, struct region *region, struct process_facts *process);

#endif
