/* thresholds.h - what a fixed trim threshold would save, and the rule that says so. */
#ifndef STRATA_FINDINGS_THRESHOLDS_H
#define STRATA_FINDINGS_THRESHOLDS_H

#include <stddef.h>
#include <stdint.h>

#include "facts_types/glibc_facts.h"
#include "findings/finding.h"

struct threshold_estimate {
    size_t arenas;       /* that retain anything */
    uint64_t ends_bytes; /* resident at the ends of their heaps, unused */
    uint64_t low_bytes;  /* saved at least */
    uint64_t high_bytes; /* saved at most */
};

/*
 * What a fixed trim_threshold of so many bytes would take off the free and resident memory of
 * glibc's arenas once the same load has passed again, where malloc has raised its thresholds
 * itself; all zero where it has not.
 */
struct threshold_estimate threshold_estimate_of(
    const struct glibc_facts *glibc, uint64_t trim_threshold_bytes);

/*
 * Rule for the table in rules.c; see struct rule. One finding at most, for all members together.
 * 0 or -ENOMEM.
 */
int rule_glibc_mmap_threshold(const struct snapshot *snapshot, struct finding_list *list);

#endif
