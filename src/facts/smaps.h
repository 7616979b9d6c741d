/* smaps.h - the mappings of a process, with or without their numbers, and their sums. */
#ifndef STRATA_FACTS_SMAPS_H
#define STRATA_FACTS_SMAPS_H

#include <stdbool.h>
#include <stddef.h>

#include "base/region.h"
#include "facts/process_folder.h"
#include "facts_types/process_facts.h"

/*
 * Reads smaps (with_values) or maps and fills mappings, mapping_count, mappings_state
 * and mappings_have_values of process. Without smaps in this kernel it falls back to maps. 0;
 * -ESRCH gone; -EACCES or -EPERM denied; -EINVAL a line that is no smaps line; -EFBIG more
 * than FACTS_MAX_MAPPINGS; -ENOMEM. What was read before a failure stays, and
 * mappings_state says how far to trust it.
 */
int smaps_read(struct process_folder *folder, bool with_values, struct region *region,
    struct process_facts *process);

/* The same from a text in memory (bytes long, with a NUL behind it; cut up in place). */
int smaps_parse(
    char *text, size_t bytes, struct region *region, struct process_facts *process);

/* Every resident page of the mapping was mapped by its process alone, and by it once. */
bool smaps_is_private(const struct mapping *mapping);

/* The facts of source "smaps_rollup", from that file's text, cut up in place. */
void smaps_rollup_parse(char *text, size_t bytes, struct process_facts *process);

#endif
