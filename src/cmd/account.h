/* account.h - the way from a target's name to findings, which several commands go. */
#ifndef STRATA_CMD_ACCOUNT_H
#define STRATA_CMD_ACCOUNT_H

#include <stdbool.h>

#include "cmd/exit_code.h"
#include "cmd/options.h"
#include "facts_types/facts.h"
#include "findings/finding.h"
#include "model/snapshot.h"

struct account {
    struct facts facts;
    struct snapshot snapshot;
    struct finding_list list;
};

/*
 * Reads target, an argument of options: a moment of a recording when it ends in .db or
 * contains '/' and begins like a database; a capture when it is "-", ends in .strata or .json, or contains '/' and is a
 * pipe or a file that begins like a capture; else the live system or --root. EXIT_FINE, or
 * the code to exit with after a message; then there is nothing to release.
 */
enum exit_code account_read(
    const struct options *options, const char *target, struct facts *facts);

/* Would account_read() look at processes of this machine? */
bool account_is_live(const struct options *options, const char *target);

/* Model and findings of account->facts. On failure facts are released as well. */
enum exit_code account_judge(struct account *account);

/* The same without a message. 0 or -ENOMEM. */
int account_judge_quietly(struct account *account);

void account_release(struct account *account);

/* No member shows its mappings: what is left are a few totals of 'status'. */
bool account_is_denied(const struct facts *facts);

/* Facts that exist are missing. */
bool account_is_partial(const struct facts *facts);

/*
 * Nothing is missing, or frame numbers alone, which the kernel shows to CAP_SYS_ADMIN only: what
 * runs without that on purpose never has them, of any target.
 */
bool account_lacks_only_frames(const struct facts *facts);

/* Says on standard error what is missing and why, of many the first. */
void account_tell_gaps(const struct facts *facts);

/* A finding is at or above fail_on; never when that is -1. */
bool account_has_finding(const struct finding_list *list, int fail_on);

/*
 * The code that an account ends with: a finding at or above fail_on (-1: none counts)
 * before missing facts, since it is the answer to what was asked.
 */
enum exit_code account_exit_code(
    const struct facts *facts, const struct finding_list *list, int fail_on);

#endif
