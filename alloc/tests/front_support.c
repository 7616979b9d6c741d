/*
 * front_support.c - runs a group of tests twice, since each way of the front has to hold by
 * itself: without tables of CPUs, as in a process that has no restartable sequences, and with
 * them.
 */
#include "front_support.h"

#include "central.h"
#include "central_sweep.h"
#include "front_figures.h"
#include "limit.h"
#include "percpu.h"

struct strata__front_stats test_front_stats(void)
{
    struct strata__front_stats stats;
    strata__front_check();
    strata__front_get_stats(&stats);
    /* What is compared with a limit is what is shown. */
    assert_int_equal(strata__limit_held(), stats.resident_bytes + stats.metadata_bytes);
    return stats;
}

void test_start_class(unsigned class)
{
    for (int i = 0; i < 4; i++) {
        void *blocks[16];
        size_t got = strata__central_refill(class, blocks, 16);
        strata__central_flush(class, blocks, got);
    }
    strata__central_sweep(1);
}

int test_front_run(const struct CMUnitTest *tests, size_t count)
{
    test_stay_on_this_cpu();
    int failed = _cmocka_run_group_tests("central lists only", tests, count, NULL, NULL);
    strata__percpu_start();
    if (strata__percpu_offset == 0) {
        return failed; /* there are none */
    }
    return failed + _cmocka_run_group_tests("with CPU tables", tests, count, NULL, NULL);
}
