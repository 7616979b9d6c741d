/* test_rules.c - the table of rules as a whole, and the order of findings. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "judged_server.h"

static void the_order_is_severity_then_bytes(void **state)
{
    struct judged_server *server = *state;

    judged_server_add_arenas(server, 16, 16 * MIB);
    server->process->values[PROCESS_FACT_THREADS] = fact_ok(40);
    server->process->preload_state = FACT_MALFORMED;
    judged_server_set_rss(server, 320 * MIB);
    judged_server_set_cgroup(server, 1000 * MIB, 950 * MIB, 0, 0);
    (void)judged_finding(&server->judged, "glibc-arenas");
    assert_true(server->judged.list.count >= 4);
    assert_string_equal(server->judged.list.items[0].rule->id, "cgroup-near-limit");
    assert_string_equal(server->judged.list.items[1].rule->id, "glibc-arenas");
    assert_string_equal(server->judged.list.items[2].rule->id, "glibc-retained");
    assert_string_equal(server->judged.list.items[3].rule->id, "preload-not-active");
}

static void every_row_of_the_table_is_complete(void **state)
{
    (void)state;
    for (const struct rule *rule = rule_table; rule->id != NULL; rule++) {
        assert_true((rule->run != NULL) != (rule->run_course != NULL));
        assert_non_null(rule->title);
        assert_non_null(rule->needs);
        assert_non_null(rule->threshold);
        assert_non_null(rule->evidence);
        assert_non_null(rule->fix);
        assert_non_null(rule->text);
        assert_ptr_equal(rule_find(rule->id), rule);
        assert_int_equal(
            strspn(rule->id, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(rule->id));
    }
    assert_null(rule_find("no-such-rule"));
}

int main(void)
{
#define TEST(name)                                                                       \
    cmocka_unit_test_setup_teardown(name, judged_server_setup, judged_teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_order_is_severity_then_bytes),
        TEST(every_row_of_the_table_is_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
