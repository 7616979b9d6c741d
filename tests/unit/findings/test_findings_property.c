/* test_findings_property.c - what holds for findings on facts of any shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts_random.h"
#include "findings_check.h"

enum { ROUNDS = 2000, LARGEST_INPUT_BYTES = 12000, MAX_RULES = 64 };

/* xorshift64*: small, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void count_rules(const struct finding_list *list, size_t *spoken)
{
    for (size_t i = 0; i < list->count; i++) {
        spoken[list->items[i].rule - rule_table]++;
    }
}

static void promises_hold_for_any_facts(void **state)
{
    static uint8_t bytes[LARGEST_INPUT_BYTES];
    size_t spoken[MAX_RULES] = {0};
    uint64_t random = 20261130;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t count = next_random(&random) % LARGEST_INPUT_BYTES;
        struct facts facts;
        struct snapshot snapshot;
        struct finding_list list;
        const char *problem;

        for (size_t i = 0; i < count; i++) {
            bytes[i] = (uint8_t)(next_random(&random) >> 32);
        }
        facts_random(&facts, bytes, count);
        assert_int_equal(snapshot_build(&facts, &snapshot), 0);
        assert_int_equal(findings_run(&snapshot, &list), 0);
        problem = findings_check(&list);
        if (problem != NULL) {
            fail_msg("round %d: %s", round, problem);
        }
        count_rules(&list, spoken);
        finding_list_release(&list);
        snapshot_release(&snapshot);
        region_release(&facts.region);
    }
    /* A rule that never speaks here is not tested here. */
    for (size_t i = 0; rule_table[i].id != NULL; i++) {
        if (rule_table[i].run != NULL && spoken[i] == 0) {
            fail_msg("no random facts made '%s' speak", rule_table[i].id);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(promises_hold_for_any_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
