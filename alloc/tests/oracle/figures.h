/*
 * The figures which both sides report after every operation.
 */
#ifndef STRATA_ALLOC_TESTS_ORACLE_FIGURES_H
#define STRATA_ALLOC_TESTS_ORACLE_FIGURES_H

#include <stdint.h>

/* All in bytes. Signed, since only differences from the start are compared. */
struct figures {
    int64_t used;
    int64_t real;
    int64_t peak_used;
    int64_t peak_real;
    int64_t collected; /* by the operation itself, when it was a gc; else 0 */
};

#endif
