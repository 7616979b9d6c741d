/* test_result.c - medians of what counts, cost, and a result written and read again. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "trial/result.h"
#include "trial/result_json.h"
#include "trial/result_read.h"
#include "trial/table.h"

#define GIB (UINT64_C(1) << 30)

static uint64_t samples[] = {7, 8, 9};

static struct result *sample(void)
{
    static const double rates[] = {380, 390, 400, 800};
    struct result *result = calloc(1, sizeof(*result));

    assert_non_null(result);
    result->setup = (struct result_setup){.workers = 20,
        .connections = 50,
        .seconds = 10,
        .runs = 4,
        .work = "query",
        .processors = 2,
        .price_memory = 4,
        .price_processor = 20,
        .currency = "EUR"};
    struct result_row *row = &result->rows[result->row_count++];
    *row = (struct result_row){.recipe = "fpm",
        .title = "a <b>title</b> & more",
        .started = true,
        .whole = true,
        .warm = true,
        .workers = 20,
        .run_count = 4};
    row->idle[MEMORY_UNIQUE] = (struct fact){.value = GIB / 4, .state = FACT_OK};
    for (size_t i = 0; i < 4; i++) {
        struct result_run *run = &row->runs[i];
        run->load = (struct load_result){.complete = true, .rate = rates[i]};
        run->processors = 0.5;
        run->memory.mean[MEMORY_UNIQUE] =
            (struct fact){.value = GIB / 2, .state = FACT_OK};
        run->memory.peak[MEMORY_UNIQUE] = (struct fact){.value = GIB, .state = FACT_OK};
        run->memory.peak[MEMORY_RSS_SUM] =
            (struct fact){.value = 2000000000, .state = FACT_OK};
    }
    row->runs[3].reasons.count = 1; /* the 800 do not count */
    (void)snprintf(row->runs[3].reasons.text[0], CHECK_REASON_BYTES, "impossible <800>");
    row->plan = (struct result_plan){.known = true,
        .server = "php-fpm",
        .private_bytes = samples,
        .private_count = 3,
        .concurrency = 1.25,
        .master_bytes = 1,
        .shared_once_bytes = 2,
        .fixed_kernel_bytes = 3,
        .kernel_bytes = 4,
        .base_bytes = 5,
        .shared_bytes = 6,
        .heap_known = true,
        .peak_real_bytes = 10,
        .memory_limit_bytes = 12,
        .growth_known = true};
    return result;
}

static void only_valid_runs_count(void **state)
{
    struct result *result = sample();
    const struct result_medians medians = result_medians_of(&result->rows[0]);

    (void)state;
    assert_int_equal(medians.counted, 3);
    assert_true(
        medians.rate == 390 && medians.rate_least == 380 && medians.rate_most == 400);
    /* 1 GiB x 4 + 0.5 processors x 20 = 14; half a GiB on average */
    assert_true(result_cost(&result->setup, &medians) == 14);
    assert_true(result_per_gib(medians.rate, &medians.mean[MEMORY_UNIQUE]) == 780);
    for (size_t i = 0; i < 4; i++) {
        result->rows[0].runs[i].reasons.count = 1;
    }
    assert_int_equal(result_medians_of(&result->rows[0]).counted, 0);
    free(result);
}

static void no_figure_of_an_invalid_row(void **state)
{
    struct result *result = sample();
    char cells[TABLE_COLUMNS][TABLE_CELL_BYTES];

    (void)state;
    table_row(result, &result->rows[0], cells);
    assert_string_equal(cells[7], "390.0 (380.0-400.0)");
    assert_string_equal(cells[5], "+768.0 MiB");
    assert_string_equal(cells[11], "195"); /* 390 / 2 GB of RSS */
    for (size_t i = 0; i < 4; i++) {
        result->rows[0].runs[i].reasons.count = 1;
    }
    table_row(result, &result->rows[0], cells);
    assert_string_equal(cells[7], "invalid");
    assert_string_equal(cells[4], "-");
    assert_string_equal(cells[10], "-");
    free(result);
}

/* One run that counts has no range, and one run in all no medians. */
static void one_run_has_no_range(void **state)
{
    struct result *result = sample();
    char cells[TABLE_COLUMNS][TABLE_CELL_BYTES];
    struct buffer buffer;

    (void)state;
    result->rows[0].runs[1].reasons.count = 1;
    result->rows[0].runs[2].reasons.count = 1;
    table_row(result, &result->rows[0], cells);
    assert_string_equal(cells[7], "380.0");
    buffer_init(&buffer);
    table_notes(result, &buffer);
    assert_non_null(
        strstr(buffer_text(&buffer), "4 runs of 10 s, medians (least-most), 2"));
    buffer_reset(&buffer);
    result->setup.runs = 1;
    table_notes(result, &buffer);
    assert_non_null(strstr(buffer_text(&buffer), "1 run of 10 s, 2 processors"));
    buffer_release(&buffer);
    free(result);
}

