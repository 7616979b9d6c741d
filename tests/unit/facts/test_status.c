/* test_status.c - status, limits, environ and cmdline of a process. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/environment.h"
#include "facts/limits.h"
#include "facts/process_name.h"
#include "facts/status.h"
#include "fixture.h"

#define KIB UINT64_C(1024)

static uint64_t value(const struct process_facts *process, enum process_fact id)
{
    assert_int_equal(process->values[id].state, FACT_OK);
    return process->values[id].value;
}

static void status_of_the_odd_process(void **state)
{
    struct process_facts process = {0};
    struct process_folder folder;
    struct facts_root root;
    struct buffer text;
    int32_t group_pid;

    (void)state;
    fixture_open(&root, "odd-process");
    fixture_process(&root, 30176, &folder);
    fixture_text(&folder, "status", &text);
    status_parse(text.data, text.length_bytes, &process, &group_pid);
    assert_int_equal(group_pid, 30176);
    assert_int_equal(process.namespace_pid, 30176);
    assert_int_equal(process.user_id, 0);
    assert_false(process.kernel_thread);
    assert_int_equal(value(&process, PROCESS_FACT_VM_RSS), 21604 * KIB);
    assert_int_equal(value(&process, PROCESS_FACT_RSS_ANON), 15972 * KIB);
    assert_int_equal(value(&process, PROCESS_FACT_RSS_FILE), 2560 * KIB);
    assert_int_equal(value(&process, PROCESS_FACT_RSS_SHMEM), 3072 * KIB);
    assert_int_equal(value(&process, PROCESS_FACT_VM_LOCKED), 1024 * KIB);
    assert_int_equal(value(&process, PROCESS_FACT_THREADS), 1);
    assert_int_equal(process.values[PROCESS_FACT_PSS].state, FACT_ABSENT);
    buffer_release(&text);
    process_folder_close(&folder);
    facts_root_close(&root);
}

static void parse_text(
    const char *text, struct process_facts *process, int32_t *group_pid)
{
    char copy[512];

    assert_true(strlen(text) < sizeof(copy));
    memcpy(copy, text, strlen(text) + 1);
    *process = (struct process_facts){0};
    status_parse(copy, strlen(text), process, group_pid);
}

static void the_innermost_namespace_gives_the_own_pid(void **state)
{
    struct process_facts process;
    int32_t group_pid;

    (void)state;
    parse_text("Tgid:\t900\nNSpid:\t901\t17\t2\nUid:\t33\t0\t0\t0\nKthread:\t1\n",
        &process, &group_pid);
    assert_int_equal(group_pid, 900);
    assert_int_equal(process.namespace_pid, 2);
    assert_int_equal(process.user_id, 33);
    assert_true(process.kernel_thread);
}

static void cpus_are_counted_from_their_list(void **state)
{
    struct process_facts process;
    int32_t group_pid;

    (void)state;
    parse_text("Cpus_allowed:\tf,00000103\nCpus_allowed_list:\t0-1,8,32-35\n", &process,
        &group_pid);
    assert_int_equal(value(&process, PROCESS_FACT_CPUS_ALLOWED), 7);
    parse_text("Cpus_allowed_list:\t5\n", &process, &group_pid);
    assert_int_equal(value(&process, PROCESS_FACT_CPUS_ALLOWED), 1);
    parse_text("Cpus_allowed_list:\t3-1\n", &process, &group_pid);
    assert_int_equal(process.values[PROCESS_FACT_CPUS_ALLOWED].state, FACT_MALFORMED);
    parse_text("Cpus_allowed_list:\t\n", &process, &group_pid);
    assert_int_equal(process.values[PROCESS_FACT_CPUS_ALLOWED].state, FACT_MALFORMED);
}

static void numbers_that_are_none_are_malformed_not_zero(void **state)
{
    static const char *const wrong[] = {"VmRSS:\n", "VmRSS:\t-5 kB\n", "VmRSS:\tx kB\n",
        "VmRSS:\t5 MB\n", "VmRSS:\t99999999999999999999 kB\n",
        "VmRSS:\t18446744073709551615 kB\n", "VmRSS: 5 kB 6"};
    struct process_facts process;
    int32_t group_pid;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        parse_text(wrong[i], &process, &group_pid);
        assert_int_equal(process.values[PROCESS_FACT_VM_RSS].state, FACT_MALFORMED);
        assert_int_equal(process.values[PROCESS_FACT_VM_RSS].value, 0);
    }
}

static void keys_are_compared_whole(void **state)
{
    struct process_facts process;
    int32_t group_pid;

    (void)state;
    parse_text("VmRSSX:\t1 kB\nVmRS:\t2 kB\n VmRSS:\t3 kB\nThread:\t4\nVmRSS 5 kB\n",
        &process, &group_pid);
    assert_int_equal(process.values[PROCESS_FACT_VM_RSS].state, FACT_ABSENT);
    assert_int_equal(process.values[PROCESS_FACT_THREADS].state, FACT_ABSENT);
}

static void soft_limits_are_read_and_unlimited_is_absent(void **state)
{
    struct process_facts process = {0};
    struct process_folder folder;
    struct facts_root root;
    struct buffer text;

    (void)state;
    fixture_open(&root, "odd-process");
    fixture_process(&root, 30176, &folder);
    fixture_text(&folder, "limits", &text);
    limits_parse(text.data, text.length_bytes, process.values);
    assert_int_equal(value(&process, PROCESS_FACT_LIMIT_OPEN_FILES), 1024);
    assert_int_equal(value(&process, PROCESS_FACT_LIMIT_STACK), 8 << 20);
    assert_int_equal(process.values[PROCESS_FACT_LIMIT_ADDRESS].state, FACT_ABSENT);
    buffer_release(&text);
    process_folder_close(&folder);
    facts_root_close(&root);
}

static void a_limit_that_is_no_number_is_malformed(void **state)
{
    char text[] = "Max open files            12x                  5      files\n"
                  "Max stack size\n";
    struct process_facts process = {0};

    (void)state;
    limits_parse(text, strlen(text), process.values);
    assert_int_equal(process.values[PROCESS_FACT_LIMIT_OPEN_FILES].state, FACT_MALFORMED);
    assert_int_equal(process.values[PROCESS_FACT_LIMIT_STACK].state, FACT_ABSENT);
}

static void only_listed_settings_are_kept(void **state)
{
    static const char *const expected[][2] = {{"MALLOC_ARENA_MAX", "2"},
        {"GLIBC_TUNABLES", "glibc.malloc.tcache_count=0"},
        {"LD_PRELOAD", "/usr/lib/libjemalloc.so.2"}, {"MIMALLOC_SHOW_STATS", "1"}};
    struct process_facts process = {0};
    struct process_folder folder;
    struct facts_root root;
    struct region region;

    (void)state;
    region_init(&region, 1 << 20);
    fixture_open(&root, "odd-process");
    fixture_process(&root, 30176, &folder);
    assert_int_equal(environment_read(&folder, &region, &process), 0);
    assert_int_equal(process.environment_state, FACT_OK);
    assert_int_equal(process.environment_count, 4);
    for (size_t i = 0; i < process.environment_count; i++) {
        assert_string_equal(process.environment[i].name, expected[i][0]);
        assert_string_equal(process.environment[i].value, expected[i][1]);
    }
    process_folder_close(&folder);
    facts_root_close(&root);
    region_release(&region);
}

static void assert_title(const char *text, size_t bytes, const char *expected)
{
    char title[256] = {0};

    memcpy(title, text, process_title_bytes(text, bytes));
    assert_string_equal(title, expected);
}

static void titles_hold_no_arguments(void **state)
{
    (void)state;
#define TITLE(text, expected) assert_title(text, sizeof(text) - 1, expected)
    TITLE("/srv/q\0--password=hidden\0", "/srv/q");
    TITLE("/opt/my app/q\0-x\0", "/opt/my app/q");
    TITLE("/opt/my app/q --password=hidden\0-x\0", "/opt/my app/q");
    TITLE("/srv/q\0", "/srv/q");
    TITLE("/srv/q --password hidden\0", "/srv/q");
    TITLE("/srv/q hidden\0", "/srv/q");
    TITLE("php-fpm: pool www      ", "php-fpm: pool www");
    TITLE("nginx: worker process\0\0\0", "nginx: worker process");
    TITLE("nginx: master process nginx -g daemon on;\0", "nginx: master process nginx");
    TITLE("mysql: hidden\0-phidden\0", "mysql: hidden");
    TITLE("a", "a");
    TITLE(" x", "");
    TITLE("\0\0", "");
#undef TITLE
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(status_of_the_odd_process),
        cmocka_unit_test(the_innermost_namespace_gives_the_own_pid),
        cmocka_unit_test(cpus_are_counted_from_their_list),
        cmocka_unit_test(numbers_that_are_none_are_malformed_not_zero),
        cmocka_unit_test(keys_are_compared_whole),
        cmocka_unit_test(soft_limits_are_read_and_unlimited_is_absent),
        cmocka_unit_test(a_limit_that_is_no_number_is_malformed),
        cmocka_unit_test(only_listed_settings_are_kept),
        cmocka_unit_test(titles_hold_no_arguments),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
