/* partition.h - every byte of one process's resident set in exactly one part. */
#ifndef STRATA_MODEL_PARTITION_H
#define STRATA_MODEL_PARTITION_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "facts_types/process_facts.h"
#include "model/amounts.h"

struct partition {
    struct amounts rss; /* total: the sum of Rss over the mappings */
    struct amounts pss; /* the same division of Pss; all zero unless pss_known */
    bool pss_known;
    uint64_t private_bytes;  /* Private_Clean + Private_Dirty over the mappings */
    uint64_t surplus_bytes;  /* spans had that many more present pages than Rss has:
                                zero pages, or the process moved between two reads */
    uint64_t conflict_bytes; /* free pages of arenas beyond what is resident of them */
};

/*
 * Divides the mappings of process, which must carry values (mappings_have_values). The
 * rules are in docs/decisions/003-every-resident-byte-has-one-name.md. Tolerates any facts,
 * sorted or not. scratch is used and may be released afterwards. 0 or -ENOMEM.
 */
int partition_build(struct region *scratch, const struct process_facts *process,
    struct partition *partition);

#endif
