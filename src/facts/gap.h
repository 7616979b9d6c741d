/* gap.h - what should have been read and was not, with the reason. */
#ifndef STRATA_FACTS_GAP_H
#define STRATA_FACTS_GAP_H

#include <stdint.h>

#include "facts/root.h"
#include "facts_types/facts.h"

/*
 * Appends a gap to facts; why is copied. Beyond FACTS_MAX_GAPS, and when memory is short, it is
 * dropped: the facts themselves still say that they are missing.
 */
void gap_add(
    struct facts *facts, const char *fact, int32_t pid, uint32_t state, const char *why);

/*
 * The same for a failed read of process: state and reason are made from rc (-errno), with
 * what would give the fact. Nothing is added for -ENOMEM, which is no gap.
 */
void gap_add_failure(struct facts *facts, struct facts_root *root, const char *fact,
    const struct process_facts *process, int rc);

#endif
