/* test_stat.c - /proc/PID/stat with names that try to break it. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "facts/root.h"
#include "facts/stat.h"

#define TAIL                                                                             \
    " S 4 5 6 0 -1 2097216 77 0 3 0 0 2 0 0 20 0 9 0 211677 210542592 4063 99 1 2 "      \
    "140736103131168 0 0\n"

static int parse(const char *text, struct process_stat *stat)
{
    return process_stat_parse(text, strlen(text), stat);
}

static void fields_come_from_their_places(void **state)
{
    struct process_stat stat;

    (void)state;
    assert_int_equal(parse("812 (mariadbd)" TAIL, &stat), 0);
    assert_int_equal(stat.pid, 812);
    assert_int_equal(stat.parent_pid, 4);
    assert_string_equal(stat.name, "mariadbd");
    assert_int_equal(stat.run_state, 'S');
    assert_true(stat.kernel_thread);
    assert_int_equal(stat.minor_faults, 77);
    assert_int_equal(stat.major_faults, 3);
    assert_int_equal(stat.thread_count, 9);
    assert_int_equal(stat.start_time_ticks, 211677);
    assert_int_equal(stat.resident_pages, 4063);
    assert_true(stat.stack_start == 140736103131168);
}

static void the_last_parenthesis_ends_the_name(void **state)
{
    struct process_stat stat;

    (void)state;
    assert_int_equal(parse("7 (a) R 1 (b\n)" TAIL, &stat), 0);
    assert_string_equal(stat.name, "a) R 1 (b\n");
    assert_int_equal(stat.parent_pid, 4);
    assert_int_equal(parse("7 ()" TAIL, &stat), 0);
    assert_string_equal(stat.name, "");
}

static void the_captured_odd_name_is_read(void **state)
{
    struct facts_root root;
    struct process_stat stat;
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    assert_int_equal(facts_root_open(&root, STRATA_FIXTURES "/odd-process", NULL), 0);
    assert_int_equal(
        facts_read_file(&root, root.proc_fd, "30176/stat", 4096, &buffer), 0);
    assert_int_equal(
        process_stat_parse(buffer_text(&buffer), buffer.length_bytes, &stat), 0);
    assert_string_equal(stat.name, "we) R 1 (x\n\t");
    assert_int_equal(stat.parent_pid, 1);
    assert_int_equal(stat.start_time_ticks, 555123);
    assert_false(stat.kernel_thread);
    buffer_release(&buffer);
    facts_root_close(&root);
}

static void every_shortened_text_is_refused(void **state)
{
    static const char text[] = "812 (mariadbd)" TAIL;
    const char *last_field = strstr(text, " 140736103131168");
    struct process_stat stat;

    (void)state;
    for (size_t bytes = 0; bytes <= (size_t)(last_field - text); bytes++) {
        char cut[sizeof(text)] = {0};
        memcpy(cut, text, bytes);
        assert_int_equal(process_stat_parse(cut, bytes, &stat), -EINVAL);
    }
}

static void absurd_numbers_are_refused(void **state)
{
    static const char *const wrong[] = {
        "99999999999 (a)" TAIL,
        "-1 (a)" TAIL,
        "1 (a) S 99999999999 5 6 0 -1 0 0 0 0 0 0 0 0 0 0 0 1 0 1 1 1 1 1 1 1\n",
        "1 (a) S 4 5 6 0 -1 0 0 0 0 0 0 0 0 0 0 0 1 0 18446744073709551616 1 1 1 1 1 1\n",
        "1 (a) S 4 5 6 0 -1 0 0 0 0 0 0 0 0 0 0 0 1 0 x 1 1 1 1 1 1\n",
        "1 a S 4",
        ")(",
    };
    struct process_stat stat;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(parse(wrong[i], &stat), -EINVAL);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(fields_come_from_their_places),
        cmocka_unit_test(the_last_parenthesis_ends_the_name),
        cmocka_unit_test(the_captured_odd_name_is_read),
        cmocka_unit_test(every_shortened_text_is_refused),
        cmocka_unit_test(absurd_numbers_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
