/* frames.h - the memory of a group of processes, each frame once. */
#ifndef STRATA_FACTS_FRAMES_H
#define STRATA_FACTS_FRAMES_H

#include "facts/root.h"
#include "facts_types/facts.h"

/*
 * Sets facts->unique_bytes (frames which the processes of facts map, each counted once)
 * and facts->exclusive_bytes (of these, the frames that no other process maps: what comes
 * free when all of them end). Pages of hugetlbfs and of devices are left out, as they are in
 * the resident set. Needs CAP_SYS_ADMIN; without it only the exclusive
 * bytes of a single process are known. What is missing becomes a gap. 0 or -ENOMEM.
 */
int frames_read(struct facts_root *root, struct facts *facts);

#endif
