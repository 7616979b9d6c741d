/* test_schema_reader.c - what a small text can take is bounded by the region. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts_types/facts.h"
#include "record/schema_reader.h"

enum { SMALL_REGION_BYTES = 1 << 20, MAPPINGS = 8192 };

static json_t *many_mappings(void)
{
    json_t *mappings = json_array();

    for (int i = 0; i < MAPPINGS; i++) {
        json_array_append_new(mappings, json_pack("{s:s}", "path", ""));
    }
    return json_pack("{s:s, s:[{s:s, s:o}]}", "target_name", "t", "processes", "name",
        "p", "mappings", mappings);
}

static int read_within(size_t bytes, const json_t *document, struct error *error)
{
    struct facts facts = {0};

    region_init(&facts.region, bytes);
    int rc = schema_read(&facts_schema, document, &facts, &facts.region, error);
    region_release(&facts.region);
    return rc;
}

static void items_beyond_the_region_are_refused(void **state)
{
    json_t *document = many_mappings();
    struct error error = {0};

    (void)state;
    assert_int_equal(read_within(SMALL_REGION_BYTES, document, &error), -ENOMEM);
    assert_non_null(strstr(error.text, "need more than 1 MiB"));
    error_reset(&error);
    assert_int_equal(read_within(SMALL_REGION_BYTES * 8, document, &error), 0);
    json_decref(document);
}

/* Whatever the bound is, running into it is an error and nothing else. */
static void every_bound_is_survived(void **state)
{
    json_t *document = json_pack("{s:s, s:{s:s}, s:[{s:s, s:s, s:{s:[{}, {}]}}]}",
        "target_name", "t", "host", "kernel", "6.1", "processes", "name", "p", "title",
        "a title", "glibc", "arenas");
    struct error error = {0};
    size_t bytes = 0;
    int rc;

    (void)state;
    do {
        error_reset(&error);
        rc = read_within(bytes, document, &error);
        assert_true(rc == 0 || rc == -ENOMEM);
        bytes += 16;
    } while (rc != 0);
    assert_in_range(bytes, sizeof(struct process_facts), SMALL_REGION_BYTES);
    json_decref(document);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(items_beyond_the_region_are_refused),
        cmocka_unit_test(every_bound_is_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
