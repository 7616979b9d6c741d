/* test_kept_name.c - what a target is called when it starts again, and who is another one. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "cmd/kept_name.h"
#include "facts_builder.h"

#define ID "3f2a1bcd9e013f2a1bcd9e013f2a1bcd9e013f2a1bcd9e013f2a1bcd9e01abcd"
#define OTHER_ID "93f2a1bcd9e013f2a1bcd9e013f2a1bcd9e013f2a1bcd9e013f2a1bcd9e01abc"

/* A program in a cgroup; unit may be NULL. */
static void begin(
    struct facts *facts, const char *name, const char *path, const char *unit)
{
    struct process_facts *process;
    struct cgroup_facts *cgroup;

    builder_init(facts);
    process = builder_process(facts, 812, name);
    process->start_unix_seconds = 1790000000;
    process->start_time_ticks = 4711;
    cgroup = builder_cgroup(facts, 2);
    cgroup->path = region_copy_text(&facts->region, path);
    cgroup->unit = region_copy_text(&facts->region, unit);
    facts->target_cgroup = 0;
}

static uint64_t key_of(const char *name, const char *path, const char *unit)
{
    char text[KEPT_NAME_BYTES];
    struct kept_name kept;
    struct kept_name parsed;
    struct facts facts;

    begin(&facts, name, path, unit);
    assert_true(kept_name_of(&facts, &kept, text));
    assert_true(kept_name_parse(text, &parsed));
    assert_int_equal(parsed.key, kept.key);
    assert_int_equal(parsed.pid, 812);
    assert_int_equal(parsed.start_unix_seconds, 1790000000);
    builder_release(&facts);
    return kept.key;
}

static void what_is_new_at_each_start_does_not_count(void **state)
{
    (void)state;
    assert_int_equal(
        key_of("db", "/docker/" ID, NULL), key_of("db", "/docker/" OTHER_ID, NULL));
    assert_int_equal(key_of("db", "/system.slice/docker-" ID ".scope", NULL),
        key_of("db", "/system.slice/docker-" OTHER_ID ".scope", NULL));
    assert_int_equal(key_of("db", "/user.slice/session-7.scope", "session-7.scope"),
        key_of("db", "/user.slice/session-112.scope", "session-112.scope"));
    assert_int_equal(
        key_of("db", "/kubepods/pod2d8c9ab1-1c3b-4a6c-9d67-12a6c1f2a3b4/" ID, NULL),
        key_of(
            "db", "/kubepods/podffffffff-1c3b-4a6c-9d67-12a6c1f2a3b4/" OTHER_ID, NULL));
}

static void another_program_or_unit_is_another_target(void **state)
{
    const uint64_t key = key_of("db", "/system.slice/db@14.service", "db@14.service");

    (void)state;
    assert_int_not_equal(
        key, key_of("dc", "/system.slice/db@14.service", "db@14.service"));
    assert_int_not_equal(
        key, key_of("db", "/system.slice/db@15.service", "db@15.service"));
    assert_int_not_equal(key_of("db", "/a", NULL), key_of("db", "/b", NULL));
}

static void a_start_is_a_pid_and_a_time(void **state)
{
    const struct kept_name one = {1, 1790000000, 812};
    struct kept_name other = one;

    (void)state;
    other.start_unix_seconds += 60; /* the clock was set */
    assert_true(kept_name_same_start(&one, &other));
    other.start_unix_seconds++;
    assert_false(kept_name_same_start(&one, &other));
    other = one;
    other.pid++;
    assert_false(kept_name_same_start(&one, &other));
    other = one;
    other.key++;
    assert_false(kept_name_same_start(&one, &other));
}

