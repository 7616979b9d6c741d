/* test_tick_code.c - ticks decode to what was encoded; what is damaged is refused in bounds. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_types/fact.h"
#include "record/tick_code.h"

enum { METRICS = 40, SUBJECTS = 30 };

static uint64_t random_value(void)
{
    const uint64_t bits =
        ((uint64_t)rand() << 42) ^ ((uint64_t)rand() << 21) ^ (uint64_t)rand();

    return bits >> (rand() % 64);
}

static void change_some(struct tick_cell *cells)
{
    for (int i = 0; i < METRICS; i++) {
        if (rand() % 4 == 0) {
            cells[i].value = random_value();
            cells[i].state = (uint64_t)rand() % FACT_STATE_COUNT;
        }
    }
}

/* A subject comes, changes, ends and comes back. */
static void ticks_follow_one_another(void **state)
{
    static struct tick_cell old[SUBJECTS][METRICS];
    static struct tick_cell now[SUBJECTS][METRICS];
    static bool lives[SUBJECTS];
    struct tick_table table;

    (void)state;
    srand(3);
    assert_int_equal(tick_table_init(&table, SUBJECTS, METRICS), 0);
    for (int round = 0; round < 200; round++) {
        struct buffer data;
        uint64_t last = 0;
        buffer_init(&data);
        for (uint64_t s = 1; s < SUBJECTS; s++) {
            if (rand() % 3 != 0) {
                continue;
            }
            if (lives[s] && rand() % 10 == 0) {
                tick_encode_end(&data, s - last);
                memset(now[s], 0, sizeof(now[s]));
                lives[s] = false;
            } else {
                change_some(now[s]);
                tick_encode_row(
                    &data, s - last, lives[s] ? old[s] : NULL, now[s], METRICS);
                lives[s] = true;
            }
            memcpy(old[s], now[s], sizeof(old[s]));
            last = s;
        }
        assert_int_equal(tick_decode(data.data, data.length_bytes, &table), 0);
        for (int s = 1; s < SUBJECTS; s++) {
            assert_int_equal(table.rows[s] != NULL, lives[s]);
            if (lives[s]) {
                assert_memory_equal(table.rows[s], now[s], sizeof(now[s]));
            }
        }
        buffer_release(&data);
    }
    tick_table_release(&table);
}

static void a_quiet_subject_costs_nothing_and_a_small_move_little(void **state)
{
    struct tick_cell before[METRICS] = {{.value = UINT64_C(5) << 30, .state = FACT_OK}};
    struct tick_cell after[METRICS] = {
        {.value = (UINT64_C(5) << 30) - 32, .state = FACT_OK}};
    struct buffer data;

    (void)state;
    buffer_init(&data);
    tick_encode_row(&data, 1, before, after, METRICS);
    assert_int_equal(data.length_bytes, 4);
    buffer_release(&data);
}

static void damage_is_refused(void **state)
{
    static const struct {
        unsigned char bytes[12];
        size_t count;
    } damaged[] = {
        {{0, 1}, 2},                                    /* the same subject twice */
        {{30, 1}, 2},                                   /* beyond the last subject */
        {{1}, 1},                                       /* cut off */
        {{1, 2}, 2}, {{1, 2, 2}, 3}, {{1, 2, 0, 1}, 4}, /* no metric 0 */
        {{1, 2, 82, 1}, 4},                             /* metric 41 */
        {{1, 42, 2}, 3},                                /* more changes than metrics */
        {{1, 2, 3, 6, 1}, 5},                           /* no such state */
        {{128, 128, 128, 128, 128, 128, 128, 128, 128, 128, 1}, 11},
        {{1, 3, 80, 1, 2, 1}, 6}, /* metric 40, and one more */
    };

    (void)state;
    for (size_t i = 0; i < sizeof(damaged) / sizeof(damaged[0]); i++) {
        struct tick_table table;
        assert_int_equal(tick_table_init(&table, SUBJECTS, METRICS), 0);
        assert_int_equal(
            tick_decode(damaged[i].bytes, damaged[i].count, &table), -EINVAL);
        tick_table_release(&table);
    }
}

static void tables_have_bounds(void **state)
{
    struct tick_table table;

    (void)state;
    assert_int_equal(tick_table_init(&table, TICK_MAX_SUBJECTS + 1, 1), -EFBIG);
    tick_table_release(&table);
    assert_int_equal(tick_table_init(&table, 1, TICK_MAX_METRICS + 1), -EFBIG);
    tick_table_release(&table);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(ticks_follow_one_another),
        cmocka_unit_test(a_quiet_subject_costs_nothing_and_a_small_move_little),
        cmocka_unit_test(damage_is_refused),
        cmocka_unit_test(tables_have_bounds),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
