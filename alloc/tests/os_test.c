/* The operations on Linux itself. */
#include "support.h"

#include <string.h>

#include "sizeclass.h"

static void map_aligns(void **state)
{
    (void)state;
    const size_t alignments[] = {PAGE, 64 * PAGE, CHUNK, 4 * CHUNK};
    for (size_t i = 0; i < sizeof(alignments) / sizeof(alignments[0]); i++) {
        char *block = strata__os->map(3 * PAGE, alignments[i]);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignments[i], 0);
        memset(block, 1, 3 * PAGE);
        strata__os->unmap(block, 3 * PAGE);
    }
    assert_null(strata__os->map(SIZE_MAX - CHUNK + 1, CHUNK));
}

static void reserved_then_committed(void **state)
{
    (void)state;
    char *range = strata__os->reserve(64 * MIB);
    assert_non_null(range);
    assert_int_equal((uintptr_t)range % CHUNK, 0);
    assert_int_equal(strata__os->commit(range + MIB, MIB), 0);
    memset(range + MIB, 7, MIB);
    assert_int_equal(strata__os->purge(range + MIB, MIB), 0);
    assert_int_equal(range[MIB + 5], 0);
    strata__os->unmap(range, 64 * MIB);
}

static void extend_needs_room_behind(void **state)
{
    (void)state;
    char *block = strata__os->map(8 * PAGE, PAGE);
    strata__os->unmap(block + 2 * PAGE, 4 * PAGE);
    assert_int_equal(strata__os->extend(block, 2 * PAGE, 5 * PAGE), 0);
    block[5 * PAGE - 1] = 1;
    assert_int_not_equal(strata__os->extend(block, 5 * PAGE, 7 * PAGE), 0);
    strata__os->unmap(block, 5 * PAGE);
    strata__os->unmap(block + 6 * PAGE, 2 * PAGE);
}

static void secrets_differ(void **state)
{
    (void)state;
    assert_true(strata__os->secret() != strata__os->secret());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(map_aligns),
        cmocka_unit_test(reserved_then_committed),
        cmocka_unit_test(extend_needs_room_behind),
        cmocka_unit_test(secrets_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
