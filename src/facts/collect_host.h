/* collect_host.h - the steps of facts_collect_host(). */
#ifndef STRATA_FACTS_COLLECT_HOST_H
#define STRATA_FACTS_COLLECT_HOST_H

#include "base/error.h"
#include "facts/collection.h"

/*
 * Reads all processes into the facts of a collection that was begun, see collect.h. 0,
 * -ENOENT, -ENOMEM or -errno of reading /proc.
 */
int collect_host(struct collection *collection, struct error *error);

#endif
