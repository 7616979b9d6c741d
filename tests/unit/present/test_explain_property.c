/* test_explain_property.c - whatever the facts are: valid JSON, and text without controls. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>
#include <jansson.h>

#include "facts_random.h"
#include "findings/finding.h"
#include "present/explain_json.h"
#include "present/explain_text.h"

enum { ROUNDS = 500, LARGEST_INPUT_BYTES = 8000 };

/* xorshift64*: small, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

static void check_json(const struct snapshot *snapshot, const struct finding_list *list)
{
    struct buffer buffer;

    buffer_init(&buffer);
    present_explain_json(snapshot, list, NULL, &buffer);
    /* As reals: made-up numbers may be beyond jansson's signed integers. */
    const size_t flags = JSON_REJECT_DUPLICATES | JSON_DECODE_INT_AS_REAL;
    json_error_t error;
    json_t *document = json_loads(buffer_text(&buffer), flags, &error);
    if (document == NULL) {
        fail_msg("line %d: %s", error.line, error.text);
    }
    json_decref(document);
    buffer_release(&buffer);
}

static void check_text(const struct snapshot *snapshot, const struct finding_list *list,
    const struct present_style *style)
{
    struct buffer buffer;

    buffer_init(&buffer);
    present_explain_text(snapshot, list, NULL, style, &buffer);
    assert_int_equal(buffer_error(&buffer), 0);
    for (size_t i = 0; i < buffer.length_bytes; i++) {
        unsigned char character = (unsigned char)buffer.data[i];
        assert_true(character == '\n' || (character >= 0x20 && character < 0x7f));
    }
    buffer_release(&buffer);
}

static void holds_for_any_facts(void **state)
{
    static uint8_t bytes[LARGEST_INPUT_BYTES];
    uint64_t random = 20261130;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t count = next_random(&random) % LARGEST_INPUT_BYTES;
        const struct present_style style = {
            .exact_bytes = round % 2 == 0, .unfolded = round % 3 == 0, .width = 80};
        struct finding_list list;
        struct facts facts;
        struct snapshot snapshot;

        for (size_t i = 0; i < count; i++) {
            bytes[i] = (uint8_t)(next_random(&random) >> 32);
        }
        facts_random(&facts, bytes, count);
        assert_int_equal(snapshot_build(&facts, &snapshot), 0);
        assert_int_equal(findings_run(&snapshot, &list), 0);
        check_json(&snapshot, &list);
        check_text(&snapshot, &list, &style);
        finding_list_release(&list);
        snapshot_release(&snapshot);
        region_release(&facts.region);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(holds_for_any_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
