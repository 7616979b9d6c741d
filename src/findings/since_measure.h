/* since_measure.h - what the bytes of a finding are about, and signs that its change was made. */
#ifndef STRATA_FINDINGS_SINCE_MEASURE_H
#define STRATA_FINDINGS_SINCE_MEASURE_H

#include "findings/since.h"

/* A quantity at both moments; its title is for people. */
struct since_quantity {
    const char *title;
    int64_t before_bytes;
    int64_t now_bytes;
};

/*
 * The quantity which the bytes of that rule are about. Where it is not known at both
 * moments: resident less tracked, or else resident. False: not even that is known.
 */
bool since_quantity_of(const struct rule *rule, const struct since_moment *before,
    const struct since_moment *now, struct since_quantity *quantity);

/* Do both rules promise bytes of one quantity, so that their promises overlap? */
bool since_same_bytes(const struct rule *a, const struct rule *b);

/* text: what shows it, of region, or NULL. */
enum since_force since_force_of(const struct finding *finding,
    const struct since_moment *before, const struct since_moment *now,
    struct region *region, const char **text);

#endif
