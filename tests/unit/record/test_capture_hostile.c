/* test_capture_hostile.c - captures that are cut off, damaged or made to harm. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_of_schema.h"
#include "record/capture.h"

enum { SEEDS = 40 };

static int read_text(const char *text, size_t bytes, struct error *error)
{
    struct facts facts;

    error_reset(error);
    int rc = capture_read("f.json", text, bytes, &facts, error);
    if (rc == 0) {
        region_release(&facts.region);
    } else {
        assert_int_equal(error->code, rc);
        assert_true(strncmp(error->text, "cannot read capture 'f.json': ", 30) == 0);
    }
    return rc;
}

/* The shortest of some captures that hold a process: each byte of it is tried. */
static void write_short_capture(struct buffer *shortest)
{
    buffer_init(shortest);
    for (unsigned seed = 0; seed < SEEDS; seed++) {
        struct facts facts;
        struct buffer buffer;

        facts_of_schema(seed, &facts);
        buffer_init(&buffer);
        assert_int_equal(capture_write(&facts, &buffer, NULL), 0);
        if (facts.process_count > 0 &&
            (shortest->length_bytes == 0 ||
                buffer.length_bytes < shortest->length_bytes)) {
            struct buffer longer = *shortest;
            *shortest = buffer;
            buffer = longer;
        }
        region_release(&facts.region);
        buffer_release(&buffer);
    }
    assert_true(shortest->length_bytes > 0);
}

static void every_prefix_is_refused(void **state)
{
    struct buffer buffer;
    struct error error;

    (void)state;
    write_short_capture(&buffer);
    assert_int_equal(read_text(buffer.data, buffer.length_bytes, &error), 0);
    /* Without its last line feed it is still whole. */
    assert_int_equal(read_text(buffer.data, buffer.length_bytes - 1, &error), 0);
    for (size_t bytes = 0; bytes < buffer.length_bytes - 1; bytes++) {
        /* A copy of exactly this size, so that a sanitizer sees a read behind it. */
        char *copy = malloc(bytes + 1);
        assert_non_null(copy);
        memcpy(copy, buffer.data, bytes);
        copy[bytes] = 'x';
        assert_int_equal(read_text(copy, bytes, &error), -EINVAL);
        free(copy);
    }
    buffer_release(&buffer);
}

static void any_changed_byte_is_refused_or_harmless(void **state)
{
    struct buffer buffer;
    struct error error;

    (void)state;
    write_short_capture(&buffer);
    for (size_t i = 0; i < buffer.length_bytes; i += 7) {
        static const char values[] = {'\0', '"', '[', '-', '9', '\xff'};
        char old = buffer.data[i];
        buffer.data[i] = values[i / 7 % sizeof(values)];
        (void)read_text(buffer.data, buffer.length_bytes, &error);
        buffer.data[i] = old;
    }
    buffer_release(&buffer);
}

#define HEAD "{\"format\":\"strata-capture\",\"schema\":1,\"target_name\":\"t\","
#define PROCESS HEAD "\"processes\":[{\"pid\":1,\"name\":\"p\","
#define TAIL "}]}"

