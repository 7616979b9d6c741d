/* test_overview.c - the rows of a host as text and JSON, their order and their width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "present/overview_json.h"
#include "present/overview_table.h"
#include "present/overview_text.h"
#include "present/safe_text.h"
#include "sample.h"

static struct sample samples[4];
static struct overview_row rows[4];
static struct facts host;
static struct overview overview;

/* From the smallest to the largest, so that the order is not right by chance. */
static int setup(void **state)
{
    (void)state;
    sample_empty(&samples[0]);
    sample_denied(&samples[1]);
    sample_pool(&samples[2]);
    sample_database(&samples[3]);
    for (int i = 0; i < 4; i++) {
        rows[i].snapshot = samples[i].snapshot;
        rows[i].list = samples[i].list;
    }
    /* A layer of bytes cannot be negative, whatever facts say. */
    rows[0].snapshot.layers[LAYER_TRACKED].state = FACT_OK;
    rows[0].snapshot.layers[LAYER_TRACKED].bytes = -1;
    host = samples[2].facts;
    host.target_kind = TARGET_HOST;
    host.host.values[HOST_FACT_MEM_TOTAL] =
        (struct fact){.value = UINT64_C(24) << 30, .state = FACT_OK};
    host.host.values[HOST_FACT_MEM_AVAILABLE] =
        (struct fact){.value = UINT64_C(7) << 30, .state = FACT_STALE};
    overview = (struct overview){.host = &host, .rows = rows, .count = 4};
    overview_sort(&overview);
    return 0;
}

static void shows_the_largest_first(void **state)
{
    struct present_style style = {.utf8 = true, .width = 100};
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    present_overview_text(&overview, &style, &buffer);
    assert_golden("overview.txt", &buffer);
    buffer_release(&buffer);
}

static void leaves_out_columns_without_a_number(void **state)
{
    struct present_style style = {.utf8 = true, .width = 80};
    struct buffer buffer;

    (void)state;
    overview.rows += 2;
    overview.count -= 2;
    buffer_init(&buffer);
    present_overview_text(&overview, &style, &buffer);
    assert_golden("overview-bare.txt", &buffer);
    assert_null(strstr(buffer_text(&buffer), "charged\n"));
    buffer_release(&buffer);
}

static void gives_up_columns_for_the_width(void **state)
{
    static const int widths[] = {80, 90, 100, 120};

    (void)state;
    for (size_t i = 0; i < sizeof(widths) / sizeof(widths[0]); i++) {
        for (int exact = 0; exact <= 1; exact++) {
            struct present_style style = {
                .utf8 = true, .exact_bytes = exact == 1, .width = widths[i]};
            struct buffer buffer;
            buffer_init(&buffer);
            present_overview_text(&overview, &style, &buffer);
            assert_int_equal(buffer_error(&buffer), 0);
            for (char *line = buffer.data; *line != '\0';) {
                char *end = strchr(line, '\n');
                *end = '\0';
                assert_true(safe_text_columns(line, true) <= widths[i]);
                line = end + 1;
            }
            buffer_release(&buffer);
        }
    }
}

static void counts_rows_that_do_not_fit(void **state)
{
    static struct overview_row many[30];
    struct present_style style = {.utf8 = true, .width = 80};
    struct buffer buffer;

    (void)state;
    for (size_t i = 0; i < 30; i++) {
        many[i] = rows[0];
    }
    overview.rows = many;
    overview.count = 30;
    buffer_init(&buffer);
    present_overview_text(&overview, &style, &buffer);
    assert_non_null(strstr(buffer_text(&buffer), "and 10 smaller: --all shows them\n"));
    buffer_reset(&buffer);
    style.unfolded = true;
    present_overview_text(&overview, &style, &buffer);
    assert_null(strstr(buffer_text(&buffer), "smaller"));
    buffer_release(&buffer);
}

/* Which row is the pool, in the order of the overview. */
enum { POOL_ROW = 1 };

static void assert_told(const struct present_style *style, const char *text, bool told)
{
    struct buffer buffer;

    buffer_init(&buffer);
    present_overview_text(&overview, style, &buffer);
    assert_int_equal(strstr(buffer_text(&buffer), text) != NULL, told);
    buffer_release(&buffer);
}

