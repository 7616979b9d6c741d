/* test_json_bounds.c - the cost of a text is told before it is parsed. */
#include <malloc.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/buffer.h"
#include "record/json_bounds.h"

enum { ITEMS = 20000 };

static void measure(const char *text, struct json_bounds *bounds)
{
    json_bounds_measure(text, strlen(text), bounds);
}

static void depth_is_that_of_brackets_outside_of_strings(void **state)
{
    static const struct {
        const char *text;
        size_t depth;
    } cases[] = {
        {"", 0},
        {"7", 0},
        {"[]", 1},
        {"[1,2,{\"a\":3}]", 2},
        {"[\"[[[,,::\"]", 1},
        {"[\"\\\"[\"]", 1},
        {"[\"\\\\\",[]]", 2},
        {"]]]][", 1},
        {"[\"\\", 1},
        {"[[[[", 4},
    };

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        struct json_bounds bounds;
        measure(cases[i].text, &bounds);
        assert_int_equal(bounds.depth, cases[i].depth);
    }
}

/* What mallinfo2() says that the parsed tree takes, beside what was estimated. */
static void the_estimate_is_not_much_less_than_the_truth(void **state)
{
    static const char *const items[] = {"{}", "[]", "7", "\"\"",
        "\"a text of 20 bytes..\"", "[1,2,3,4,5,6,7,8,9]", "{\"a\":1}",
        "{\"key\":\"value\",\"other\":[]}",
        "{\"a\":1,\"b\":2,\"c\":3,\"d\":4,\"e\":5,\"f\":6,\"g\":7,\"h\":8,\"i\":9}"};

    (void)state;
    for (size_t i = 0; i < sizeof(items) / sizeof(items[0]); i++) {
        struct json_bounds bounds;
        struct buffer text;
        buffer_init(&text);
        buffer_append_char(&text, '[');
        for (int j = 0; j < ITEMS; j++) {
            buffer_append_text(&text, j > 0 ? "," : "");
            buffer_append_text(&text, items[i]);
        }
        buffer_append_char(&text, ']');
        measure(text.data, &bounds);
        size_t before = mallinfo2().uordblks;
        json_t *tree = json_loadb(text.data, text.length_bytes, 0, NULL);
        size_t taken = mallinfo2().uordblks - before;
        assert_non_null(tree);
        if (taken > bounds.tree_bytes + bounds.tree_bytes / 4) {
            fail_msg("%s: takes %zu, estimated %zu", items[i], taken, bounds.tree_bytes);
        }
        json_decref(tree);
        buffer_release(&text);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(depth_is_that_of_brackets_outside_of_strings),
        cmocka_unit_test(the_estimate_is_not_much_less_than_the_truth),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
