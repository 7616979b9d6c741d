/* test_plan_config.c - the lines for each server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "plan/plan_config.h"

#define MIB UINT64_C(1048576)

static struct plan_input input;
static struct plan plan;
static struct buffer buffer;

static const char *config(void)
{
    buffer_reset(&buffer);
    plan_config(&input, &plan, PLAN_P95, &buffer);
    return buffer_text(&buffer);
}

static int setup(void **state)
{
    (void)state;
    input = (struct plan_input){.name = "www",
        .server = PLAN_FPM,
        .alone = true,
        .base_bytes = 4 * MIB,
        .shared_bytes = 20 * MIB,
        .heap = {.known = true, .peak_real_bytes = 48 * MIB}};
    plan = (struct plan){.max_requests = 500,
        .limit = {.known = true, .advised_bytes = 60 * MIB, .set_bytes = 60 * MIB},
        .cases = {[PLAN_P95] = {.workers = 40}}};
    buffer_init(&buffer);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buffer_release(&buffer);
    return 0;
}

static void has(const char *line)
{
    if (strstr(config(), line) == NULL) {
        fail_msg("no line '%s' in:\n%s", line, config());
    }
}

static void fpm_alone_is_static(void **state)
{
    (void)state;
    has("[www]\npm = static\npm.max_children = 40\npm.max_requests = 500");
    has("php_admin_value[memory_limit] = 60M");
    plan.limit.set_bytes = 128 * MIB; /* what was counted with, not what would do */
    has("php_admin_value[memory_limit] = 128M");
    assert_null(strstr(config(), "spare"));
    assert_null(strstr(config(), "MALLOC"));
}

static void fpm_among_others_gives_back(void **state)
{
    (void)state;
    input.alone = false;
    has("pm = dynamic\npm.max_children = 40\npm.start_servers = 4\n"
        "pm.min_spare_servers = 4\npm.max_spare_servers = 10\n");
    plan.cases[PLAN_P95].workers = 1;
    has("pm.start_servers = 1\npm.min_spare_servers = 1\npm.max_spare_servers = 1\n");
}

static void roadrunner_bounds_rss_above_the_limit(void **state)
{
    (void)state;
    input.server = PLAN_ROADRUNNER;
    has("num_workers: 40\n");
    has("max_worker_memory: 97 "); /* (60 + 4 + 20) x 1.15 = 96.6 */
    has("memory_limit = 60M\n");
}

static void swoole_gunicorn_and_others(void **state)
{
    (void)state;
    input.server = PLAN_SWOOLE;
    has("'worker_num' => 40,\n    'max_request' => 500,");
    input.server = PLAN_GUNICORN;
    has("gunicorn --workers 40 --max-requests 500 --max-requests-jitter 50\n");
    input.server = PLAN_NGINX;
    has("worker_processes 40;\n");
    input.server = PLAN_OTHER;
    has("workers = 40\n");
}

static void the_allocator_only_when_it_matters(void **state)
{
    (void)state;
    input.arenas = 2;
    assert_null(strstr(config(), "MALLOC_ARENA_MAX"));
    input.arenas = 9;
    has("export MALLOC_ARENA_MAX=2\n");
    input.thread_cache_bytes = 5 * MIB;
    has("glibc.malloc.tcache_count");
}

static void processors_bound_what_memory_would_allow(void **state)
{
    (void)state;
    plan.cases[PLAN_P95].workers = 5000;
    input.processors = 1.5;
    has("pm.max_children = 64\n");
    input.workers_now = 100; /* what runs is not taken back for that reason */
    has("pm.max_children = 100\n");
    input.workers_allowed = 120;
    has("pm.max_children = 120\n");
    input.workers_now = input.workers_allowed = 0;
    input.server = PLAN_NGINX;
    has("worker_processes 2;\n");
    plan.cases[PLAN_P95].workers = 1;
    has("worker_processes 1;\n");
}

static void nothing_fits(void **state)
{
    (void)state;
    plan.cases[PLAN_P95].workers = 0;
    assert_string_equal(config(), "# not one worker fits: nothing to set\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(fpm_alone_is_static, setup, teardown),
        cmocka_unit_test_setup_teardown(fpm_among_others_gives_back, setup, teardown),
        cmocka_unit_test_setup_teardown(
            roadrunner_bounds_rss_above_the_limit, setup, teardown),
        cmocka_unit_test_setup_teardown(swoole_gunicorn_and_others, setup, teardown),
        cmocka_unit_test_setup_teardown(
            the_allocator_only_when_it_matters, setup, teardown),
        cmocka_unit_test_setup_teardown(
            processors_bound_what_memory_would_allow, setup, teardown),
        cmocka_unit_test_setup_teardown(nothing_fits, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
