/*
 * past.c - the look before. Facts were stored and not conclusions, so the rules of today judge
 * both moments alike; a promise is what they would have said then.
 */
#include "cmd/past.h"

#include <string.h>

#include "base/error.h"
#include "cmd/message.h"
#include "cmd/recording_source.h"
#include "present/header_text.h"
#include "record/capture_file.h"

int past_compare(
    struct past *past, const char *source, const struct account *now, const char *doubt)
{
    const struct since_moment then = {&past->before.snapshot, &past->before.list, doubt};
    const struct since_moment at_last = {&now->snapshot, &now->list, NULL};
    int rc = since_build(&then, &at_last, source, &past->since);

    past->there = rc == 0;
    if (rc != 0) {
        account_release(&past->before);
    }
    return rc;
}

int past_take(const struct facts *facts, const char *source, const struct account *now,
    struct past *past)
{
    past->there = false;
    past->before.facts = *facts;
    int rc = account_judge_quietly(&past->before);

    return rc != 0 ? rc : past_compare(past, source, now, NULL);
}

enum exit_code past_read(const char *path, const struct account *now, struct past *past)
{
    struct facts facts;
    struct error error = {0};
    int rc;

    past->there = false;
    if (recording_is_meant(path)) {
        const enum exit_code code =
            recording_source_last(path, target_name(&now->facts), &facts);
        if (code != EXIT_FINE) {
            return code;
        }
        rc = 0;
    } else {
        rc = capture_load(path, &facts, &error);
    }
    rc = rc != 0 ? rc : past_take(&facts, path, now, past);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
    }
    return exit_code_of(rc);
}

void past_release(struct past *past)
{
    if (past->there) {
        since_release(&past->since);
        account_release(&past->before);
        past->there = false;
    }
}