static void names_of_others_are_none_of_ours(void **state)
{
    static const char *const names[] = {"", "-", "notes.txt", "db-12.look", ".new-12",
        "db-0a097423d1925ec3-1790000000-812",
        "db-0a097423d1925ec3-1790000000-812.look.gz",
        "db-0a097423d1925ec-1790000000-812.look", "db-0a097423d1925ec3-179-.look",
        "db-0a097423d1925ec3--812.look", "db-0a097423d1925ec3-1790000000-4294967296.look",
        "../db-0a097423d1925ec3f-1790000000-812.look"};
    struct kept_name name;

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        assert_false(kept_name_parse(names[i], &name));
    }
    assert_true(kept_name_parse("db-0a097423d1925ec3-1790000000-812.look", &name));
}

static void assert_source(
    const struct facts *before, const struct facts *now, const char *expected)
{
    struct buffer text;

    buffer_init(&text);
    assert_int_equal(kept_source(before, now, &text), 0);
    assert_string_equal(buffer_text(&text), expected);
    buffer_release(&text);
}

static void a_new_container_is_told(void **state)
{
    struct facts before;
    struct facts now;

    (void)state;
    begin(&before, "db", "/docker/" ID, NULL);
    begin(&now, "db", "/docker/" ID, NULL);
    assert_source(&before, &now, "kept look");
    before.cgroups[0].container_id = region_copy_text(&before.region, ID);
    assert_source(&before, &now, "kept look");
    now.cgroups[0].container_id = region_copy_text(&now.region, ID);
    assert_source(&before, &now, "kept look");
    now.cgroups[0].container_id = region_copy_text(&now.region, OTHER_ID);
    assert_source(&before, &now, "kept look of another container");
    builder_release(&before);
    builder_release(&now);
}

static uint64_t key_of_worker(const char *title)
{
    char text[KEPT_NAME_BYTES];
    struct kept_name kept;
    struct facts facts;

    begin(&facts, "php-fpm8.2", "/system.slice/php-fpm.service", "php-fpm.service");
    facts.processes[0].title = region_copy_text(&facts.region, title);
    assert_true(kept_name_of(&facts, &kept, text));
    builder_release(&facts);
    return kept.key;
}

static void r_a_worker_of_another_pool_is_another_target(void **state)
{
    struct facts before;

    (void)state;
    assert_int_equal(
        key_of_worker("php-fpm: pool www"), key_of_worker("php-fpm: pool www"));
    assert_int_not_equal(
        key_of_worker("php-fpm: pool www"), key_of_worker("php-fpm: pool leak"));
    assert_int_not_equal(
        key_of_worker("php-fpm: pool www"), key_of_worker("php-fpm: master process"));
    begin(&before, "php-fpm8.2", "/", NULL);
    before.processes[0].title = region_copy_text(&before.region, "php-fpm: pool w\nw");
    assert_source(&before, &before, "kept look of pid 812 of pool w_w");
    builder_release(&before);
}

/* A name with a slash stays in its folder; without a start there is nothing to tell apart. */
static void names_cannot_leave_the_folder(void **state)
{
    char text[KEPT_NAME_BYTES];
    struct kept_name name;
    struct facts facts;

    (void)state;
    begin(&facts, "../../etc/passwd-of a name that is longer than what is shown", "/",
        NULL);
    assert_true(kept_name_of(&facts, &name, text));
    assert_null(strchr(text, '/'));
    assert_true(kept_name_parse(text, &name));
    facts.processes[0].start_unix_seconds = 0;
    assert_false(kept_name_of(&facts, &name, text));
    facts.processes[0].start_unix_seconds = 1;
    facts.target_kind = TARGET_HOST;
    assert_false(kept_name_of(&facts, &name, text));
    builder_release(&facts);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_new_at_each_start_does_not_count),
        cmocka_unit_test(another_program_or_unit_is_another_target),
        cmocka_unit_test(a_start_is_a_pid_and_a_time),
        cmocka_unit_test(names_of_others_are_none_of_ours),
        cmocka_unit_test(a_new_container_is_told),
        cmocka_unit_test(r_a_worker_of_another_pool_is_another_target),
        cmocka_unit_test(names_cannot_leave_the_folder),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
