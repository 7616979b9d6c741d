/*
 * The figures of one heap and its limit. Every counter changes in one function here,
 * save for `used` and its peak on the two fast paths, which the inline functions below
 * keep.
 *
 * Buying memory takes three verbs: reserve (tests the limit), then commit when the system
 * gave the memory, or cancel when it did not.
 */
#ifndef STRATA_ACCOUNT_H
#define STRATA_ACCOUNT_H

#include <stddef.h>
#include <stdint.h>

#include <strata/heap.h>

#define STRATA__NO_LIMIT (SIZE_MAX >> 1)

enum strata__verdict {
    STRATA__GRANTED,
    STRATA__GRANTED_SOFT, /* above the soft limit, not yet reported */
    STRATA__OVER_LIMIT,
    STRATA__OVER_HARD_LIMIT
};

struct strata__account {
    size_t used_bytes;
    size_t peak_used_bytes; /* without the current `used`, which may be higher */
    size_t real_bytes;
    size_t peak_real_bytes;
    size_t reserved_bytes; /* between reserve and commit or cancel */
    size_t limit_bytes;
    size_t hard_limit_bytes;
    int hard_limit_percent;
    enum strata_limit_mode limit_mode;
    int overrun;          /* soft limit passed, caller not yet asked */
    int overrun_reported; /* soft limit passed, callback told */
};

/* bytes 0: no limit. */
void strata__account_set_limit(struct strata__account *account, size_t bytes);
/* A limit as callers see it: 0 for none. */
static inline size_t strata__account_shown(size_t limit_bytes)
{
    return limit_bytes == STRATA__NO_LIMIT ? 0 : limit_bytes;
}
/* Would `bytes` more fit under the (soft) limit? Changes nothing. */
int strata__account_fits(const struct strata__account *account, size_t bytes);
/* May `bytes` be bought? When granted, they stay reserved until commit or cancel. An open
 * reservation does not count against the limit: the node of a ZEND huge block may buy a
 * chunk on the strength of the same room. */
enum strata__verdict strata__account_reserve(
    struct strata__account *account, size_t bytes);
void strata__account_commit(struct strata__account *account, size_t bytes);
void strata__account_cancel(struct strata__account *account, size_t bytes);
/* Bytes went back to the system. */
void strata__account_return(struct strata__account *account, size_t bytes);
/* End of request: nothing is used, `real_bytes` are held. */
void strata__account_restart(struct strata__account *account, size_t real_bytes);
size_t strata__account_peak_used(const struct strata__account *account);
void strata__account_reset_peak(struct strata__account *account);
/* After a move whose short double holding shall not show: the peak is the one before the
 * move or the present use, whichever is higher. */
void strata__account_forget_double(struct strata__account *account, size_t peak_before);

static inline void strata__account_use(struct strata__account *account, size_t bytes)
{
    account->used_bytes += bytes;
}

/* The peak is looked at only when `used` is about to fall: a highest point is always
 * followed by a fall or is the present figure. */
static inline void strata__account_unuse(struct strata__account *account, size_t bytes)
{
    size_t used = account->used_bytes;
    size_t peak = account->peak_used_bytes;
    /* Without a branch: in a heap that grows and churns nobody foretells it. */
    account->peak_used_bytes = used > peak ? used : peak;
    account->used_bytes = used - bytes;
}

#endif
