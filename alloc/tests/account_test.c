/* The account: limits, hard limits, the three verbs, peaks. */
#include "support.h"

#include "account.h"

#define GIB ((size_t)1 << 30)

static void stock_limit(void **state)
{
    (void)state;
    struct strata__account account = {0};
    strata__account_set_limit(&account, 100);
    assert_int_equal(strata__account_reserve(&account, 100), STRATA__GRANTED);
    strata__account_commit(&account, 100);
    assert_int_equal(account.real_bytes, 100);
    assert_int_equal(strata__account_reserve(&account, 1), STRATA__OVER_LIMIT);
    assert_int_equal(account.reserved_bytes, 0);
    strata__account_return(&account, 60);
    assert_int_equal(strata__account_reserve(&account, 60), STRATA__GRANTED);
    strata__account_cancel(&account, 60);
    assert_int_equal(account.real_bytes, 40);
    assert_int_equal(account.peak_real_bytes, 100);
}

/* Stock Zend computes limit - real unsigned, so that everything fits above the limit. */
static void above_the_limit_nothing_fits(void **state)
{
    (void)state;
    struct strata__account account = {.real_bytes = 200};
    strata__account_set_limit(&account, 100);
    assert_false(strata__account_fits(&account, 1));
    assert_int_equal(strata__account_reserve(&account, 1), STRATA__OVER_LIMIT);
    assert_int_equal(strata__account_reserve(&account, SIZE_MAX), STRATA__OVER_LIMIT);
}

static void hard_limits(void **state)
{
    (void)state;
    struct strata__account account = {.limit_mode = STRATA_LIMIT_SOFT_HARD};
    strata__account_set_limit(&account, 16 * MIB);
    assert_int_equal(account.hard_limit_bytes, 32 * MIB);
    strata__account_set_limit(&account, GIB);
    assert_int_equal(account.hard_limit_bytes, 2 * GIB);
    strata__account_set_limit(&account, 3 * GIB);
    assert_int_equal(account.hard_limit_bytes, 4 * GIB);
    account.hard_limit_percent = 150;
    strata__account_set_limit(&account, 10 * MIB);
    assert_int_equal(account.hard_limit_bytes, 15 * MIB);
    strata__account_set_limit(&account, 0);
    assert_int_equal(account.hard_limit_bytes, STRATA__NO_LIMIT);
}

static void soft_limit_is_noted_once(void **state)
{
    (void)state;
    struct strata__account account = {.limit_mode = STRATA_LIMIT_SOFT_HARD};
    strata__account_set_limit(&account, 100);
    assert_int_equal(strata__account_reserve(&account, 150), STRATA__GRANTED_SOFT);
    strata__account_commit(&account, 150);
    assert_int_equal(strata__account_reserve(&account, 50), STRATA__GRANTED);
    strata__account_commit(&account, 50);
    assert_int_equal(strata__account_reserve(&account, 1), STRATA__OVER_HARD_LIMIT);
    assert_true(account.overrun);
}

static void peaks(void **state)
{
    (void)state;
    struct strata__account account = {0};
    strata__account_use(&account, 70);
    assert_int_equal(strata__account_peak_used(&account), 70);
    strata__account_unuse(&account, 30);
    strata__account_use(&account, 10);
    assert_int_equal(strata__account_peak_used(&account), 70);
    strata__account_forget_double(&account, 55);
    assert_int_equal(strata__account_peak_used(&account), 55);
    strata__account_reset_peak(&account);
    assert_int_equal(strata__account_peak_used(&account), 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stock_limit),
        cmocka_unit_test(above_the_limit_nothing_fits),
        cmocka_unit_test(hard_limits),
        cmocka_unit_test(soft_limit_is_noted_once),
        cmocka_unit_test(peaks),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
