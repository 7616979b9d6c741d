/* exclusion.h - whose unmarked anonymous memory can be, when nothing in it was recognised. */
#ifndef STRATA_MODEL_EXCLUSION_H
#define STRATA_MODEL_EXCLUSION_H

#include <stdbool.h>
#include <stdint.h>

#include "facts_types/process_facts.h"

struct exclusion {
    bool malloc_complete; /* all that malloc holds is known by spans, but for: */
    uint64_t missing_mmapped_bytes; /* mapped by malloc, and not found among the spans */
    bool brk_is_glibc;              /* malloc's main heap lies in the brk area */
    int other_allocator; /* enum allocator_kind that owns what is left; -1: none */
};

/* What the allocators found in process allow to say. */
struct exclusion exclusion_of(const struct process_facts *process);

#endif
