/*
 * test_replay.c - whatever the facts are, a capture of them explains to the same bytes.
 *
 * The facts have every field of the capture's schema filled at random: names that are not
 * UTF-8, the largest numbers, facts in every state. That no member lacks a row in the
 * schema is test_schema's to find.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts_of_schema.h"
#include "findings/finding.h"
#include "model/snapshot.h"
#include "present/explain_json.h"
#include "present/explain_text.h"
#include "record/capture.h"

enum { ROUNDS = 150 };

static void explain(const struct facts *facts, struct buffer *text)
{
    const struct present_style style = {.utf8 = true, .exact_bytes = true, .width = 80};
    struct snapshot snapshot;
    struct finding_list list;

    assert_int_equal(snapshot_build(facts, &snapshot), 0);
    assert_int_equal(findings_run(&snapshot, &list), 0);
    present_explain_text(&snapshot, &list, NULL, &style, text);
    present_explain_json(&snapshot, &list, NULL, text);
    assert_int_equal(buffer_error(text), 0);
    finding_list_release(&list);
    snapshot_release(&snapshot);
}

static void replay(const struct facts *facts, struct facts *again)
{
    struct buffer capture;

    buffer_init(&capture);
    assert_int_equal(capture_write(facts, &capture, NULL), 0);
    assert_int_equal(
        capture_read("x", capture.data, capture.length_bytes, again, NULL), 0);
    buffer_release(&capture);
}

static void a_replay_prints_the_same_bytes(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        struct facts facts;
        struct facts again;
        struct buffer live;
        struct buffer replayed;

        buffer_init(&live);
        buffer_init(&replayed);
        facts_of_schema(seed, &facts);
        replay(&facts, &again);
        explain(&facts, &live);
        explain(&again, &replayed);
        assert_string_equal(buffer_text(&live), buffer_text(&replayed));
        buffer_release(&live);
        buffer_release(&replayed);
        region_release(&facts.region);
        region_release(&again.region);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_replay_prints_the_same_bytes),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
