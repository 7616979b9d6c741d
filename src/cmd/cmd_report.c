/*
 * cmd_report.c - `strata report FILE.db -o FILE.html`: a recording, or part of it, as a page.
 *
 * The page is written beside its place and renamed, as captures are, so that a browser never
 * loads half of one. --at shows the ten minutes around a moment.
 */
#include "cmd/cmd_report.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/account.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/recording_source.h"
#include "cmd/report_build.h"
#include "cmd/report_change.h"
#include "present/report.h"
#include "record/whole_file.h"

enum { AROUND_MS = 5 * 60 * 1000 };

/* One recording, read and judged. */
struct reported {
    struct timeline timeline;
    struct finding_list courses;
};

static int judge(struct reported *reported)
{
    const struct timeline *timeline = &reported->timeline;
    struct course *courses = calloc(timeline->subject_count + 1, sizeof(*courses));

    if (courses == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < timeline->subject_count; i++) {
        courses[i] = timeline->subjects[i].course;
    }
    int rc = findings_run_courses(courses, timeline->subject_count, &reported->courses);
    free(courses);
    return rc;
}

static enum exit_code take_span(const struct options *options,
    const struct recording *recording, const char *path, int64_t *from_ms, int64_t *to_ms)
{
    const char *const *texts = options->texts;
    int64_t at_ms;
    enum exit_code code =
        recording_source_time(recording, path, "--from", texts[TEXT_FROM], from_ms);

    if (code == EXIT_FINE) {
        code = recording_source_time(recording, path, "--to", texts[TEXT_TO], to_ms);
    }
    if (code == EXIT_FINE && texts[TEXT_AT] != NULL) {
        code = recording_source_time(recording, path, "--at", texts[TEXT_AT], &at_ms);
        if (code == EXIT_FINE) {
            *from_ms = at_ms - AROUND_MS;
            *to_ms = at_ms + AROUND_MS;
        }
    }
    if (code == EXIT_FINE && *from_ms >= *to_ms &&
        recording->first_ms < recording->last_ms) {
        complain("--from must be before --to");
        code = EXIT_USAGE;
    }
    return code;
}

/* Reads and judges the recording at path; whole: the options name a span of another one. */
static enum exit_code read_part(const struct options *options, const char *path,
    bool whole, struct reported *reported)
{
    struct recording recording;
    struct error error = {0};
    enum exit_code code = recording_source_open(path, &recording);

    if (code != EXIT_FINE) {
        return code;
    }
    int64_t from_ms = recording.first_ms;
    int64_t to_ms = recording.last_ms;
    if (!whole) {
        code = take_span(options, &recording, path, &from_ms, &to_ms);
    }
    if (code == EXIT_FINE) {
        int rc =
            report_build(&recording, path, from_ms, to_ms, &reported->timeline, &error);
        if (rc == 0) {
            rc = judge(reported);
            if (rc != 0) {
                region_release(&reported->timeline.region);
            }
        }
        if (rc != 0) {
            complain("%s", error_text(&error, rc));
            code = exit_code_of(rc);
        }
    }
    recording_close(&recording);
    return code;
}

static void release(struct reported *reported)
{
    finding_list_release(&reported->courses);
    region_release(&reported->timeline.region);
}

static enum exit_code write_out(const struct options *options,
    const struct report_part *part, const struct report_before *before)
{
    const char *output = options->output != NULL ? options->output : "-";
    struct buffer buffer;
    int rc;

    buffer_init(&buffer);
    if (options->json) {
        present_report_json(part, before, &buffer);
    } else {
        present_report(part, before, &buffer);
    }
    if (strcmp(output, "-") == 0) {
        rc = print_buffer(&buffer);
    } else {
        rc = buffer_error(&buffer);
        if (rc == 0) {
            rc = whole_file_write(output, &buffer, WHOLE_FILE_OWNER_ONLY);
        }
        if (rc != 0) {
            complain("cannot write '%s': %s", output, strerror(-rc));
        }
    }
    buffer_release(&buffer);
    return rc == 0 ? EXIT_FINE : EXIT_FAILED;
}

static enum exit_code compare(
    const struct options *options, const struct report_part *part, struct reported *old)
{
    const char *path = options->texts[TEXT_COMPARE];
    struct report_changes *changes = calloc(1, sizeof(*changes));
    enum exit_code code = EXIT_FAILED;

    if (changes == NULL) {
        complain("cannot compare with '%s': %s", path, strerror(ENOMEM));
        return code;
    }
    code = read_part(options, path, true, old);
    if (code == EXIT_FINE) {
        const struct report_source now = {options->arguments[0], part->timeline};
        const struct report_source earlier = {path, &old->timeline};
        report_changes_read(&now, &earlier, changes);
        const struct report_before before = {
            {&old->timeline, &old->courses}, changes->items, changes->count};
        code = write_out(options, part, &before);
        report_changes_release(changes);
        release(old);
    }
    free(changes);
    return code;
}

static enum exit_code report(
    const struct options *options, struct reported *now, struct reported *old)
{
    const struct report_part part = {&now->timeline, &now->courses};
    enum exit_code code = options->texts[TEXT_COMPARE] != NULL
                              ? compare(options, &part, old)
                              : write_out(options, &part, NULL);

    if (code == EXIT_FINE && account_has_finding(&now->courses, options->fail_on)) {
        code = EXIT_FINDING;
    }
    return code;
}

int cmd_report(const struct options *options)
{
    struct reported now;
    struct reported old;

    if (options->output == NULL && !options->json) {
        complain("no file to write to: add -o FILE.html, or -o - for standard output");
        return EXIT_USAGE;
    }
    const char *compare = options->texts[TEXT_COMPARE];
    enum exit_code code = recording_source_spare(options->arguments[0], options->output);
    if (code == EXIT_FINE && compare != NULL) {
        code = recording_source_spare(compare, options->output);
    }
    if (code == EXIT_FINE) {
        code = read_part(options, options->arguments[0], false, &now);
    }
    if (code == EXIT_FINE) {
        code = report(options, &now, &old);
        release(&now);
    }
    return code;
}
