/*
 * recording_source.c - a moment of a recording is a capture like any other.
 *
 * Captures are fewer than ticks, so the last one at or before the time that was asked for is
 * shown, and how far away it is is said.
 */
#include "cmd/recording_source.h"

#include <errno.h>
#include <string.h>

#include "base/quantity.h"
#include "cmd/message.h"
#include "cmd/recording_time.h"
#include "record/recording_capture.h"
#include "record/whole_file.h"

enum { MS_PER_SECOND = 1000, NS_PER_MS = 1000000, TOLD_MS = 1500 };

bool recording_is_meant(const char *target)
{
    const size_t bytes = strlen(target);

    return (bytes > 3 && strcmp(target + bytes - 3, ".db") == 0) ||
           (strchr(target, '/') != NULL && recording_looks_like(target));
}

enum exit_code recording_source_open(const char *path, struct recording *recording)
{
    struct error error = {0};
    int rc = recording_open(path, recording, &error);

    if (rc != 0) {
        complain("%s", error_text(&error, rc));
    }
    return exit_code_of(rc);
}

enum exit_code recording_source_spare(const char *path, const char *output)
{
    if (output == NULL || !whole_file_is_same(path, output)) {
        return EXIT_FINE;
    }
    complain("cannot write '%s': it is the recording that is read", output);
    return EXIT_USAGE;
}

enum exit_code recording_source_time(const struct recording *recording, const char *path,
    const char *option, const char *text, int64_t *at_ms)
{
    if (text == NULL) {
        return EXIT_FINE;
    }
    int rc = recording_time_parse(text, recording->first_ms, recording->last_ms, at_ms);
    if (rc == -ERANGE) {
        complain("%s '%s' is not in '%s', which lasts from %s to %s", option, text, path,
            quantity_time(recording->first_ms * NS_PER_MS).text,
            quantity_time(recording->last_ms * NS_PER_MS).text);
        return EXIT_NO_TARGET;
    }
    if (rc != 0) {
        complain("%s takes a time such as 14:05, 2026-11-30T14:05:10Z or -10m, not '%s'",
            option, text);
        return EXIT_USAGE;
    }
    return EXIT_FINE;
}

static size_t count_targets(const struct recording *recording)
{
    size_t count = 0;

    for (size_t i = 0; i < recording->subject_count; i++) {
        count += recording->subjects[i].kind == RECORDING_TARGET;
    }
    return count;
}

static void list_targets(const struct recording *recording, struct buffer *names)
{
    for (size_t i = 0; i < recording->subject_count; i++) {
        if (recording->subjects[i].kind == RECORDING_TARGET) {
            buffer_printf(names, "%s'%s'", names->length_bytes > 0 ? ", " : "",
                recording->subjects[i].name);
        }
    }
}

/* The only target, or the one of that name; NULL after a message. */
static const struct recording_subject *choose_target(
    const struct recording *recording, const char *path, const char *name)
{
    const struct recording_subject *chosen = NULL;
    struct buffer names;
    size_t count = 0;

    for (size_t i = 0; i < recording->subject_count; i++) {
        const struct recording_subject *subject = &recording->subjects[i];
        if (subject->kind == RECORDING_TARGET &&
            (name == NULL || strcmp(subject->name, name) == 0)) {
            chosen = subject;
            count++;
        }
    }
    if (count == 1) {
        return chosen;
    }
    buffer_init(&names);
    list_targets(recording, &names);
    if (name != NULL) {
        complain("'%s' has no target '%s', only %s", path, name, buffer_text(&names));
    } else {
        complain("'%s' has several targets; name one behind it: %s", path,
            buffer_text(&names));
    }
    buffer_release(&names);
    return NULL;
}

/* text: of what the distance is, such as "the time that was asked for". */
static void tell_distance(
    const struct recording_capture *capture, int64_t at_ms, const char *text)
{
    const int64_t distance = at_ms - capture->at_ms;
    const uint64_t away = (uint64_t)(distance < 0 ? -distance : distance);

    if (away >= TOLD_MS) {
        complain("shown is the capture of %s, %s %s %s",
            quantity_time(capture->at_ms * NS_PER_MS).text,
            quantity_seconds(away / MS_PER_SECOND).text,
            distance > 0 ? "before" : "after", text);
    }
}

/* The capture of target for at_ms; which one it was to *chosen, unless that is NULL. */
static enum exit_code load_capture(const struct recording *recording, const char *path,
    const struct recording_subject *target, int64_t at_ms, struct facts *facts,
    const struct recording_capture **chosen)
{
    const struct recording_capture *capture =
        recording_capture_at(recording, target->id, at_ms);
    struct error error = {0};

    if (capture == NULL) {
        complain("'%s' has no capture of '%s'", path, target->name);
        return EXIT_NO_TARGET;
    }
    int rc = recording_capture_facts(recording, capture, facts, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
    }
    if (chosen != NULL) {
        *chosen = capture;
    }
    return exit_code_of(rc);
}

static enum exit_code read_capture(
    const struct recording *recording, const struct options *options, struct facts *facts)
{
    const char *path = options->arguments[0];
    const char *name = options->argument_count > 1 ? options->arguments[1] : NULL;
    const struct recording_capture *capture;
    int64_t at_ms = recording->last_ms;
    enum exit_code code =
        recording_source_time(recording, path, "--at", options->texts[TEXT_AT], &at_ms);

    if (code != EXIT_FINE) {
        return code;
    }
    const struct recording_subject *target = choose_target(recording, path, name);
    if (target == NULL) {
        return EXIT_NO_TARGET;
    }
    code = load_capture(recording, path, target, at_ms, facts, &capture);
    if (code == EXIT_FINE) {
        tell_distance(capture, at_ms,
            options->texts[TEXT_AT] != NULL ? "the time that was asked for"
                                            : "the end of the recording");
    }
    return code;
}

enum exit_code recording_source_read(const struct options *options, struct facts *facts)
{
    struct recording recording;
    enum exit_code code = recording_source_open(options->arguments[0], &recording);

    if (code == EXIT_FINE) {
        code = read_capture(&recording, options, facts);
        recording_close(&recording);
    }
    return code;
}

enum exit_code recording_source_last(
    const char *path, const char *name, struct facts *facts)
{
    struct recording recording;
    enum exit_code code = recording_source_open(path, &recording);

    if (code != EXIT_FINE) {
        return code;
    }
    const bool one = count_targets(&recording) == 1;
    const struct recording_subject *target =
        choose_target(&recording, path, one ? NULL : name);
    code = target == NULL
               ? EXIT_NO_TARGET
               : load_capture(&recording, path, target, recording.last_ms, facts, NULL);
    recording_close(&recording);
    return code;
}
