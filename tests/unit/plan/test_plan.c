/*
 * test_plan.c - divisions done by hand, pools that were reported in the wild, properties.
 *
 * The reports give private and shared figures of pools that were sized by RSS; what must
 * come out is how many workers fit when shared pages are paid once.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan.h"

#define MIB UINT64_C(1048576)

enum { MOST = 256 };

struct fixture {
    uint64_t samples[MOST];
    struct plan_input input;
    struct plan plan;
};

static void fill(struct fixture *fixture, size_t count, uint64_t bytes, uint64_t limit)
{
    *fixture = (struct fixture){.input = {.name = "www",
                                    .limit_bytes = limit,
                                    .private_bytes = fixture->samples,
                                    .private_count = count}};
    for (size_t i = 0; i < count; i++) {
        fixture->samples[i] = bytes;
    }
}

static void fixed(struct fixture *fixture, const char *id, uint64_t bytes)
{
    fixture->input.fixed[fixture->input.fixed_count++] =
        (struct plan_fixed){.id = id, .title = id, .bytes = bytes};
}

static uint64_t workers(struct fixture *fixture, enum plan_case_id id)
{
    plan_make(&fixture->input, id, &fixture->plan);
    return fixture->plan.cases[id].workers;
}

static void by_hand(void **state)
{
    struct fixture f;

    (void)state;
    /* 512 - 12 - 50 - 50 = 400; 400 / (9.5 + 0.5) = 40; worst (3 + 0.5 + 46.5) = 50: 8 */
    fill(&f, 20, 9 * MIB + MIB / 2, 512 * MIB);
    f.input.kernel_bytes = MIB / 2;
    f.input.base_bytes = 3 * MIB;
    f.input.heap.limit_bytes =
        (struct fact){.value = 46 * MIB + MIB / 2, .state = FACT_OK};
    f.input.workers_allowed = 50;
    fixed(&f, "master", 12 * MIB);
    fixed(&f, "shared", 50 * MIB);
    fixed(&f, "reserve", 50 * MIB);
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.budget_bytes, 400 * MIB);
    assert_int_equal(f.plan.cases[PLAN_EXPECTED].workers, 40);
    assert_int_equal(f.plan.cases[PLAN_P95].workers, 40);
    assert_int_equal(f.plan.cases[PLAN_WORST].workers, 8);
    assert_int_equal(f.plan.worst_each_bytes, 50 * MIB);
    assert_int_equal(f.plan.cases[PLAN_EXPECTED].need_bytes, 512 * MIB);
    assert_int_equal(f.plan.cases[PLAN_EXPECTED].need_now_bytes, 612 * MIB);
    assert_false(f.plan.cases[PLAN_EXPECTED].fits_now);
    /* twice is the same: the samples were not changed */
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.cases[PLAN_EXPECTED].workers, 40);
}

static void a_byte_decides(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 3, 10, 100);
    assert_int_equal(workers(&f, PLAN_EXPECTED), 10);
    f.input.limit_bytes = 99;
    assert_int_equal(workers(&f, PLAN_EXPECTED), 9);
    fixed(&f, "shared", 100);
    assert_int_equal(workers(&f, PLAN_EXPECTED), 0);
    assert_int_equal(f.plan.budget_bytes, 0);
}

static void without_samples_nothing_is_promised(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 0, 0, 100 * MIB);
    for (int id = 0; id < PLAN_CASE_COUNT; id++) {
        assert_int_equal(workers(&f, (enum plan_case_id)id), 0);
    }
    assert_false(f.plan.limit.known);
}

/* 32 children, RES 230 MB each, of it 216 MB APCu: 7360 MB by ps. Right: about 0.8 GB. */
static void c13_shared_cache_is_paid_once(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 32, 15 * MIB, 1024 * MIB);
    fixed(&f, "shared", 216 * MIB);
    f.input.workers_allowed = 32;
    assert_int_equal(workers(&f, PLAN_EXPECTED), (1024 - 216) / 15);
    assert_int_equal(f.plan.cases[PLAN_EXPECTED].need_now_bytes, (216 + 32 * 15) * MIB);
    assert_true(f.plan.cases[PLAN_EXPECTED].fits_now);
    assert_true(1024 / 230 < 5); /* what RSS would have allowed */
}

/* A host of 1 GB at "142 %": a sum of %MEM; 725 MB were used. */
static void c14_more_than_everything_is_no_need(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 20, 30 * MIB, 1024 * MIB);
    fixed(&f, "shared", 43 * MIB); /* 20 x (30 + 43) = 1460 MB by RSS */
    f.input.workers_now = 20;
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.cases[PLAN_P95].need_now_bytes, (43 + 600) * MIB);
    assert_true(f.plan.cases[PLAN_P95].fits_now);
}

