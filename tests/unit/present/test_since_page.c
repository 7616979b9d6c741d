/*
 * test_since_page.c - the page with an earlier look is one screen, whatever the two moments are.
 *
 * Each capture of the fixtures is set beside each other one, and beside itself.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "findings/since.h"
#include "fixture_captures.h"
#include "present/explain_text.h"

enum { SCREEN_LINES = 50, NAME_BYTES = 64 };

struct moment {
    const char *name;
    struct snapshot snapshot;
    struct finding_list list;
};

static struct {
    size_t most_lines;
    char of_most[2 * NAME_BYTES];
} seen;

static size_t lines_of(const struct buffer *buffer)
{
    size_t lines = 0;

    for (size_t i = 0; i < buffer->length_bytes; i++) {
        lines += buffer->data[i] == '\n';
    }
    return lines;
}

static void set_beside(const struct moment *before, const struct moment *now)
{
    const struct present_style style = {.utf8 = true, .width = 80};
    const struct since_moment then = {&before->snapshot, &before->list, NULL};
    const struct since_moment at_last = {&now->snapshot, &now->list, NULL};
    struct since since;
    struct buffer text;

    assert_int_equal(
        since_build(&then, &at_last, "/var/backups/a-look-of-before.strata", &since), 0);
    const struct explain_past past = {
        .since = &since, .kept = "kept for the next explain"};
    buffer_init(&text);
    present_explain_text(&now->snapshot, &now->list, &past, &style, &text);
    assert_int_equal(buffer_error(&text), 0);
    if (lines_of(&text) > seen.most_lines) {
        seen.most_lines = lines_of(&text);
        (void)snprintf(
            seen.of_most, sizeof(seen.of_most), "%s, since %s", now->name, before->name);
    }
    buffer_release(&text);
    since_release(&since);
}

/* Facts live as long as the capture is looked at, so each is the moment of now in turn. */
static void be_now(const char *name, const struct facts *facts, void *context)
{
    struct moment now = {.name = name};

    assert_int_equal(snapshot_build(facts, &now.snapshot), 0);
    assert_int_equal(findings_run(&now.snapshot, &now.list), 0);
    set_beside(context, &now);
    finding_list_release(&now.list);
    snapshot_release(&now.snapshot);
}

static void be_before(const char *name, const struct facts *facts, void *context)
{
    struct moment before = {.name = name};

    (void)context;
    assert_int_equal(snapshot_build(facts, &before.snapshot), 0);
    assert_int_equal(findings_run(&before.snapshot, &before.list), 0);
    each_fixture_capture(be_now, &before);
    finding_list_release(&before.list);
    snapshot_release(&before.snapshot);
}

static void two_moments_fit_on_one_screen(void **state)
{
    (void)state;
    each_fixture_capture(be_before, NULL);
    if (seen.most_lines > SCREEN_LINES) {
        fail_msg("%zu lines: %s", seen.most_lines, seen.of_most);
    }
    print_message("at most %zu lines: %s\n", seen.most_lines, seen.of_most);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(two_moments_fit_on_one_screen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
