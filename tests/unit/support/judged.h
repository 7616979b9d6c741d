/* judged.h - facts made by hand, judged again whenever a test changed them. */
#ifndef STRATA_TESTS_UNIT_SUPPORT_JUDGED_H
#define STRATA_TESTS_UNIT_SUPPORT_JUDGED_H

#include <stdint.h>

#include "findings/finding.h"

/* The facts and the last verdict on them; zero it, then builder_init(&judged.facts). */
struct judged {
    struct facts facts;
    struct snapshot snapshot;
    struct finding_list list;
};

/* Releases the facts and the last verdict. */
void judged_release(struct judged *judged);

/* cmocka's teardown of a fixture from malloc that begins with a struct judged. */
int judged_teardown(void **state);

/* The finding of that rule on the facts as they are now, or NULL. Fails on an unknown rule. */
const struct finding *judged_finding(struct judged *judged, const char *id);

void assert_speaks(struct judged *judged, const char *id, enum severity severity);
void assert_silent(struct judged *judged, const char *id);

/* The finding is there and predicts that range. */
void assert_predicts(const struct finding *finding, uint64_t low, uint64_t high);

/* A number among the evidence; fails the test when it is not there. */
int64_t evidence_of(const struct finding *finding, const char *name);

#endif
