/*
 * account.c - facts, model, findings: the steps in order, and what their gaps mean.
 *
 * Which missing facts count as partial is decided here and nowhere else. A number that
 * this kernel or program does not have (absent) is not missing: nothing could give it.
 */
#include "cmd/account.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/error.h"
#include "cmd/message.h"
#include "cmd/recording_source.h"
#include "facts/collect.h"
#include "facts/root.h"
#include "record/capture_file.h"

enum { TOLD_GAPS = 8 };

static bool ends_with(const char *text, const char *end)
{
    size_t text_bytes = strlen(text);
    size_t end_bytes = strlen(end);

    return text_bytes >= end_bytes && strcmp(text + text_bytes - end_bytes, end) == 0;
}

static bool has_capture_suffix(const char *target)
{
    return ends_with(target, ".strata") || ends_with(target, ".json");
}

/* A program's path names its processes, so a file counts only when it looks like one. */
static bool begins_like_capture(const char *path)
{
    char text[64];
    bool answer = false;
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);

    if (descriptor < 0) {
        return errno == EACCES; /* to be told so, not looked for among processes */
    }
    ssize_t bytes = read(descriptor, text, sizeof(text));
    for (ssize_t i = 0; i < bytes; i++) {
        if (strchr(" \t\r\n", text[i]) == NULL) {
            answer = text[i] == '{';
            break;
        }
    }
    (void)close(descriptor);
    return answer;
}

/*
 * A path that names no file may still be a cgroup; a bare name with a capture's suffix
 * is always meant as one, so that a mistyped file is not looked for among processes.
 */
static bool is_capture(const char *target)
{
    struct stat status;

    if (strcmp(target, "-") == 0 || has_capture_suffix(target)) {
        return true;
    }
    if (strchr(target, '/') == NULL || stat(target, &status) != 0) {
        return false;
    }
    return S_ISFIFO(status.st_mode) ||
           (S_ISREG(status.st_mode) && begins_like_capture(target));
}

/* A path that names a file is most likely meant as one. */
static bool is_other_file(const char *target)
{
    struct stat status;

    return strchr(target, '/') != NULL && stat(target, &status) == 0 &&
           S_ISREG(status.st_mode);
}

static int read_live(const struct options *options, const char *target,
    struct facts *facts, struct error *error)
{
    struct facts_root root;
    int rc = facts_root_open(&root, options->root, error);

    if (rc == 0) {
        root.defaults_file = options->defaults;
        root.ask_nobody = options->ask_nobody;
        rc = facts_collect(&root, target, COLLECT_EXPLAIN, facts, error);
        facts_root_close(&root);
    }
    return rc;
}

bool account_is_live(const struct options *options, const char *target)
{
    return options->root == NULL && !recording_is_meant(target) && !is_capture(target);
}

enum exit_code account_read(
    const struct options *options, const char *target, struct facts *facts)
{
    struct error error;
    int rc;

    if (recording_is_meant(target) && target == options->arguments[0]) {
        return recording_source_read(options, facts);
    }
    if (options->argument_count > 1) {
        complain(
            "one argument too many: '%s'; only a recording (FILE.db) and the result of "
            "a bench have several targets",
            options->arguments[1]);
        return EXIT_USAGE;
    }
    if (options->texts[TEXT_AT] != NULL) {
        complain("--at '%s' needs a recording (FILE.db), and '%s' is none",
            options->texts[TEXT_AT], target);
        return EXIT_USAGE;
    }
    error_reset(&error);
    if (is_capture(target)) {
        rc = capture_load(target, facts, &error);
    } else {
        rc = read_live(options, target, facts, &error);
    }
    if (rc != 0) {
        if (rc == -ENOENT && is_other_file(target)) {
            complain("cannot read '%s': the file is no capture (strata capture) and no "
                     "recording (strata record), and no process runs it",
                target);
        } else if (error.code != 0) {
            complain("%s", error.text);
        } else {
            complain("cannot read '%s': %s", target, strerror(-rc));
        }
    }
    return exit_code_of(rc);
}

int account_judge_quietly(struct account *account)
{
    int rc = snapshot_build(&account->facts, &account->snapshot);

    if (rc == 0) {
        rc = findings_run(&account->snapshot, &account->list);
        if (rc != 0) {
            snapshot_release(&account->snapshot);
        }
    }
    if (rc != 0) {
        region_release(&account->facts.region);
    }
    return rc;
}

enum exit_code account_judge(struct account *account)
{
    int rc = account_judge_quietly(account);

    if (rc != 0) {
        complain("cannot finish the account: %s", strerror(-rc));
        return EXIT_FAILED;
    }
    return EXIT_FINE;
}

void account_release(struct account *account)
{
    finding_list_release(&account->list);
    snapshot_release(&account->snapshot);
    region_release(&account->facts.region);
}

bool account_is_denied(const struct facts *facts)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        if (facts->processes[i].mappings_state != FACT_DENIED) {
            return false;
        }
    }
    return facts->process_count > 0;
}

bool account_is_partial(const struct facts *facts)
{
    for (size_t i = 0; i < facts->gap_count; i++) {
        if (facts->gaps[i].state != FACT_ABSENT) {
            return true;
        }
    }
    return false;
}

void account_tell_gaps(const struct facts *facts)
{
    size_t told = 0;

    for (size_t i = 0; i < facts->gap_count && told < TOLD_GAPS; i++) {
        const struct gap *gap = &facts->gaps[i];
        if (gap->state != FACT_ABSENT) {
            complain("missing '%s' (%s): %s", gap->fact, fact_state_names[gap->state],
                gap->why != NULL ? gap->why : "no reason known");
            told++;
        }
    }
    if (told == TOLD_GAPS) {
        complain("there may be more missing: strata explain lists all");
    }
}

bool account_lacks_only_frames(const struct facts *facts)
{
    for (size_t i = 0; i < facts->gap_count; i++) {
        const struct gap *gap = &facts->gaps[i];
        const bool frames = gap->state == FACT_DENIED && strcmp(gap->fact, "frames") == 0;

        if (gap->state != FACT_ABSENT && !frames) {
            return false;
        }
    }
    return true;
}

bool account_has_finding(const struct finding_list *list, int fail_on)
{
    for (size_t i = 0; fail_on >= 0 && i < list->count; i++) {
        if ((int)list->items[i].severity >= fail_on) {
            return true;
        }
    }
    return false;
}

enum exit_code account_exit_code(
    const struct facts *facts, const struct finding_list *list, int fail_on)
{
    if (account_has_finding(list, fail_on)) {
        return EXIT_FINDING;
    }
    if (facts->target_kind != TARGET_HOST && account_is_denied(facts)) {
        return EXIT_DENIED;
    }
    return account_is_partial(facts) ? EXIT_PARTIAL : EXIT_FINE;
}
