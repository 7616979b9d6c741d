/*
 * cmd_record.c - `strata record TARGET... -o FILE.db`: the same facts again and again.
 *
 * At the start at least one target must be there, so that a mistyped name is told at once
 * and not after an hour; later any of them may come and go.
 */
#include "cmd/cmd_record.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#include "base/duration.h"
#include "base/json_writer.h"
#include "base/quantity.h"
#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/record_loop.h"
#include "cmd/record_progress.h"
#include "cmd/record_session.h"
#include "cmd/record_target.h"
#include "cmd/version.h"
#include "facts/moment.h"
#include "record/recorder_open.h"

enum { EVERY_MS = 5000, DEEP_EVERY_MS = 300000, PERCENT_OF_US_PER_MS = 10 };

#define MAX_BYTES (UINT64_C(512) << 20)

/* Is anyone there? Reads and forgets; the first tick reads again. */
static enum exit_code find_targets(struct record_session *session)
{
    struct error first = {0};
    size_t found = 0;

    for (size_t i = 0; i < session->target_count; i++) {
        struct error error = {0};
        struct facts facts;
        int rc = facts_collect(
            &session->root, session->targets[i].text, COLLECT_STATUS, &facts, &error);
        if (rc == 0) {
            region_release(&facts.region);
            found++;
        } else if (rc == -EEXIST || rc == -ENOMEM) {
            complain("%s", error_text(&error, rc));
            return exit_code_of(rc);
        } else {
            (void)error_set(&first, rc, "%s", error_text(&error, rc));
        }
    }
    if (found == 0) {
        complain("%s", first.text);
        return exit_code_of(first.code);
    }
    if (first.code != 0) {
        complain("%s; waiting for it", first.text);
    }
    return EXIT_FINE;
}

static int add_metrics(struct record_session *session)
{
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < LAYER_COUNT; i++) {
        struct buffer name;
        buffer_init(&name);
        buffer_printf(&name, "layer.%s", layer_names[i]);
        rc = recorder_metric(
            session->recorder, buffer_text(&name), "bytes", &session->layer_metrics[i]);
        buffer_release(&name);
    }
    if (rc == 0) {
        rc = recorder_metric(
            session->recorder, "service.requests", "count", &session->requests_metric);
    }
    if (rc == 0) {
        rc = recorder_metric(
            session->recorder, "capture.number", "count", &session->deep_metric);
    }
    return rc;
}

static int open_recorder(
    struct record_session *session, const struct options *options, struct error *error)
{
    struct utsname system = {0};

    (void)uname(&system);
    const struct recorder_options settings = {.every_ms = session->intervals.every_ms,
        .keep_ms = session->keep_ms,
        .max_bytes = session->max_bytes,
        .host = system.nodename,
        .version = version_text()};
    int rc = recorder_open(
        options->output, &settings, &session->now, &session->recorder, error);
    if (rc != 0) {
        return rc;
    }
    rc = add_metrics(session);
    return rc == 0 ? 0
                   : error_set(error, rc, "cannot record into '%s': %s", options->output,
                         strerror(-rc));
}

static void tell_json(const struct options *options, const struct recorder_state *state,
    const struct record_outcome *outcome, struct buffer *buffer)
{
    struct json_writer json;

    json_writer_init(&json, buffer, 2);
    json_object_begin(&json);
    json_key(&json, "file");
    json_quoted(&json, options->output);
    json_key(&json, "ticks");
    json_unsigned(&json, state->ticks);
    json_key(&json, "ticks_lost");
    json_unsigned(&json, state->ticks_lost);
    json_key(&json, "captures");
    json_unsigned(&json, state->captures);
    json_key(&json, "file_bytes");
    json_unsigned(&json, state->file_bytes);
    json_key(&json, "elapsed_ms");
    json_unsigned(&json, outcome->elapsed_ms);
    json_key(&json, "cpu_us");
    json_unsigned(&json, outcome->cpu_us);
    json_object_end(&json);
    buffer_append_char(buffer, '\n');
}

static const char *plural(uint64_t count)
{
    return count == 1 ? "" : "s";
}

static void tell_text(const struct options *options, const struct recorder_state *state,
    const struct record_outcome *outcome, struct buffer *buffer)
{
    const double percent = outcome->elapsed_ms == 0
                               ? 0.0
                               : (double)outcome->cpu_us / (double)outcome->elapsed_ms /
                                     PERCENT_OF_US_PER_MS;

    buffer_printf(buffer, "%s: %llu tick%s and %llu capture%s in %s, %s\n",
        options->output, (unsigned long long)state->ticks, plural(state->ticks),
        (unsigned long long)state->captures, plural(state->captures),
        quantity_seconds(outcome->elapsed_ms / 1000).text,
        quantity_bytes(state->file_bytes, false).text);
    if (state->ticks_lost > 0) {
        buffer_printf(buffer, "%llu tick%s could not be stored\n",
            (unsigned long long)state->ticks_lost, plural(state->ticks_lost));
    }
    buffer_printf(buffer, "cost: %s of processor time, %.2f %% of one processor\n",
        quantity_microseconds(outcome->cpu_us).text, percent);
}

/* Denied is what no target showed; with some of it missing the recording is partial. */
static enum exit_code code_of(
    const struct record_session *session, const struct recorder_state *state)
{
    if (session->captured_targets > 0 &&
        session->denied_targets == session->captured_targets) {
        return EXIT_DENIED;
    }
    return session->limited_targets > 0 || state->ticks_lost > 0 ? EXIT_PARTIAL
                                                                 : EXIT_FINE;
}