/* The pool's resident was another number than what explain showed, and its cell did not say so. */
static void r_a_sum_over_processes_is_told_in_its_cell(void **state)
{
    const struct present_style style = {.utf8 = true, .width = 100};
    const struct present_style ascii = {.width = 100};
    struct layer *resident = &rows[POOL_ROW].snapshot.layers[LAYER_RESIDENT];
    struct buffer buffer;

    (void)state;
    resident->bound = BOUND_NONE;
    assert_told(&style, "sum of their", false);
    assert_told(&style, " 165.0 ", true);
    resident->bound = BOUND_AT_MOST;
    assert_told(&style, " \u2264165.0 ", true);
    assert_told(&ascii, " <=165.0 ", true);
    assert_told(
        &style, "\u2264 resident of several processes: the sum of their Rss", true);
    resident->bound = BOUND_AT_LEAST;
    assert_told(&style, " \u2265165.0 ", true);
    assert_told(&ascii, ">= resident of several processes: the sum of their Pss", true);

    buffer_init(&buffer);
    present_overview_json(&overview, &buffer);
    assert_non_null(strstr(buffer_text(&buffer), "\"resident_bound\": \"at_least\""));
    buffer_release(&buffer);
}

static struct cgroup_facts bills[2];

/* Every row repeated the whole bill of the cgroup that it shares with others. */
static void r_a_bill_stands_once(void **state)
{
    struct present_style style = {.utf8 = true, .width = 120};
    struct overview_line lines[4];
    struct buffer buffer;

    (void)state;
    bills[0] = (struct cgroup_facts){.charged_path = (char *)"/a"};
    bills[1] = (struct cgroup_facts){.charged_path = (char *)"/"};
    for (size_t i = 0; i < 4; i++) {
        struct facts *facts = (struct facts *)(uintptr_t)rows[i].snapshot.facts;
        facts->cgroups = bills;
        facts->cgroup_count = 2;
        facts->target_cgroup = i < 3 ? 0 : 1;
        rows[i].snapshot.layers[LAYER_CHARGED] = (struct layer){
            .id = LAYER_CHARGED, .state = FACT_OK, .bytes = INT64_C(7777) << 20};
    }
    overview_lines_fill(&overview, lines);
    assert_int_equal(lines[0].bill, BILL_OWN);
    assert_int_equal(lines[1].bill, BILL_SHARED);
    assert_int_equal(lines[2].bill, BILL_SHARED);
    assert_int_equal(lines[3].bill, BILL_HOST);
    buffer_init(&buffer);
    present_overview_text(&overview, &style, &buffer);
    const char *first = strstr(buffer_text(&buffer), "7777.0");
    assert_non_null(first);
    assert_null(strstr(first + 1, "7777.0"));
    assert_non_null(strstr(buffer_text(&buffer), "others of it say shared"));
    buffer_release(&buffer);
}

/* What was not read by choice stood under Missing, on every host. */
static void r_a_choice_is_a_note(void **state)
{
    static struct gap gaps[2] = {
        {.fact = (char *)"status", .state = FACT_ABSENT, .why = (char *)"a choice"},
        {.fact = (char *)"smaps", .state = FACT_DENIED, .why = (char *)"no right"}};
    struct present_style style = {.utf8 = true, .width = 100};
    struct buffer buffer;

    (void)state;
    host.gaps = gaps;
    host.gap_count = 1;
    buffer_init(&buffer);
    present_overview_text(&overview, &style, &buffer);
    assert_null(strstr(buffer_text(&buffer), "Missing"));
    assert_non_null(strstr(buffer_text(&buffer), "read of the largest only"));
    buffer_reset(&buffer);
    host.gap_count = 2;
    present_overview_text(&overview, &style, &buffer);
    assert_non_null(strstr(buffer_text(&buffer), "no right"));
    assert_null(strstr(buffer_text(&buffer), "a choice"));
    buffer_release(&buffer);
}

static void writes_every_row_as_json(void **state)
{
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    present_overview_json(&overview, &buffer);
    assert_golden("overview.json", &buffer);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(shows_the_largest_first, setup),
        cmocka_unit_test_setup(leaves_out_columns_without_a_number, setup),
        cmocka_unit_test_setup(gives_up_columns_for_the_width, setup),
        cmocka_unit_test_setup(counts_rows_that_do_not_fit, setup),
        cmocka_unit_test_setup(r_a_sum_over_processes_is_told_in_its_cell, setup),
        cmocka_unit_test_setup(r_a_bill_stands_once, setup),
        cmocka_unit_test_setup(r_a_choice_is_a_note, setup),
        cmocka_unit_test_setup(writes_every_row_as_json, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
