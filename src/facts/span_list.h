/* span_list.h - the spans of a process: recognised pieces of its address space. */
#ifndef STRATA_FACTS_SPAN_LIST_H
#define STRATA_FACTS_SPAN_LIST_H

#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

/*
 * Appends [start, end) with its owner and index to the spans of process and counts its
 * resident pages; when that fails, resident has the state of the failure. Zero pages
 * count as present. 0; -EINVAL for an empty or absurdly large span; -EFBIG beyond
 * FACTS_MAX_SPANS; -ENOMEM.
 */
int span_list_add(struct memory *memory, struct region *region,
    struct process_facts *process, const struct span *span);

/*
 * Sorts count spans by start; of two that overlap, the one stays whose owner comes first in
 * enum span_owner, or of equal owners the lower one. count becomes the number left.
 */
void span_list_settle(struct span *spans, size_t *count);

/*
 * The end of the span which address lies in, or address itself. The first count spans are
 * settled; those behind them are not looked at.
 */
uint64_t span_list_behind(const struct span *spans, size_t count, uint64_t address);

#endif
