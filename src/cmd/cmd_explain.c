/*
 * cmd_explain.c - `strata explain TARGET`: read, judge, show.
 *
 * With --capture the facts are stored before they are judged, so that an account that
 * surprises can be looked at again with exactly what it was made from.
 */
#include "cmd/cmd_explain.h"

#include <string.h>

#include "cmd/account.h"
#include "cmd/kept_look.h"
#include "cmd/kept_name.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/past.h"
#include "cmd/recording_source.h"
#include "cmd/terminal.h"
#include "present/explain_json.h"
#include "present/explain_text.h"
#include "record/capture_file.h"
#include "record/whole_file.h"

static enum exit_code store(const struct options *options, const struct facts *facts)
{
    struct error error;

    if (options->capture == NULL) {
        return EXIT_FINE;
    }
    error_reset(&error);
    const int rc = capture_save(facts, options->capture, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        return EXIT_FAILED;
    }
    return EXIT_FINE;
}

static enum exit_code show(const struct options *options, const struct account *account,
    const struct explain_past *past)
{
    const struct present_style style = terminal_style(options);
    struct buffer buffer;

    buffer_init(&buffer);
    if (options->json) {
        present_explain_json(&account->snapshot, &account->list, past->since, &buffer);
    } else {
        present_explain_text(&account->snapshot, &account->list, past, &style, &buffer);
    }
    int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? account_exit_code(&account->facts, &account->list, options->fail_on)
                   : EXIT_FAILED;
}

/* Without it, as without a look. */
static void take_kept(
    const struct facts *facts, const struct account *account, struct past *past)
{
    struct buffer source;

    buffer_init(&source);
    (void)kept_source(facts, &account->facts, &source);
    (void)past_take(facts, buffer_text(&source), account, past);
    buffer_release(&source);
}

/* The look that was asked for, or else one that was kept of an earlier start of the target. */
static enum exit_code find_past(const struct options *options,
    const struct account *account, bool live, struct past *past)
{
    const char *before = options->texts[TEXT_SINCE];
    struct facts facts;

    past->there = false;
    if (before != NULL) {
        return past_read(before, account, past);
    }
    if (live && kept_look_before(&account->facts, &facts)) {
        take_kept(&facts, account, past);
    }
    return EXIT_FINE;
}

/* live: the target runs here, so that there will be a next time. */
static enum exit_code tell(
    const struct options *options, const struct account *account, bool live)
{
    const bool keeps = live && options->texts[TEXT_NO_KEEP] == NULL &&
                       kept_look_is_worth(&account->list);
    struct past past;
    enum exit_code code = find_past(options, account, live, &past);

    if (code == EXIT_FINE) {
        const struct explain_past beside = {
            .since = past.there ? &past.since : NULL,
            .kept = keeps ? kept_look_words(kept_look_keep(&account->facts)) : NULL,
        };
        code = show(options, account, &beside);
        past_release(&past);
    }
    return code;
}

int cmd_explain(const struct options *options)
{
    const bool live = account_is_live(options, options->arguments[0]);
    struct account account;

    if (options->capture != NULL && strcmp(options->capture, "-") == 0) {
        complain("--capture needs a file: standard output is taken by the account");
        return EXIT_USAGE;
    }
    enum exit_code code = EXIT_FINE;
    /* A capture may be a pipe: what is not the file to write to is not looked into here. */
    if (options->capture != NULL &&
        whole_file_is_same(options->arguments[0], options->capture) &&
        recording_is_meant(options->arguments[0])) {
        code = recording_source_spare(options->arguments[0], options->capture);
    }
    if (code == EXIT_FINE) {
        code = account_read(options, options->arguments[0], &account.facts);
    }
    if (code != EXIT_FINE) {
        return code;
    }
    code = store(options, &account.facts);
    if (code != EXIT_FINE) {
        region_release(&account.facts.region);
        return code;
    }
    code = account_judge(&account);
    if (code == EXIT_FINE) {
        code = tell(options, &account, live);
        account_release(&account);
    }
    return code;
}
