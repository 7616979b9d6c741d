/* host.h - the machine: memory, CPUs, huge page settings, kernel, hypervisor. */
#ifndef STRATA_FACTS_HOST_H
#define STRATA_FACTS_HOST_H

#include "facts/root.h"
#include "facts_types/facts.h"

/*
 * Fills host; texts come from region. What could not be read is absent or NULL, as
 * facts.h says. 0 or -ENOMEM.
 */
int host_read(struct facts_root *root, struct region *region, struct host_facts *host);

/*
 * Then: whether the kernel estimates how often a page is mapped. How it was built has to be
 * unpacked for that, so it is for readers of mappings alone. 0 or -ENOMEM.
 */
int host_read_page_counts(struct facts_root *root, struct host_facts *host);

#endif