/* smaps_rollup, kB: Rss 70652, Private_Dirty 7376, Anonymous 11544 (shared with the master). */
static void c15_private_is_less_than_anonymous(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 2, 7376 * 1024, 512 * MIB);
    f.samples[1] = (68 + 15132) * 1024;
    fixed(&f, "shared", (70652 - 7376) * 1024);
    /* mean 11288 kB: (524288 - 63276) / 11288 = 40.8 */
    assert_int_equal(workers(&f, PLAN_EXPECTED), 40);
}

/* EC2 of 1935.6 MiB; RES 46-60 m, SHR 28-32 m, 692 MiB used in all. */
static void c17_private_parts_of_an_ec2_host(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 2, 16 * MIB, 1935 * MIB);
    f.samples[1] = 30 * MIB;
    fixed(&f, "shared", 32 * MIB);
    fixed(&f, "others", 300 * MIB);
    assert_int_equal(workers(&f, PLAN_EXPECTED), (1935 - 332) / 23);
    assert_true(workers(&f, PLAN_WORST) < workers(&f, PLAN_EXPECTED));
}

/* 50 children of 250 MB in a pod of 3 GB need 12.5 GB: eleven fit with a reserve of 10 %. */
static void c18_the_pod_of_three_gigabytes(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 50, 250 * MIB, 3072 * MIB);
    fixed(&f, "reserve", 307 * MIB);
    f.input.workers_allowed = 50;
    assert_int_equal(workers(&f, PLAN_WORST), 11);
    assert_false(f.plan.cases[PLAN_WORST].fits_now);
    assert_int_equal(f.plan.cases[PLAN_WORST].need_now_bytes, (307 + 12500) * MIB);
}

/* The OOM report's columns are pages: 43328 to 83197 of 4 KiB, not kB. */
static void c19_pages_of_an_oom_report(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 2, UINT64_C(43328) * 4096, 2048 * MIB);
    f.samples[1] = UINT64_C(83197) * 4096;
    assert_int_equal(workers(&f, PLAN_WORST), 6);
    assert_true(workers(&f, PLAN_P95) <= 9);
}

/* pm.max_requests is overshot, so it is a guard: 0 when no growth was measured. */
static void c20_requests_until_recycled(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 4, 20 * MIB, 512 * MIB);
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.max_requests, 1000);
    f.input.growth_known = true;
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.max_requests, 0);
    f.input.growth_bytes_per_request = 4096; /* 2 MiB / 4 KiB */
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.max_requests, 512);
    f.input.growth_bytes_per_request = MIB;
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.max_requests, 50);
}

/* One report of 1 GB leaves one worker large; the other 19 are 20 MB. */
static void c21_one_large_worker_is_not_the_mean(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 20, 20 * MIB, 4096 * MIB);
    f.samples[7] = 1024 * MIB;
    plan_make(&f.input, PLAN_P95, &f.plan);
    const uint64_t expected = f.plan.cases[PLAN_EXPECTED].workers;
    const uint64_t p95 = f.plan.cases[PLAN_P95].workers;
    assert_int_equal(expected, 4096 * 20 / (19 * 20 + 1024));
    assert_true(p95 < expected);
    assert_true(p95 >= 20); /* 2 or 3 large ones at once, not all */
    assert_int_equal(f.plan.cases[PLAN_WORST].workers, 4);
    assert_int_equal(f.plan.each.median_bytes, 20 * MIB);
}

static void memory_limit_follows_real_in_chunks(void **state)
{
    struct fixture f;

    (void)state;
    assert_int_equal(plan_limit_for(0), 2 * MIB);
    assert_int_equal(plan_limit_for(2 * MIB), 4 * MIB);
    assert_int_equal(plan_limit_for(14696448), 18 * MIB); /* 17.5 MiB */
    assert_int_equal(plan_limit_for(96 * MIB), 120 * MIB);
    assert_true(plan_limit_for(UINT64_MAX) >= UINT64_MAX - 2 * MIB);
    /* 32 strings of 1 MiB: 31 chunks hold one each; real 65,011,712, used 33.9 MB */
    fill(&f, 2, 40 * MIB, 512 * MIB);
    f.input.heap = (struct plan_heap){.known = true,
        .peak_real_bytes = 65011712,
        .peak_used_bytes = 34086720,
        .half_chunks = 31};
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_true(f.plan.limit.known);
    assert_int_equal(f.plan.limit.advised_bytes, 78 * MIB);
    /* the blocks are a little above half a chunk: less than half is beside them */
    assert_int_equal(f.plan.limit.cliff_bytes, 65011712 - 34086720);
    assert_int_equal(f.plan.limit.without_cliff_bytes, 42 * MIB);
    assert_int_equal(f.plan.limit.worst_workers, 6);
    f.input.idle = true;
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_false(f.plan.limit.known);
}

