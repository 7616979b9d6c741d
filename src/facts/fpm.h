/* fpm.h - the PHP-FPM pools that the members of a target belong to. */
#ifndef STRATA_FACTS_FPM_H
#define STRATA_FACTS_FPM_H

#include "facts/root.h"
#include "facts_types/facts.h"

/*
 * For each FPM master among the processes of facts, and for the parent of each worker
 * there: reads its pools into facts->fpm_pools, and asks the status page of those that have
 * workers in facts. A configuration that cannot be read is a gap. 0 or -ENOMEM.
 */
int fpm_read(struct facts_root *root, struct facts *facts);

/*
 * Has the configuration of the master pid a section for pool? False as well when it cannot be
 * read, or pid is no master. 0 or -ENOMEM.
 */
int fpm_master_lists(struct facts_root *root, int32_t pid, const char *pool, bool *lists);

#endif
