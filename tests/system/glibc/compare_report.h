/* compare_report.h - what was read of a glibc heap against what glibc said of it. */
#ifndef STRATA_TESTS_COMPARE_REPORT_H
#define STRATA_TESTS_COMPARE_REPORT_H

#include "facts_types/glibc_facts.h"
#include "target_process.h"

/* Fails the test unless all figures are equal to the byte. */
void compare_report(
    const struct glibc_facts *glibc, const struct report *report, uint64_t page_bytes);

#endif