/* Ten blocks of 2,090,000 bytes, which fill their chunks, and ten of 1,572,864. */
static void large_blocks_waste_no_more_than_is_free(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 2, 40 * MIB, 512 * MIB);
    f.input.heap = (struct plan_heap){.known = true,
        .peak_real_bytes = 22 * MIB,
        .peak_used_bytes = 21286092,
        .half_chunks = 10};
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_true(f.plan.limit.cliff_bytes <= 22 * MIB - 21286092);
    assert_true(f.plan.limit.without_cliff_bytes >= plan_limit_for(21286092));
    f.input.heap.peak_used_bytes = 16148070;
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_true(f.plan.limit.without_cliff_bytes >= plan_limit_for(16148070));
    /* what was used is not known: nothing is said of it */
    f.input.heap.peak_used_bytes = 0;
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.limit.cliff_bytes, 0);
}

/* The lines to set and the workers counted are of one limit, which is the one that is set. */
static void the_limit_to_set_is_the_one_that_is_counted(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 20, 20 * MIB, 512 * MIB);
    f.input.base_bytes = 4 * MIB;
    f.input.heap = (struct plan_heap){.known = true,
        .peak_real_bytes = 20 * MIB,
        .limit_bytes = {.value = 128 * MIB, .state = FACT_OK}};
    plan_make(&f.input, PLAN_WORST, &f.plan);
    assert_int_equal(f.plan.limit.set_bytes, 128 * MIB);
    assert_int_equal(f.plan.worst_each_bytes, 132 * MIB);
    assert_int_equal(f.plan.cases[PLAN_WORST].workers, 3);
    assert_int_equal(f.plan.limit.advised_bytes, 26 * MIB);
    assert_int_equal(f.plan.limit.worst_workers, 17);
    /* the lower one, when it is asked for */
    f.input.heap.limit_bytes.value = 26 * MIB;
    f.input.heap.limit_wished = true;
    plan_make(&f.input, PLAN_WORST, &f.plan);
    assert_int_equal(f.plan.limit.set_bytes, 26 * MIB);
    assert_int_equal(f.plan.cases[PLAN_WORST].workers, 17);
    /* one that requests are near to is raised, one that is asked for is not */
    f.input.heap.limit_bytes.value = 22 * MIB;
    plan_make(&f.input, PLAN_WORST, &f.plan);
    assert_int_equal(f.plan.limit.set_bytes, 22 * MIB);
    f.input.heap.limit_wished = false;
    plan_make(&f.input, PLAN_WORST, &f.plan);
    assert_int_equal(f.plan.limit.set_bytes, 26 * MIB);
    assert_int_equal(f.plan.cases[PLAN_WORST].workers, 17);
    /* without one the advised is set, and counted */
    f.input.heap.limit_bytes = (struct fact){.state = FACT_ABSENT};
    plan_make(&f.input, PLAN_WORST, &f.plan);
    assert_int_equal(f.plan.limit.set_bytes, 26 * MIB);
    assert_true(f.plan.worst_by_limit);
    f.input.idle = true;
    plan_make(&f.input, PLAN_WORST, &f.plan);
    assert_int_equal(f.plan.limit.set_bytes, 0);
    assert_false(f.plan.worst_by_limit);
}

static void a_measured_crowd_counts(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 100, 10 * MIB, 1000 * MIB);
    f.samples[3] = 40 * MIB;
    const uint64_t alone = workers(&f, PLAN_P95);
    f.input.concurrency = 1.5; /* all workers are large together */
    assert_true(workers(&f, PLAN_P95) < alone);
    assert_int_equal(workers(&f, PLAN_P95), 64); /* 10.3 x 1.5 = 15.45 */
    f.input.concurrency = 100; /* more than every worker's largest cannot be */
    assert_int_equal(workers(&f, PLAN_P95), 25);
}

