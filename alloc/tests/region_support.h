/* What the tests of the statistics region share. STRATA_TEST_SEED and STRATA_TEST_OPS change
 * what its threads do. */
#ifndef STRATA_TESTS_REGION_SUPPORT_H
#define STRATA_TESTS_REGION_SUPPORT_H

#include "support.h"

#include "region.h"

/* What anybody can compute from a copy of the region. */
struct test_figures {
    uint64_t in_use_bytes, in_use_blocks, cached_bytes, touched_bytes, asked_bytes;
};

/* First: the region, the tables of CPUs, fork's handlers. */
void test_region_start(void);

/* The id of the segment that is mapped as the region, as its mapping's inode; -1: none. */
int test_segment_id(void);
/* Copies the region from outside. */
void test_region_look(void);
extern struct strata_region test_region_seen;
struct test_figures test_region_figures(const struct strata_region *region);

/* Threads that allocate, resize and free, each its own blocks. */
void test_start_threads(void);
void test_join_threads(void);
void test_run_round(void);
/* Hands the blocks of each thread to the next one. */
void test_hand_blocks_on(void);
/* The test's own sum over its live blocks. */
struct test_figures test_live_figures(void);
/* Looks, and compares with that sum and with what the allocator finds when it recounts. */
void test_compare_with_live(void);

#endif