static void assert_load_by(const struct result *result, const char *text)
{
    struct buffer buffer;

    buffer_init(&buffer);
    table_notes(result, &buffer);
    if (strstr(buffer_text(&buffer), text) == NULL) {
        fail_msg("no '%s' in: %s", text, buffer_text(&buffer));
    }
    buffer_release(&buffer);
}

/* What made the load of a run, and not what was asked for: wrk speaks no FastCGI. */
static void the_header_names_what_made_the_load(void **state)
{
    struct result *result = sample();
    struct result_row *row = &result->rows[0];

    (void)state;
    result->setup.tool = LOAD_WRK;
    assert_load_by(result, "; load by strata's own generator, closed loop.\n");
    result->rows[result->row_count++] = *row;
    for (size_t i = 0; i < row->run_count; i++) {
        row->runs[i].load.tool = LOAD_WRK;
    }
    assert_load_by(result, "; load by strata's own generator and wrk, closed loop.\n");
    result->row_count--;
    assert_load_by(result, "; load by wrk, closed loop.\n");
    row->run_count = 0;
    result->setup.tool = LOAD_AB;
    assert_load_by(result, "; load by ab, closed loop.\n");
    free(result);
}

/* A cell is never cut: what finds no room stands below, behind the name again. */
static void a_wide_table_goes_on_below(void **state)
{
    struct result *result = sample();
    struct buffer narrow;
    struct buffer wide;

    (void)state;
    buffer_init(&narrow);
    buffer_init(&wide);
    result_tables(result, 80, &narrow);
    result_tables(result, 200, &wide);
    for (const char *line = buffer_text(&narrow); *line != '\0';) {
        const size_t bytes = strcspn(line, "\n");
        assert_in_range(bytes, 0, 80);
        line += bytes + 1;
    }
    assert_non_null(strstr(buffer_text(&narrow), "\n\nserver"));
    assert_null(strstr(buffer_text(&wide), "\n\nserver"));
    for (int i = 0; i < TABLE_COLUMNS; i++) {
        assert_non_null(strstr(buffer_text(&narrow), table_heads[i]));
    }
    buffer_release(&narrow);
    buffer_release(&wide);
    free(result);
}

/* A pool that ran already has workers of its own, and what it was asked for is the URL. */
static void what_was_measured_is_what_is_named(void **state)
{
    struct result *result = sample();
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    table_notes(result, &buffer);
    assert_non_null(
        strstr(buffer_text(&buffer), "20 workers, 50 connections, work 'query', "));
    result->setup.attached = "pool:shop";
    result->setup.url = "http://127.0.0.1/ping.php";
    buffer_reset(&buffer);
    table_notes(result, &buffer);
    assert_non_null(strstr(buffer_text(&buffer),
        "pool:shop as it ran, 50 connections, URL 'http://127.0.0.1/ping.php', "));
    assert_null(strstr(buffer_text(&buffer), "20 workers"));
    buffer_reset(&buffer);
    result_json(result, &buffer);
    assert_non_null(strstr(buffer_text(&buffer), "\"attached\": \"pool:shop\""));
    assert_null(strstr(buffer_text(&buffer), "\"work\""));
    buffer_release(&buffer);
    free(result);
}

static void foreign_text_is_escaped(void **state)
{
    struct result *result = sample();
    struct buffer buffer;

    (void)state;
    result->rows[0].points[0] = (struct result_point){.rss_sum = 2, .pss = 1};
    result->rows[0].points[1] = (struct result_point){.at_s = 1, .rss_sum = 2, .pss = 1};
    result->rows[0].point_count = 2;
    buffer_init(&buffer);
    result_html(result, &buffer);
    assert_non_null(
        strstr(buffer_text(&buffer), "a &lt;b&gt;title&lt;/b&gt; &amp; more"));
    assert_non_null(strstr(buffer_text(&buffer), "impossible &lt;800&gt;"));
    assert_null(strstr(buffer_text(&buffer), "<b>"));
    buffer_release(&buffer);
    free(result);
}

static void write_file(const char *path, const char *text)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

static int read_row(struct region *region, const char *text, const char *recipe,
    struct result_plan *plan, const char **name)
{
    char path[] = "/tmp/strata-test-XXXXXX";
    struct error error;