static void a_saving_buys_workers(void **state)
{
    struct fixture f;

    (void)state;
    fill(&f, 10, 20 * MIB, 1000 * MIB);
    f.input.savings[0] = (struct plan_saving){.low_bytes = 0, .high_bytes = 10 * MIB};
    f.input.savings[1] =
        (struct plan_saving){.low_bytes = 4 * MIB, .high_bytes = 400 * MIB};
    f.input.saving_count = 2;
    f.input.kernel_bytes = MIB;
    plan_make(&f.input, PLAN_P95, &f.plan);
    assert_int_equal(f.plan.cases[PLAN_P95].workers, 47);
    assert_int_equal(f.input.savings[0].workers_low, 47);
    assert_int_equal(f.input.savings[0].workers_high, 90);
    assert_int_equal(f.input.savings[1].workers_low, 58);
    assert_int_equal(
        f.input.savings[1].workers_high, 1000); /* the kernel's share stays */
}

static uint64_t seed = 20261130;

static uint64_t random_below(uint64_t bound)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (seed >> 33) % bound;
}

static void random_input(struct fixture *f)
{
    fill(f, 1 + random_below(MOST), 0, (1 + random_below(16384)) * MIB);
    for (size_t i = 0; i < f->input.private_count; i++) {
        f->samples[i] = random_below(random_below(10) == 0 ? 300 * MIB : 20 * MIB);
    }
    f->input.kernel_bytes = 1 + random_below(MIB);
    f->input.base_bytes = random_below(20 * MIB);
    f->input.concurrency = random_below(2) == 0 ? 0 : 1 + (double)random_below(100) / 100;
    fixed(f, "shared", random_below(500 * MIB));
    if (random_below(2) == 0) {
        f->input.heap.limit_bytes =
            (struct fact){.value = random_below(512 * MIB), .state = FACT_OK};
    }
}

static void check_against(struct fixture *f, const struct plan *before, bool more)
{
    plan_make(&f->input, PLAN_P95, &f->plan);
    for (int id = 0; id < PLAN_CASE_COUNT; id++) {
        if (more) {
            assert_true(f->plan.cases[id].workers >= before->cases[id].workers);
        } else {
            assert_true(f->plan.cases[id].workers <= before->cases[id].workers);
        }
    }
}

static void properties(void **state)
{
    struct fixture f;

    (void)state;
    for (int round = 0; round < 2000; round++) {
        random_input(&f);
        plan_make(&f.input, PLAN_P95, &f.plan);
        const struct plan before = f.plan;
        for (int id = 0; id < PLAN_CASE_COUNT; id++) {
            const struct plan_case *one = &before.cases[id];
            /* what fits is within the limit, and one more is not */
            if (one->workers > 0) {
                assert_true(one->need_bytes <= f.input.limit_bytes);
            }
            if (before.budget_bytes > 0 && one->workers < PLAN_MAX_WORKERS) {
                assert_true(plan_need(&f.input, &before, (enum plan_case_id)id,
                                one->workers + 1) > before.budget_bytes);
            }
        }
        assert_true(
            before.cases[PLAN_EXPECTED].workers >= before.cases[PLAN_P95].workers);
        assert_true(before.cases[PLAN_P95].workers >= before.cases[PLAN_WORST].workers);
        f.input.limit_bytes += random_below(1000 * MIB);
        check_against(&f, &before, true);
        const struct plan larger = f.plan;
        f.input.fixed[0].bytes += random_below(1000 * MIB);
        check_against(&f, &larger, false);
        const struct plan fixed_more = f.plan;
        for (size_t i = 0; i < f.input.private_count; i++) {
            f.samples[i] *= 2;
        }
        check_against(&f, &fixed_more, false);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_hand),
        cmocka_unit_test(a_byte_decides),
        cmocka_unit_test(without_samples_nothing_is_promised),
        cmocka_unit_test(c13_shared_cache_is_paid_once),
        cmocka_unit_test(c14_more_than_everything_is_no_need),
        cmocka_unit_test(c15_private_is_less_than_anonymous),
        cmocka_unit_test(c17_private_parts_of_an_ec2_host),
        cmocka_unit_test(c18_the_pod_of_three_gigabytes),
        cmocka_unit_test(c19_pages_of_an_oom_report),
        cmocka_unit_test(c20_requests_until_recycled),
        cmocka_unit_test(c21_one_large_worker_is_not_the_mean),
        cmocka_unit_test(memory_limit_follows_real_in_chunks),
        cmocka_unit_test(large_blocks_waste_no_more_than_is_free),
        cmocka_unit_test(the_limit_to_set_is_the_one_that_is_counted),
        cmocka_unit_test(a_measured_crowd_counts),
        cmocka_unit_test(a_saving_buys_workers),
        cmocka_unit_test(properties),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
