/* What the tests of the malloc replacement's front share. */
#ifndef STRATA_TESTS_FRONT_SUPPORT_H
#define STRATA_TESTS_FRONT_SUPPORT_H

#include "support.h"

#include "front.h"
#include "front_figures.h"

/* The figures, after everything was recounted. */
struct strata__front_stats test_front_stats(void);

/* From now on the class has slabs. */
void test_start_class(unsigned class);

/* Runs the tests with the central lists only, then again with the tables of the CPUs, on a heap
 * that has a history. Returns how many failed. */
int test_front_run(const struct CMUnitTest *tests, size_t count);

#endif
