/* test_glibc_total.c - sums of arenas, and how missing arenas are told. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "model/glibc_total.h"

static struct glibc_arena arena(uint64_t held, bool main)
{
    return (struct glibc_arena){
        .main = main,
        .state = FACT_OK,
        .held_bytes = held,
        .in_use_bytes = held / 2,
        .free_bytes = held / 4,
        .fast_bytes = 32,
        .top_bytes = held / 8,
        .cached_bytes = 16,
        .resident_state = FACT_OK,
        .free_resident_bytes = 4096,
        .top_resident_bytes = 8192,
        .trim_gain_bytes = main ? 12288 : 4096,
        .top_trimmable_bytes = main ? 8192 : 0,
        .free_chunks = 7,
        .fast_chunks = 1,
        .free_shared_bytes = {.value = 1000, .state = FACT_OK},
    };
}

static void adds_arenas_and_mmapped_blocks(void **state)
{
    struct glibc_arena arenas[] = {arena(1 << 20, true), arena(2 << 20, false)};
    struct glibc_facts glibc = {.state = FACT_OK, .arenas = arenas, .arena_count = 2};
    struct glibc_total total = {0};

    (void)state;
    glibc.parameters.state = FACT_OK;
    glibc.parameters.mmapped_bytes = 1000000;
    glibc.parameters.mmapped_blocks = 3;
    glibc_total_add(&total, &glibc);

    assert_true(total.arenas == 2 && total.arenas_unread == 0);
    assert_true(total.held_bytes == (3 << 20) + 1000000);
    assert_true(total.in_use_bytes == (3 << 19) + 1000000);
    assert_true(total.free_bytes == (3 << 18) + 64 + (3 << 17));
    assert_true(total.mmapped_blocks == 3 && total.cached_bytes == 32);
    assert_true(total.free_resident_bytes == 2 * 4096 + 2 * 8192);
    assert_true(total.trim_gain_bytes == 12288 + 4096);
    assert_true(total.top_untrimmable_bytes == 8192);
    assert_true(total.free_shared_bytes == 2000 && total.free_chunks == 16);
    assert_true(total.arenas_unshared == 0);
    arenas[1].free_shared_bytes = (struct fact){.state = FACT_ABSENT};
    total = (struct glibc_total){0};
    glibc_total_add(&total, &glibc);
    assert_true(total.free_shared_bytes == 1000 && total.arenas_unshared == 1);
}

static void counts_what_could_not_be_read(void **state)
{
    struct glibc_arena arenas[] = {arena(1 << 20, true), arena(2 << 20, false)};
    struct glibc_facts glibc = {.state = FACT_STALE, .arenas = arenas, .arena_count = 2};
    struct glibc_total total = {0};

    (void)state;
    arenas[0].resident_state = FACT_DENIED;
    arenas[1].state = FACT_MALFORMED;
    glibc_total_add(&total, &glibc);

    assert_true(total.arenas == 2 && total.arenas_unread == 1);
    assert_true(total.arenas_unseen == 2);
    assert_true(total.held_bytes == 1 << 20);
    assert_true(total.trim_gain_bytes == 0 && total.free_resident_bytes == 0);
}

static void does_not_wrap_on_absurd_arenas(void **state)
{
    struct glibc_arena arenas[] = {arena(UINT64_MAX, true), arena(1 << 20, false)};
    struct glibc_facts glibc = {.state = FACT_OK, .arenas = arenas, .arena_count = 2};
    struct glibc_total total = {0};

    (void)state;
    glibc_total_add(&total, &glibc);
    assert_true(total.held_bytes == UINT64_MAX);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(adds_arenas_and_mmapped_blocks),
        cmocka_unit_test(counts_what_could_not_be_read),
        cmocka_unit_test(does_not_wrap_on_absurd_arenas),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
