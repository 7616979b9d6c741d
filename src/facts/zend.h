/* zend.h - every Zend MM heap of a process. */
#ifndef STRATA_FACTS_ZEND_H
#define STRATA_FACTS_ZEND_H

#include "base/region.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

/*
 * Looks for PHP in process, whose mappings are known, and reads all its heaps into
 * process->zend; their chunks and huge blocks become spans. Heaps are found by shape, and by
 * the code of exported functions as well; a heap which both find says so. A process without
 * PHP leaves the state absent. 0 or -ENOMEM.
 */
int zend_read(
    struct memory *memory, struct region *region, struct process_facts *process);

#endif
