/* test_capture.c - facts written and read back are the same facts and the same bytes. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_of_schema.h"
#include "record/capture.h"
#include "record/capture_check.h"

enum { ROUNDS = 120 };

static void write_ok(const struct facts *facts, struct buffer *buffer)
{
    struct error error = {0};

    buffer_init(buffer);
    if (capture_write(facts, buffer, &error) != 0) {
        fail_msg("%s", error.text);
    }
}

static void read_ok(const struct buffer *buffer, struct facts *facts)
{
    struct error error = {0};

    if (capture_read("x", buffer->data, buffer->length_bytes, facts, &error) != 0) {
        fail_msg("%s\n%s", error.text, buffer->data);
    }
}

static void any_facts_survive_the_round_trip(void **state)
{
    (void)state;
    for (unsigned seed = 0; seed < ROUNDS; seed++) {
        struct facts facts;
        struct facts again;
        struct buffer first;
        struct buffer second;
        const char *key;

        facts_of_schema(seed, &facts);
        write_ok(&facts, &first);
        read_ok(&first, &again);
        if (!facts_are_same(&facts, &again, &key)) {
            fail_msg("seed %u: '%s' differs", seed, key);
        }
        write_ok(&again, &second);
        assert_int_equal(first.length_bytes, second.length_bytes);
        assert_memory_equal(first.data, second.data, first.length_bytes);
        region_release(&facts.region);
        region_release(&again.region);
        buffer_release(&first);
        buffer_release(&second);
    }
}

static struct facts smallest(void)
{
    return (struct facts){.schema = FACTS_SCHEMA,
        .target_name = (char *)(uintptr_t) "1",
        .target_cgroup = -1};
}

static void the_format_does_not_change(void **state)
{
    static const char expected[] = "{\n"
                                   " \"format\": \"strata-capture\",\n"
                                   " \"schema\": 1,\n"
                                   " \"target_name\": \"1\",\n"
                                   " \"host\": {\n"
                                   "  \"values\": {\n"
                                   "   \"mem_total\": 0,\n"
                                   "   \"mem_free\": \"18446744073709551615\",\n"
                                   "   \"mem_available\": [\n"
                                   "    5,\n"
                                   "    2,\n"
                                   "    \"stale\"\n"
                                   "   ],\n"
                                   "   \"buffers\": \"denied\"\n"
                                   "  }\n"
                                   " }\n"
                                   "}\n";
    struct facts facts = smallest();
    struct buffer buffer;

    (void)state;
    facts.host.values[HOST_FACT_MEM_TOTAL] = (struct fact){0, 0, FACT_OK};
    facts.host.values[HOST_FACT_MEM_FREE] = (struct fact){UINT64_MAX, 0, FACT_OK};
    facts.host.values[HOST_FACT_MEM_AVAILABLE] = (struct fact){5, 2, FACT_STALE};
    facts.host.values[HOST_FACT_BUFFERS] = (struct fact){0, 0, FACT_DENIED};
    write_ok(&facts, &buffer);
    assert_string_equal(buffer.data, expected);
    buffer_release(&buffer);
}

/* Captures of the past lack keys, those of the future have more. */
static void missing_and_unknown_keys_are_fine(void **state)
{
    static const char text[] =
        "{\"format\":\"strata-capture\",\"schema\":1,\"target_name\":\"x\","
        "\"invented\":[{\"later\":null}],"
        "\"processes\":[{\"pid\":7,\"name\":\"p\",\"also\":1.5}]}";
    struct facts facts;
    struct error error = {0};

    (void)state;
    assert_int_equal(capture_read("x", text, sizeof(text) - 1, &facts, &error), 0);
    assert_int_equal(facts.process_count, 1);
    assert_int_equal(facts.processes[0].pid, 7);
    assert_int_equal(facts.processes[0].cgroup_index, -1);
    assert_int_equal(facts.target_cgroup, -1);
    assert_int_equal(facts.host.values[HOST_FACT_MEM_TOTAL].state, FACT_ABSENT);
    region_release(&facts.region);
}

static void texts_that_are_not_utf8_come_back(void **state)
{
    struct facts facts = smallest();
    struct facts again;
    struct buffer buffer;
    char name[] = "\xff\xfe name \x01\n\xed\xa0\x80";

    (void)state;
    facts.target_name = name;
    write_ok(&facts, &buffer);
    read_ok(&buffer, &again);
    assert_string_equal(again.target_name, name);
    region_release(&again.region);
    buffer_release(&buffer);
}

/* Facts that a reader would refuse are not written. */
static void facts_that_break_a_rule_are_not_written(void **state)
{
    struct facts facts = smallest();
    struct error error = {0};
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    facts.target_name = NULL;
    assert_int_equal(capture_write(&facts, &buffer, &error), -EINVAL);
    assert_string_equal(error.text, "cannot write the capture: 'target_name' is missing");
    facts = smallest();
    facts.target_kind = TARGET_KIND_COUNT;
    assert_int_equal(capture_write(&facts, &buffer, NULL), -EINVAL);
    facts = smallest();
    facts.unique_bytes.state = FACT_STATE_COUNT;
    assert_int_equal(capture_write(&facts, &buffer, NULL), -EINVAL);
    facts = smallest();
    facts.gap_count = 1;
    assert_int_equal(capture_write(&facts, &buffer, NULL), -EINVAL);
    facts = smallest();
    facts.competitor_pid = -2;
    assert_int_equal(capture_write(&facts, &buffer, NULL), -EINVAL);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_facts_survive_the_round_trip),
        cmocka_unit_test(the_format_does_not_change),
        cmocka_unit_test(missing_and_unknown_keys_are_fine),
        cmocka_unit_test(texts_that_are_not_utf8_come_back),
        cmocka_unit_test(facts_that_break_a_rule_are_not_written),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