static enum exit_code tell(const struct options *options,
    const struct record_session *session, const struct recorder_state *state,
    const struct record_outcome *outcome)
{
    struct buffer buffer;

    buffer_init(&buffer);
    if (options->json) {
        tell_json(options, state, outcome, &buffer);
    } else {
        tell_text(options, state, outcome, &buffer);
    }
    int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    if (rc != 0 || !outcome->storing) {
        return EXIT_FAILED;
    }
    return code_of(session, state);
}

static enum exit_code record(
    struct record_session *session, const struct options *options)
{
    struct record_outcome outcome = {.storing = false};
    struct recorder_state state;
    struct error error = {0};
    int rc = open_recorder(session, options, &error);

    if (rc == 0) {
        struct record_progress progress;
        record_progress_begin(&progress, session, options->output);
        rc = record_loop(session, &progress, &outcome, &error);
    }
    if (session->recorder == NULL) {
        complain("%s", error_text(&error, rc));
        return rc == -EINVAL || rc == -EPROTO ? EXIT_NO_TARGET : EXIT_FAILED;
    }
    recorder_get_state(session->recorder, &state);
    int close_rc =
        recorder_close(session->recorder, &session->now, outcome.cpu_us, &error);
    if (rc != 0 || close_rc != 0) {
        complain("%s", error_text(&error, rc != 0 ? rc : close_rc));
        outcome.storing = false;
    }
    return tell(options, session, &state, &outcome);
}

static enum exit_code record_live(
    struct record_session *session, const struct options *options)
{
    struct error error = {0};
    int rc = facts_root_open(&session->root, options->root, &error);

    session->root.defaults_file = options->defaults;
    session->root.ask_nobody = options->ask_nobody;

    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        return exit_code_of(rc);
    }
    moment_read(&session->root, &session->now);
    capture_budget_init(&session->budget, session->now.boot_ms);
    enum exit_code code = find_targets(session);
    if (code == EXIT_FINE) {
        code = record(session, options);
    }
    facts_root_close(&session->root);
    return code;
}

/* The option's time or size by parse; *place stays when it was not given. */
static enum exit_code take(const struct options *options, enum option_text which,
    const char *name, int (*parse)(const char *, uint64_t *), uint64_t *place)
{
    const char *text = options->texts[which];

    if (text == NULL || parse(text, place) == 0) {
        return EXIT_FINE;
    }
    complain("%s takes a %s, not '%s'; see 'strata help record'", name,
        parse == size_parse ? "size such as 512M" : "time such as 90s, 5m or 1h30m",
        text);
    return EXIT_USAGE;
}

static enum exit_code take_settings(
    const struct options *options, struct record_session *session)
{
    const struct {
        enum option_text which;
        const char *name;
        int (*parse)(const char *, uint64_t *);
        uint64_t *place;
    } settings[] = {
        {TEXT_FOR, "--for", duration_parse, &session->for_ms},
        {TEXT_DEEP_EVERY, "--deep-every", duration_parse,
            &session->intervals.deep_every_ms},
        {TEXT_KEEP, "--keep", duration_parse, &session->keep_ms},
        {TEXT_MAX_SIZE, "--max-size", size_parse, &session->max_bytes},
    };
    const char *whole = options->texts[TEXT_FOR];
    enum exit_code code = EXIT_FINE;

    for (size_t i = 0; code == EXIT_FINE && i < sizeof(settings) / sizeof(settings[0]);
         i++) {
        code = take(options, settings[i].which, settings[i].name, settings[i].parse,
            settings[i].place);
    }
    if (code == EXIT_FINE && whole != NULL && session->for_ms == 0) {
        complain(
            "--for '%s' is no time at all; without it recording goes on until Ctrl-C",
            whole);
        code = EXIT_USAGE;
    }
    if (code == EXIT_FINE &&
        (options->output == NULL || strcmp(options->output, "-") == 0)) {
        complain("no file to record into: add -o FILE.db");
        code = EXIT_USAGE;
    }
    return code;
}

static bool is_named_before(const struct options *options, int index)
{
    for (int i = 0; i < index; i++) {
        if (strcmp(options->arguments[i], options->arguments[index]) == 0) {
            return true;
        }
    }
    return false;
}

/* A target that is named twice is one: it would be read and stored twice. */
static void take_targets(const struct options *options, struct record_session *session)
{
    for (int i = 0; i < options->argument_count; i++) {
        if (!is_named_before(options, i)) {
            session->targets[session->target_count++].text = options->arguments[i];
        }
    }
}

int cmd_record(const struct options *options)
{
    struct record_session session = {
        .intervals = {.every_ms = options->every_ms != 0 ? options->every_ms : EVERY_MS,
            .deep_every_ms = DEEP_EVERY_MS,
            .forced = options->texts[TEXT_DEEP_EVERY] != NULL},
        .max_bytes = MAX_BYTES};
    enum exit_code code = take_settings(options, &session);

    if (code != EXIT_FINE) {
        return code;
    }
    session.targets = calloc((size_t)options->argument_count, sizeof(*session.targets));
    if (session.targets == NULL) {
        complain("out of memory");
        return EXIT_FAILED;
    }
    take_targets(options, &session);
    code = record_live(&session, options);
    for (size_t i = 0; i < session.target_count; i++) {
        region_release(&session.targets[i].region);
    }
    free(session.targets);
    return code;
}
