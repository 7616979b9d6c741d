/* test_recipe.c - recipes whole, wrong, and with placeholders. */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trial/recipe.h"

static struct region region;
static struct recipe recipe;
static struct error error;

static int setup(void **state)
{
    (void)state;
    region_init(&region, 1 << 20);
    error_reset(&error);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    region_release(&region);
    return 0;
}

static const char whole[] = "# a comment\n"
                            "title = A server = with a sign\r\n"
                            "  blocking =  yes\n"
                            "program sh = no-such-program sh\n"
                            "file = a.conf\n"
                            "start front = {sh} -c x\n"
                            "start pool = {sh} {dir}/x {port}\n"
                            "stop = QUIT\n"
                            "url = http://127.0.0.1:{port}/{work}";

static void a_whole_recipe(void **state)
{
    (void)state;
    assert_int_equal(recipe_parse(&region, "one", whole, &recipe, &error), 0);
    assert_string_equal(recipe.title, "A server = with a sign");
    assert_true(recipe.blocking);
    assert_false(recipe.model);
    assert_int_equal(recipe.stop_signal, SIGQUIT);
    assert_int_equal(recipe.start_count, 2);
    assert_string_equal(recipe.starts[1].role, "pool");
    assert_int_equal(recipe.file_count, 1);
    assert_null(recipe_find_programs(&region, &recipe));
    assert_non_null(strstr(recipe.programs[0].path, "/sh"));
}

static void refused(const char *text, const char *word)
{
    error_reset(&error);
    assert_int_equal(recipe_parse(&region, "one", text, &recipe, &error), -EINVAL);
    if (strstr(error.text, word) == NULL) {
        fail_msg("no '%s' in '%s'", word, error.text);
    }
}

static void wrong_recipes_name_their_line(void **state)
{
    (void)state;
    refused("title = x\nbloking = yes\n", "line 2: unknown key 'bloking'");
    refused("title\n", "line 1: no '='");
    refused("blocking = perhaps\n", "yes or no");
    refused("stop = KILL\n", "TERM, QUIT or INT");
    refused("program = x\n", "unknown key 'program'");
    refused("run pool = x\n", "unknown key");
    refused("title = x\nurl = y\n", "a start");
    refused("title = x\nurl = y\nstart front = z\n", "no 'pool'");
    refused("", "title, url and a start");
}

static void too_much_is_refused(void **state)
{
    char text[2048] = "";

    (void)state;
    for (size_t i = 0; i < RECIPE_MAX_ITEMS + 1; i++) {
        memcpy(text + strlen(text), "start pool = x\n", 16);
    }
    refused(text, "one start too many");
}

static void a_missing_program_is_named(void **state)
{
    (void)state;
    assert_int_equal(recipe_parse(&region, "one",
                         "title = x\nurl = y\nstart pool = z\nprogram a = "
                         "no-such-program nor-this\n",
                         &recipe, &error),
        0);
    assert_string_equal(recipe_find_programs(&region, &recipe)->name, "a");
}

static void placeholders(void **state)
{
    const struct recipe_value values[] = {{"dir", "/tmp/x"}, {"port", "8080"}};
    struct buffer buffer;

    (void)state;
    assert_int_equal(recipe_parse(&region, "one", whole, &recipe, &error), 0);
    recipe.programs[0].path = "/bin/sh";
    buffer_init(&buffer);
    recipe_expand(&recipe, values, 2,
        "{sh} {dir}/{port} { listen {port}; } {unknown} {dir {port}}", &buffer);
    assert_string_equal(buffer_text(&buffer),
        "/bin/sh /tmp/x/8080 { listen 8080; } {unknown} {dir 8080}");
    buffer_release(&buffer);
}

static void names_stay_in_the_folder(void **state)
{
    (void)state;
    assert_int_equal(
        recipe_load(&region, STRATA_FIXTURES, "../recipe", &recipe, &error), -ENOENT);
    error_reset(&error);
    assert_int_equal(
        recipe_load(&region, STRATA_FIXTURES, "none", &recipe, &error), -ENOENT);
}

/* Every recipe that is shipped can be read. */
static void the_shipped_ones(void **state)
{
    static const char *const names[] = {"fpm", "fpm-nginx", "frankenphp", "gunicorn",
        "mariadb", "model-event", "model-prefork", "model-supervisor", "nginx", "node",
        "roadrunner", "swoole", "swoole-blocking", "unit"};

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        error_reset(&error);
        if (recipe_load(&region, STRATA_FIXTURES "/../../bench/recipes", names[i],
                &recipe, &error) != 0) {
            fail_msg("%s", error.text);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_whole_recipe, setup, teardown),
        cmocka_unit_test_setup_teardown(wrong_recipes_name_their_line, setup, teardown),
        cmocka_unit_test_setup_teardown(too_much_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(a_missing_program_is_named, setup, teardown),
        cmocka_unit_test_setup_teardown(placeholders, setup, teardown),
        cmocka_unit_test_setup_teardown(names_stay_in_the_folder, setup, teardown),
        cmocka_unit_test_setup_teardown(the_shipped_ones, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
