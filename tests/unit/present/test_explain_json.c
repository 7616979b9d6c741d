/* test_explain_json.c - the JSON contract, byte for byte; the files must also parse. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "golden.h"
#include "present/explain_json.h"
#include "sample.h"

typedef void sample_function(struct sample *sample);

static json_t *render(sample_function *build, const char *golden)
{
    static struct sample sample;
    struct buffer buffer;

    build(&sample);
    buffer_init(&buffer);
    present_explain_json(&sample.snapshot, &sample.list, NULL, &buffer);
    assert_golden(golden, &buffer);
    json_t *document = json_loads(buffer_text(&buffer), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    buffer_release(&buffer);
    return document;
}

/* Only ok and stale layers carry bytes, all others say why. */
static void check_layers(const json_t *document)
{
    json_t *layer;
    size_t index;

    json_array_foreach(json_object_get(document, "layers"), index, layer)
    {
        const char *state = json_string_value(json_object_get(layer, "state"));
        bool known = strcmp(state, "ok") == 0 || strcmp(state, "stale") == 0;
        assert_true((json_object_get(layer, "bytes") != NULL) == known);
        assert_true((json_object_get(layer, "why") != NULL) == !known);
    }
    assert_int_equal(index, LAYER_COUNT);
}

static void writes_a_database_in_a_container(void **state)
{
    json_t *document = render(sample_database, "explain-database.json");

    (void)state;
    check_layers(document);
    json_t *allocators = json_object_get(document, "allocators");
    json_t *arenas = json_object_get(json_array_get(allocators, 0), "arenas");
    assert_int_equal(json_array_size(arenas), 35);
    json_t *unread = json_array_get(arenas, 7);
    assert_null(json_object_get(unread, "held"));
    assert_string_equal(
        json_string_value(json_object_get(json_object_get(unread, "missing"), "held")),
        "malformed");
    json_decref(document);
}

/* Each arena that was found is sound, but a broken ring hides others. */
static void writes_what_a_database_counts(void **state)
{
    json_t *document = render(sample_database_asked, "explain-database-asked.json");
    const json_t *server = json_array_get(json_object_get(document, "mysql"), 0);
    const json_t *account = json_object_get(server, "account");

    (void)state;
    assert_int_equal(
        json_integer_value(json_object_get(account, "coverage_percent")), 76);
    assert_int_equal(json_integer_value(json_object_get(
                         json_array_get(json_object_get(server, "events"), 4), "bytes")),
        -20840);
    json_decref(document);
}

static void a_heap_that_is_not_whole_is_not_ok(void **state)
{
    struct glibc_arena arena = {.main = true, .state = FACT_OK, .held_bytes = 4096};
    struct process_facts process = {
        .pid = 1,
        .name = (char *)"broken",
        .glibc = {.state = FACT_MALFORMED,
            .why = (char *)"the ring does not close",
            .arenas = &arena,
            .arena_count = 1},
    };
    struct facts facts = {.processes = &process,
        .process_count = 1,
        .target_name = (char *)"broken",
        .target_cgroup = -1};
    struct snapshot snapshot;
    struct finding_list list = {.count = 0};
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    assert_int_equal(snapshot_build(&facts, &snapshot), 0);
    present_explain_json(&snapshot, &list, NULL, &buffer);
    json_t *document = json_loads(buffer_text(&buffer), JSON_REJECT_DUPLICATES, NULL);
    json_t *glibc = json_array_get(json_object_get(document, "allocators"), 0);
    assert_string_equal(json_string_value(json_object_get(glibc, "state")), "stale");
    assert_string_equal(
        json_string_value(json_object_get(glibc, "why")), "the ring does not close");
    json_decref(document);
    snapshot_release(&snapshot);
    buffer_release(&buffer);
}

static void writes_what_was_denied(void **state)
{
    json_t *document = render(sample_denied, "explain-denied.json");

    (void)state;
    check_layers(document);
    assert_true(json_is_null(json_object_get(document, "cgroup")));
    assert_int_equal(json_array_size(json_object_get(document, "gaps")), 4);
    json_decref(document);
}

static void writes_a_row_for_each_member(void **state)
{
    json_t *document = render(sample_pool, "explain-pool.json");

    (void)state;
    check_layers(document);
    assert_int_equal(json_array_size(json_object_get(document, "members")), 12);
    json_decref(document);
}

static void writes_the_same_keys_for_an_empty_target(void **state)
{
    json_t *full = render(sample_database, "explain-database.json");
    json_t *document = render(sample_empty, "explain-empty.json");
    const char *key;
    json_t *value;

    (void)state;
    json_object_foreach(full, key, value)
    {
        assert_non_null(json_object_get(document, key));
    }
    json_decref(document);
    json_decref(full);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(writes_a_database_in_a_container),
        cmocka_unit_test(writes_what_a_database_counts),
        cmocka_unit_test(a_heap_that_is_not_whole_is_not_ok),
        cmocka_unit_test(writes_what_was_denied),
        cmocka_unit_test(writes_a_row_for_each_member),
        cmocka_unit_test(writes_the_same_keys_for_an_empty_target),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