    error_reset(&error);
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    (void)close(fd);
    write_file(path, text);
    const int rc = result_read_plan(region, path, recipe, plan, name, &error);
    assert_int_equal(unlink(path), 0);
    return rc;
}

static int read_again(
    struct region *region, const char *text, struct result_plan *plan, const char **name)
{
    return read_row(region, text, NULL, plan, name);
}

static void a_plan_survives_the_file(void **state)
{
    struct result *result = sample();
    struct result_plan plan;
    struct region region;
    struct buffer buffer;
    const char *name;

    (void)state;
    region_init(&region, 1 << 20);
    buffer_init(&buffer);
    result_json(result, &buffer);
    assert_int_equal(read_again(&region, buffer_text(&buffer), &plan, &name), 0);
    assert_string_equal(name, "fpm");
    assert_string_equal(plan.server, "php-fpm");
    assert_int_equal(plan.private_count, 3);
    assert_int_equal(plan.private_bytes[2], 9);
    assert_true(plan.concurrency == 1.25);
    assert_int_equal(plan.shared_once_bytes, 2);
    assert_int_equal(plan.base_bytes, 5);
    assert_int_equal(plan.peak_real_bytes, 10);
    assert_int_equal(plan.memory_limit_bytes, 12);
    assert_int_equal(plan.processors, 2);
    assert_true(plan.growth_known && plan.growth_bytes_per_request == 0);
    buffer_release(&buffer);
    region_release(&region);
    free(result);
}

/* Never the first of several unasked: the plan would be of another server. */
static void one_of_several_rows_is_named(void **state)
{
#define ROW(recipe, bytes)                                                               \
    "{\"recipe\": \"" recipe "\", \"plan\": {\"concurrency_thousandths\": 1000, "        \
    "\"master\": 0, \"shared_once\": 0, \"fixed_kernel\": 0, \"kernel\": 0, \"base\": "  \
    "0, "                                                                                \
    "\"shared\": 0, \"retained\": 0, \"private\": [" bytes "]}}"
    static const char text[] =
        "{\"kind\": \"strata-bench\", \"rows\": [" ROW("a", "7") ", " ROW("b", "9") "]}";
#undef ROW
    struct result_plan plan;
    struct region region;
    const char *name = NULL;

    (void)state;
    region_init(&region, 1 << 20);
    assert_int_equal(read_again(&region, text, &plan, &name), -EINVAL);
    assert_int_equal(read_row(&region, text, "c", &plan, &name), -ENOENT);
    assert_int_equal(read_row(&region, text, "b", &plan, &name), 0);
    assert_string_equal(name, "b");
    assert_int_equal(plan.private_bytes[0], 9);
    region_release(&region);
}

static void hostile_files_are_refused(void **state)
{
    static const struct {
        const char *text;
        int rc;
    } cases[] = {
        {"", -ENOMSG},
        {"[]", -ENOMSG},
        {"{\"kind\": 7}", -ENOMSG},
        {"{\"schema\": 1}", -ENOMSG}, /* a capture */
        {"{\"kind\": \"strata-bench\"}", -ENOENT},
        {"{\"kind\": \"strata-bench\", \"rows\": [{\"recipe\": \"x\", \"plan\": null}]}",
            -ENOENT},
        {"{\"kind\": \"strata-bench\", \"rows\": [{\"recipe\": \"x\", \"plan\": {}}]}",
            -EINVAL},
        {"{\"kind\": \"strata-bench\", \"rows\": [{\"recipe\": \"x\", \"plan\": "
         "{\"concurrency_thousandths\": -1, \"private\": [1]}}]}",
            -EINVAL},
    };
    struct result_plan plan;
    struct region region;
    const char *name;

    (void)state;
    region_init(&region, 1 << 20);
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        assert_int_equal(read_again(&region, cases[i].text, &plan, &name), cases[i].rc);
    }
    region_release(&region);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_valid_runs_count),
        cmocka_unit_test(no_figure_of_an_invalid_row),
        cmocka_unit_test(one_run_has_no_range),
        cmocka_unit_test(the_header_names_what_made_the_load),
        cmocka_unit_test(a_wide_table_goes_on_below),
        cmocka_unit_test(what_was_measured_is_what_is_named),
        cmocka_unit_test(foreign_text_is_escaped),
        cmocka_unit_test(a_plan_survives_the_file),
        cmocka_unit_test(one_of_several_rows_is_named),
        cmocka_unit_test(hostile_files_are_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