static const struct {
    const char *text;
    int rc;
    const char *message; /* part of it */
} refused[] = {
    {"", -EINVAL, "it is empty"},
    {"\x1f\x8b\x08", -EINVAL, "line 1"},
    {"[]", -EINVAL, "it was not written by 'strata capture'"},
    {"7", -EINVAL, "line 1"},
    {"{}", -EINVAL, "it was not written by 'strata capture'"},
    {"{\"format\":\"strata-capture\"}", -EINVAL, "'target_name' is missing"},
    {"{\"format\":\"strata-capture\",\"target_name\":\"t\"}", -EINVAL,
        "'schema' is missing"},
    {"{\"format\":\"strata-capture\",\"schema\":2,\"x\":[]}", -EPROTO, "newer strata"},
    {"{\"format\":\"strata-capture\",\"schema\":-1}", -EINVAL, "'schema' is not"},
    {HEAD "\"format\":\"strata-capture\"}", -EINVAL, "duplicate object key"},
    {HEAD "\"gaps\":NaN}", -EINVAL, "line 1"},
    {HEAD "\"gaps\":{}}", -EINVAL, "'gaps' is not an array"},
    {HEAD "\"gaps\":[7]}", -EINVAL, "'gaps[0]' is not an object"},
    {HEAD "\"gaps\":[{\"fact\":\"f\",\"why\":\"w\",\"state\":\"ok\"}]}", -EINVAL,
        "'gaps[0]' says that nothing is missing"},
    {HEAD "\"gaps\":[{\"fact\":\"f\",\"state\":\"gone\"}]}", -EINVAL,
        "'gaps[0].why' is missing"},
    {HEAD "\"host\":[]}", -EINVAL, "'host' is not an object"},
    {HEAD "\"host\":{\"page_bytes\":3}}", -EINVAL, "'host.page_bytes' is not a size"},
    {HEAD "\"host\":{\"page_bytes\":1e3}}", -EINVAL, "'host.page_bytes' is not a whole"},
    {HEAD "\"host\":{\"kernel\":7}}", -EINVAL, "'host.kernel' is not a text"},
    {HEAD "\"host\":{\"kernel\":{\"hex\":\"0\"}}}", -EINVAL, "is not a text"},
    {HEAD "\"host\":{\"kernel\":{\"hex\":\"00\"}}}", -EINVAL, "is not a text"},
    {HEAD "\"host\":{\"kernel\":\"a\\u0000b\"}}", -EINVAL, "line 1"},
    {HEAD "\"host\":{\"page_counts_estimated\":1}}", -EINVAL, "is not true or false"},
    {HEAD "\"host\":{\"values\":{\"mem_total\":-1}}}", -EINVAL,
        "'host.values.mem_total' is not a fact"},
    {HEAD "\"host\":{\"values\":{\"mem_total\":\"ok\"}}}", -EINVAL, "is not a fact"},
    {HEAD "\"host\":{\"values\":{\"mem_total\":[1]}}}", -EINVAL, "is not a fact"},
    {HEAD "\"host\":{\"values\":{\"mem_total\":[1,2,\"ok\"]}}}", -EINVAL, "not a fact"},
    {HEAD "\"host\":{\"values\":{\"mem_total\":[1,2,\"stale\",4]}}}", -EINVAL,
        "is not a fact"},
    {HEAD "\"host\":{\"values\":{\"mem_total\":\"18446744073709551616\"}}}", -EINVAL,
        "is not a fact"},
    {HEAD "\"host\":{\"values\":{\"mem_total\":18446744073709551616}}}", -EINVAL,
        "too big integer"},
    {HEAD "\"target_kind\":\"planet\"}", -EINVAL, "'target_kind' has a value"},
    {HEAD "\"target_kind\":1}", -EINVAL, "'target_kind' has a value"},
    {HEAD "\"target_cgroup\":0}", -EINVAL, "'target_cgroup' is the index"},
    {HEAD "\"target_cgroup\":-1}", -EINVAL, "'target_cgroup' is not a whole"},
    {HEAD "\"competitor_pid\":2147483648}", -EINVAL, "'competitor_pid' is not"},
    {HEAD "\"taken_at_unix_ns\":\"7\"}", -EINVAL, "'taken_at_unix_ns' is not"},
    {HEAD "\"processes\":[{\"name\":\"p\"}]}", -EINVAL, "'processes[0].pid' is not the"},
    {HEAD "\"processes\":[{\"pid\":1}]}", -EINVAL, "'processes[0].name' is missing"},
    {PROCESS "\"cgroup_index\":0" TAIL, -EINVAL, "'processes[0].cgroup_index' is the"},
    {PROCESS "\"run_state\":\"RS\"" TAIL, -EINVAL, "'processes[0].run_state' is not one"},
    {PROCESS "\"run_state\":\"\\u001b\"" TAIL, -EINVAL, "is not a letter"},
    {PROCESS "\"mappings\":[{\"start\":0,\"end\":1}]" TAIL, -EINVAL,
        "'processes[0].mappings[0].path' is missing"},
    {PROCESS "\"mappings\":[{\"start\":5,\"end\":5,\"path\":\"\"}]" TAIL, -EINVAL,
        "'processes[0].mappings[0]' is empty"},
    {PROCESS "\"mappings\":[{\"start\":1,\"end\":5,\"path\":\"\"},"
             "{\"start\":4,\"end\":9,\"path\":\"\"}]" TAIL,
        -EINVAL, "'processes[0].mappings[1]' begins before"},
    {PROCESS "\"mappings\":[{\"start\":8,\"end\":9,\"path\":\"\"},"
             "{\"start\":4,\"end\":5,\"path\":\"\"}]" TAIL,
        -EINVAL, "'processes[0].mappings[1]' begins before"},
    {PROCESS
        "\"mappings\":[{\"start\":1,\"end\":5,\"path\":\"\",\"permissions\":16}]" TAIL,
        -EINVAL,
        "'processes[0].mappings[0].permissions' is not a whole number from 0 to 15"},
    {PROCESS "\"spans\":[{\"start\":1,\"end\":5},{\"start\":4,\"end\":9}]" TAIL, -EINVAL,
        "'processes[0].spans[1]' begins before"},
    {PROCESS "\"spans\":[{\"start\":1,\"end\":5,\"owner\":\"glibc-arena-heap\"}]" TAIL,
        -EINVAL, "'processes[0].spans[0]' belongs to an arena"},
    {PROCESS "\"glibc\":{\"arenas\":[{\"held_bytes\":-4096}]}" TAIL, -EINVAL,
        "'processes[0].glibc.arenas[0].held_bytes' is not"},
    {HEAD "\"cgroups\":[{\"version\":3,\"path\":\"/\"}]}", -EINVAL,
        "'cgroups[0].version'"},
    {HEAD "\"cgroups\":[{\"version\":2}]}", -EINVAL, "'cgroups[0].path' is missing"},
};

