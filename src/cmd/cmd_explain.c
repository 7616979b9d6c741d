/*
 * cmd_explain.c - `strata explain TARGET`: read, judge, show.
 *
 * With --capture the facts are stored before they are judged, so that an account that
 * surprises can be looked at again with exactly what it was made from.
 */
#include "cmd/cmd_explain.h"

#include <string.h>

#include "cmd/account.h"
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

static enum exit_code show(
    const struct options *options, const struct account *account, const struct past *past)
{
    const struct present_style style = terminal_style(options);
    const struct since *since = past->there ? &past->since : NULL;
    const struct explain_past beside = {.since = since};
    struct buffer buffer;

    buffer_init(&buffer);
    if (options->json) {
        present_explain_json(&account->snapshot, &account->list, since, &buffer);
    } else {
        present_explain_text(
            &account->snapshot, &account->list, &beside, &style, &buffer);
    }
    int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? account_exit_code(&account->facts, &account->list, options->fail_on)
                   : EXIT_FAILED;
}

/* Beside what was before, when that is known. */
static enum exit_code tell(const struct options *options, const struct account *account)
{
    const char *before = options->texts[TEXT_SINCE];
    struct past past = {.there = false};
    enum exit_code code = before != NULL ? past_read(before, account, &past) : EXIT_FINE;

    if (code == EXIT_FINE) {
        code = show(options, account, &past);
        past_release(&past);
    }
    return code;
}

int cmd_explain(const struct options *options)
{
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
        code = tell(options, &account);
        account_release(&account);
    }
    return code;
}
