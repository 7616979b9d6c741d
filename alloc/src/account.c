/*
 * The figures of one heap and its limit.
 *
 * Invariants: used <= real once an operation has ended; real <= peak real; a reservation
 * is open only inside one call. With limit mode STOCK real <= limit, but for a limit lower
 * than what an empty heap holds, and for the one chunk of zend_huge.c.
 *
 * Two faults of stock Zend MM are not here. It computes `limit - real` unsigned, so once
 * real is above the limit every later test passes; here nothing fits then. And it may
 * answer a lower limit with success without storing it; here success means stored.
 *
 * The hard limit follows PHP's change of October 2026 (Debian 8.2.36): by default twice
 * the limit up to 1 GiB, limit + 1 GiB above.
 *
 * One thread at a time, as the heap.
 */
#include "account.h"

#include "os.h"

#define GIB ((size_t)1 << 30)

static size_t at_most_no_limit(size_t bytes)
{
    return bytes < STRATA__NO_LIMIT ? bytes : STRATA__NO_LIMIT;
}

static size_t hard_limit_of(size_t limit, int percent)
{
    if (percent <= 0) {
        return at_most_no_limit(limit <= GIB ? 2 * limit : limit + GIB);
    }
    size_t hundredths = (size_t)percent;
    if (limit / 100 > STRATA__NO_LIMIT / hundredths) {
        return STRATA__NO_LIMIT;
    }
    return at_most_no_limit(limit / 100 * hundredths + limit % 100 * hundredths / 100);
}

void strata__account_set_limit(struct strata__account *account, size_t bytes)
{
    account->limit_bytes = bytes == 0 ? STRATA__NO_LIMIT : at_most_no_limit(bytes);
    account->hard_limit_bytes = account->limit_bytes;
    if (account->limit_mode == STRATA_LIMIT_SOFT_HARD) {
        account->hard_limit_bytes =
            hard_limit_of(account->limit_bytes, account->hard_limit_percent);
    }
    account->overrun_reported = 0;
}

static int fits_under(const struct strata__account *account, size_t limit, size_t bytes)
{
    return account->real_bytes <= limit && bytes <= limit - account->real_bytes;
}

int strata__account_fits(const struct strata__account *account, size_t bytes)
{
    return fits_under(account, account->limit_bytes, bytes);
}

enum strata__verdict strata__account_reserve(
    struct strata__account *account, size_t bytes)
{
    enum strata__verdict verdict = STRATA__GRANTED;
    if (bytes > 0 && !strata__account_fits(account, bytes)) {
        if (account->limit_mode == STRATA_LIMIT_STOCK) {
            return STRATA__OVER_LIMIT;
        }
        if (!fits_under(account, account->hard_limit_bytes, bytes)) {
            return STRATA__OVER_HARD_LIMIT;
        }
        verdict = account->overrun_reported ? STRATA__GRANTED : STRATA__GRANTED_SOFT;
        account->overrun = 1;
        account->overrun_reported = 1;
    }
    account->reserved_bytes += bytes;
    return verdict;
}

void strata__account_commit(struct strata__account *account, size_t bytes)
{
    STRATA__BUG_IF(bytes > account->reserved_bytes);
    account->reserved_bytes -= bytes;
    account->real_bytes += bytes;
    if (account->real_bytes > account->peak_real_bytes) {
        account->peak_real_bytes = account->real_bytes;
    }
}

void strata__account_cancel(struct strata__account *account, size_t bytes)
{
    STRATA__BUG_IF(bytes > account->reserved_bytes);
    account->reserved_bytes -= bytes;
}

void strata__account_return(struct strata__account *account, size_t bytes)
{
    STRATA__BUG_IF(bytes > account->real_bytes);
    account->real_bytes -= bytes;
}

void strata__account_restart(struct strata__account *account, size_t real_bytes)
{
    account->used_bytes = 0;
    account->peak_used_bytes = 0;
    account->real_bytes = real_bytes;
    account->peak_real_bytes = real_bytes;
    account->reserved_bytes = 0;
    account->overrun = 0;
    account->overrun_reported = 0;
}

size_t strata__account_peak_used(const struct strata__account *account)
{
    return account->used_bytes > account->peak_used_bytes ? account->used_bytes
                                                          : account->peak_used_bytes;
}

void strata__account_reset_peak(struct strata__account *account)
{
    account->peak_used_bytes = account->used_bytes;
    account->peak_real_bytes = account->real_bytes;
}

void strata__account_forget_double(struct strata__account *account, size_t peak_before)
{
    account->peak_used_bytes =
        account->used_bytes > peak_before ? account->used_bytes : peak_before;
}