static void each_fault_is_named(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(refused) / sizeof(refused[0]); i++) {
        struct error error;
        int rc = read_text(refused[i].text, strlen(refused[i].text), &error);
        if (rc != refused[i].rc || strstr(error.text, refused[i].message) == NULL) {
            fail_msg("%s\ngave %d, %s", refused[i].text, rc, error.text);
        }
    }
}

static void repeat(struct buffer *buffer, const char *text, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        buffer_append_text(buffer, text);
    }
}

static void deep_nesting_is_refused_before_parsing(void **state)
{
    struct buffer buffer;
    struct error error;

    (void)state;
    buffer_init(&buffer);
    buffer_append_text(&buffer, HEAD "\"x\":");
    repeat(&buffer, "[", 1000000);
    assert_int_equal(read_text(buffer.data, buffer.length_bytes, &error), -EFBIG);
    assert_non_null(strstr(error.text, "nested"));
    buffer_release(&buffer);
}

static void more_items_than_facts_may_hold_are_refused(void **state)
{
    struct buffer buffer;
    struct error error;

    (void)state;
    buffer_init(&buffer);
    buffer_append_text(&buffer, HEAD "\"gaps\":[7");
    repeat(&buffer, ",7", FACTS_MAX_GAPS);
    buffer_append_text(&buffer, "]}");
    assert_int_equal(read_text(buffer.data, buffer.length_bytes, &error), -EFBIG);
    assert_non_null(strstr(error.text, "'gaps' holds 10001 items, at most 10000"));

    buffer_reset(&buffer);
    buffer_append_text(&buffer, HEAD "\"x\":[{}");
    repeat(&buffer, ",{}", CAPTURE_MAX_TREE_BYTES / 288 + 1);
    assert_int_equal(read_text(buffer.data, buffer.length_bytes, &error), -EFBIG);
    assert_non_null(strstr(error.text, "need more than 1024 MiB"));
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_prefix_is_refused),
        cmocka_unit_test(any_changed_byte_is_refused_or_harmless),
        cmocka_unit_test(each_fault_is_named),
        cmocka_unit_test(deep_nesting_is_refused_before_parsing),
        cmocka_unit_test(more_items_than_facts_may_hold_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
