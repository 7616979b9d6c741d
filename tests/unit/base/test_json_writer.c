/* test_json_writer.c - separators, exact integers, and strings that are any bytes. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/json_writer.h"

static void write_sample(struct json_writer *json)
{
    json_object_begin(json);
    json_key(json, "bytes");
    json_unsigned(json, UINT64_MAX);
    json_key(json, "gap");
    json_signed(json, INT64_MIN);
    json_key(json, "arenas");
    json_array_begin(json);
    json_bool(json, true);
    json_nothing(json);
    json_array_begin(json);
    json_array_end(json);
    json_object_begin(json);
    json_object_end(json);
    json_array_end(json);
    json_key(json, "why");
    json_quoted(json, NULL);
    json_object_end(json);
}

static void separators_fall_where_they_belong(void **state)
{
    struct buffer buffer;
    struct json_writer json;

    (void)state;
    buffer_init(&buffer);
    json_writer_init(&json, &buffer, 0);
    write_sample(&json);
    assert_string_equal(buffer_text(&buffer),
        "{\"bytes\":18446744073709551615,\"gap\":-9223372036854775808,"
        "\"arenas\":[true,null,[],{}],\"why\":null}");
    buffer_release(&buffer);
}

static void indentation_follows_the_depth(void **state)
{
    struct buffer buffer;
    struct json_writer json;

    (void)state;
    buffer_init(&buffer);
    json_writer_init(&json, &buffer, 2);
    json_object_begin(&json);
    json_key(&json, "a");
    json_array_begin(&json);
    json_unsigned(&json, 1);
    json_unsigned(&json, 2);
    json_array_end(&json);
    json_object_end(&json);
    assert_string_equal(buffer_text(&buffer), "{\n  \"a\": [\n    1,\n    2\n  ]\n}");
    buffer_release(&buffer);
}

static void check_string(const char *text, const char *expected)
{
    struct buffer buffer;
    struct json_writer json;

    buffer_init(&buffer);
    json_writer_init(&json, &buffer, 0);
    json_quoted(&json, text);
    assert_string_equal(buffer_text(&buffer), expected);
    buffer_release(&buffer);
}

static void strings_are_valid_json_whatever_they_hold(void **state)
{
    (void)state;
    check_string(
        "quote \" slash \\ line\n tab\t", "\"quote \\\" slash \\\\ line\\n tab\\t\"");
    check_string("\x1b[31m\x7f", "\"\\u001b[31m\\u007f\"");
    check_string("gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x98",
        "\"gr\xc3\xbc\xc3\x9f \xe2\x82\xac \xf0\x9f\x90\x98\"");
    /* lone continuation, overlong, surrogate, above U+10FFFF, cut off at the end */
    check_string("\x80", "\"\xef\xbf\xbd\"");
    check_string("\xc0\xaf", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string("\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string(
        "\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"");
    check_string("\xe2\x82", "\"\xef\xbf\xbd\xef\xbf\xbd\"");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(separators_fall_where_they_belong),
        cmocka_unit_test(indentation_follows_the_depth),
        cmocka_unit_test(strings_are_valid_json_whatever_they_hold),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
