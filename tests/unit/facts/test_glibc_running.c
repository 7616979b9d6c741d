/* test_glibc_running.c - a target that allocates while it is read: exact, or how unsure. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "glibc_reading.h"

/* Every read: one block more is cut off the main top. */
static void take_from_top(struct glibc_image *image)
{
    const uint64_t field = image->main_arena + image->layout->state.top;
    const uint64_t top = glibc_image_get(image, field);
    const uint64_t left = glibc_image_get(image, top + 8) & ~UINT64_C(7);

    if (left > 0x1000) {
        glibc_image_put(image, top + 8, 0x40 | GLIBC_PREV_IN_USE);
        glibc_image_put(image, field, top + 0x40);
        glibc_image_put(image, top + 0x40 + 8, (left - 0x40) | GLIBC_PREV_IN_USE);
    }
}

static void take_for_a_while(struct glibc_image *image)
{
    enum { READS_UNTIL_QUIET = 60 };

    if (image->reads < READS_UNTIL_QUIET) {
        take_from_top(image);
    }
}

static void states_how_unsure_it_is_of_a_busy_arena(void **state)
{
    const struct glibc_arena *arena;
    uint64_t before, after;

    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_35);
    glibc_reading.image.before_read = take_from_top;
    before = glibc_reading.image.expected_main.in_use_bytes;
    arena = &glibc_reading_read()->arenas[0];
    after =
        glibc_reading.image.expected_main.held_bytes -
        glibc_reading.image.expected_main.free_bytes -
        glibc_reading.image.expected_main.fast_bytes -
        (glibc_image_get(&glibc_reading.image,
             glibc_image_get(&glibc_reading.image,
                 glibc_reading.image.main_arena + glibc_reading.image.layout->state.top) +
                 8) &
            ~UINT64_C(7));
    assert_true(after > before);
    assert_int_equal(arena->state, FACT_STALE);
    assert_non_null(arena->why);
    assert_true(arena->in_use_bytes + arena->plus_minus_bytes >= before);
    assert_true(arena->in_use_bytes <= after + arena->plus_minus_bytes);
    assert_true(arena->plus_minus_bytes > 0);
    /* The other arena stands still. */
    glibc_reading_compare(
        &glibc_reading.process.glibc.arenas[1], &glibc_reading.image.expected_second);
    glibc_reading_end();
}

/* One block is taken, at the read that change_at names. */
static uint64_t change_at;

static void take_once(struct glibc_image *image)
{
    if (image->reads == change_at) {
        take_from_top(image);
    }
}

/*
 * A single change at any moment: a figure called exact is of before or of after it; any
 * other states an uncertainty that covers both. Late changes are noticed by the last look.
 */
static void a_single_change_is_never_outside_the_uncertainty(void **state)
{
    enum { LAST_READ = 200, BLOCK = 0x40 };
    uint64_t noticed = 0;

    (void)state;
    for (change_at = 1; change_at < LAST_READ; change_at++) {
        const struct glibc_arena *arena;
        glibc_reading_begin(GLIBC_LAYOUT_2_35);
        glibc_reading.image.before_read = take_once;
        arena = &glibc_reading_read()->arenas[0];
        const uint64_t before = glibc_reading.image.expected_main.in_use_bytes;
        const uint64_t found = arena->in_use_bytes;
        if (arena->state == FACT_OK) {
            assert_true(found == before || found == before + BLOCK);
        } else {
            assert_int_equal(arena->state, FACT_STALE);
            assert_true(found + arena->plus_minus_bytes >= before + BLOCK);
            assert_true(found <= before + arena->plus_minus_bytes);
            noticed += found == before;
        }
        glibc_reading_end();
    }
    assert_true(noticed > 0);
}

static void reads_again_until_it_stands_still(void **state)
{
    const struct glibc_arena *arena;

    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_35);
    glibc_reading.image.before_read = take_for_a_while;
    arena = &glibc_reading_read()->arenas[0];
    assert_int_equal(arena->state, FACT_OK);
    assert_true(arena->in_use_bytes > glibc_reading.image.expected_main.in_use_bytes);
    assert_int_equal(arena->held_bytes, arena->in_use_bytes + arena->free_bytes +
                                            arena->fast_bytes + arena->top_bytes +
                                            arena->overhead_bytes);
    glibc_reading_end();
}

static void does_not_call_a_locked_arena_damaged(void **state)
{
    (void)state;
    glibc_reading_begin(GLIBC_LAYOUT_2_35);
    glibc_image_put(
        &glibc_reading.image, glibc_reading.image.main_arena, 1); /* the lock is held */
    glibc_image_put(&glibc_reading.image, glibc_reading.image.main_last + 8, 0);
    assert_int_equal(glibc_reading_read()->arenas[0].state, FACT_STALE);
    glibc_reading_end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_how_unsure_it_is_of_a_busy_arena),
        cmocka_unit_test(a_single_change_is_never_outside_the_uncertainty),
        cmocka_unit_test(reads_again_until_it_stands_still),
        cmocka_unit_test(does_not_call_a_locked_arena_damaged),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
