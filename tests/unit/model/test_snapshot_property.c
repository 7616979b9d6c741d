/* test_snapshot_property.c - what holds for every snapshot, on facts of any shape. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "facts_random.h"
#include "snapshot_check.h"

enum { ROUNDS = 2000, LARGEST_INPUT_BYTES = 12000 };

/* xorshift64*: small, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void invariants_hold_for_any_facts(void **state)
{
    static uint8_t bytes[LARGEST_INPUT_BYTES];
    uint64_t random = 20261130;
    size_t with_residual = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t count = next_random(&random) % LARGEST_INPUT_BYTES;
        struct facts facts;
        struct snapshot snapshot;
        const char *problem;

        for (size_t i = 0; i < count; i++) {
            bytes[i] = (uint8_t)(next_random(&random) >> 32);
        }
        facts_random(&facts, bytes, count);
        assert_int_equal(snapshot_build(&facts, &snapshot), 0);
        problem = snapshot_check(&snapshot);
        if (problem != NULL) {
            fail_msg("round %d: %s", round, problem);
        }
        with_residual += snapshot.layers[LAYER_RESIDUAL].bytes != 0;
        snapshot_release(&snapshot);
        region_release(&facts.region);
    }
    /* The generator must reach the interesting cases, else this test proves nothing. */
    assert_true(with_residual > ROUNDS / 10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(invariants_hold_for_any_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
