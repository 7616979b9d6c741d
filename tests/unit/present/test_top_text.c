/* test_top_text.c - the screen of top: order, filter, the place of everything, hostile names. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "present/page.h"
#include "present/safe_text.h"
#include "present/top_text.h"
#include "sample.h"

enum { ROWS = 4, MEMBERS = 2, LINES = ROWS + MEMBERS, RESIDENT = 3 };

static struct sample samples[ROWS];
static struct layer member_layers[MEMBERS][LAYER_COUNT];
static struct overview_line lines[LINES];
static struct facts host;
static struct top_screen screen;

static struct overview_line line_of(struct sample *sample, const char *name, int32_t pid)
{
    return (struct overview_line){.name = name,
        .pid = pid,
        .processes = sample->facts.process_count,
        .layers = sample->snapshot.layers,
        .list = &sample->list};
}

static struct overview_line member_of(int index, int32_t pid, int64_t bytes)
{
    member_layers[index][LAYER_RESIDENT] =
        (struct layer){.id = LAYER_RESIDENT, .state = FACT_OK, .bytes = bytes};
    return (struct overview_line){.name = "php-fpm: pool www",
        .pid = pid,
        .processes = 1,
        .member = true,
        .bill = BILL_HOST,
        .layers = member_layers[index]};
}

/* The pool is unfolded; nothing is in order by chance. */
static int setup(void **state)
{
    (void)state;
    sample_empty(&samples[0]);
    sample_denied(&samples[1]);
    sample_pool(&samples[2]);
    sample_database(&samples[3]);
    lines[0] = line_of(&samples[0], "init", 1);
    lines[1] = line_of(&samples[2], "pool:www", 101);
    lines[1].unfolded = true;
    lines[2] = member_of(0, 102, 5 << 20);
    lines[3] = member_of(1, 103, 9 << 20);
    lines[4] = line_of(&samples[1], "\033]0;owned\a\x9b", 4711);
    lines[5] = line_of(&samples[3], "mariadbd", 812);
    samples[0].snapshot.layers[LAYER_RESIDENT].state = FACT_DENIED;
    host = samples[2].facts;
    host.host.values[HOST_FACT_MEM_TOTAL] =
        (struct fact){.value = UINT64_C(24) << 30, .state = FACT_OK};
    screen = (struct top_screen){.host = &host,
        .lines = lines,
        .count = LINES,
        .selected = 1,
        .sort = RESIDENT,
        .filter = "",
        .pane_text = "",
        .height = 24};
    return 0;
}

static void assert_order(int sort, bool reversed, const int32_t *pids)
{
    top_sort_lines(lines, LINES, sort, reversed);
    for (int i = 0; i < LINES; i++) {
        if (lines[i].pid != pids[i]) {
            fail_msg("sort %s: line %d is pid %d, not %d", top_sort_name(sort), i,
                lines[i].pid, pids[i]);
        }
    }
}

static void sorts_rows_and_keeps_members_behind_them(void **state)
{
    (void)state;
    assert_string_equal(top_sort_name(RESIDENT), "resident");
    assert_order(RESIDENT, false, (int32_t[]){812, 101, 103, 102, 4711, 1});
    assert_order(RESIDENT, true, (int32_t[]){4711, 101, 102, 103, 812, 1});
    assert_order(TOP_SORT_PID, false, (int32_t[]){1, 101, 102, 103, 812, 4711});
    assert_order(TOP_SORT_NAME, false, (int32_t[]){4711, 1, 812, 101, 102, 103});
    assert_order(TOP_SORT_FINDING, false, (int32_t[]){812, 4711, 1, 101, 102, 103});
}

static void finds_every_sort_by_its_name(void **state)
{
    (void)state;
    for (int sort = 0; sort < TOP_SORT_COUNT; sort++) {
        assert_int_equal(top_sort_find(top_sort_name(sort)), sort);
    }
    assert_int_equal(top_sort_find("nothing"), -1);
    assert_true(top_filter_matches("MariaDBd", "iadb"));
    assert_true(top_filter_matches("x", ""));
    assert_false(top_filter_matches("nginx", "php"));
}

static void render(struct buffer *buffer, bool color, int width, int *selected_line)
{
    const struct present_style style = {.color = color, .utf8 = true, .width = width};

    buffer_init(buffer);
    present_top_text(&screen, &style, buffer, selected_line);
    assert_int_equal(buffer_error(buffer), 0);
}

static int count_lines(const struct buffer *buffer)
{
    int count = 0;

    for (const char *text = buffer_text(buffer); *text != '\0'; text++) {
        count += *text == '\n';
    }
    return count;
}

static void shows_list_and_pane(void **state)
{
    struct buffer buffer;
    int selected_line;

    (void)state;
    top_sort_lines(lines, LINES, RESIDENT, false);
    render(&buffer, false, 100, &selected_line);
    assert_golden("top-list.txt", &buffer);
    assert_int_equal(selected_line, 4);
    buffer_release(&buffer);
    screen.pane = TOP_PANE_HELP;
    screen.pane_text = top_help_text();
    screen.paused = true;
    screen.reversed = true;
    screen.filter = "p";
    screen.filter_is_open = true;
    screen.age_seconds = 12;
    render(&buffer, false, 80, &selected_line);
    assert_golden("top-pane.txt", &buffer);
    buffer_release(&buffer);
}

static void check_filled(int height, enum top_pane pane)
{
    struct buffer buffer;
    int selected_line;

    screen.height = height;
    screen.pane = pane;
    for (size_t first = 0; first <= LINES; first++) {
        screen.first = first;
        screen.pane_first = first * 7;
        render(&buffer, true, 60, &selected_line);
        if (pane == TOP_PANE_NONE || height >= 13) {
            assert_int_equal(count_lines(&buffer), height);
        }
        assert_true(selected_line < height);
        buffer_release(&buffer);
    }
}

/* At any size, with any pane, from any first line: as many lines as the screen has. */
static void always_fills_the_screen(void **state)
{
    static const int heights[] = {9, 10, 12, 24, 25, 60};

    (void)state;
    screen.pane_text = top_help_text();
    for (size_t i = 0; i < sizeof(heights) / sizeof(heights[0]); i++) {
        for (int pane = TOP_PANE_NONE; pane <= TOP_PANE_HELP; pane++) {
            check_filled(heights[i], (enum top_pane)pane);
        }
    }
}

static void shows_nothing_when_there_is_nothing(void **state)
{
    struct buffer buffer;
    int selected_line;

    (void)state;
    screen.host = NULL;
    screen.count = 0;
    screen.selected = 0;
    screen.pane = TOP_PANE_DETAIL;
    render(&buffer, false, 80, &selected_line);
    assert_int_equal(selected_line, -1);
    assert_int_equal(count_lines(&buffer), 24);
    assert_non_null(strstr(buffer_text(&buffer), "reading the host"));
    buffer_release(&buffer);
    screen.host_failed = true;
    render(&buffer, false, 80, &selected_line);
    assert_non_null(strstr(buffer_text(&buffer), "cannot read the processes"));
    buffer_release(&buffer);
}

/* All escapes in the text are inks of the page: a name brings none of its own. */
static void names_bring_no_escapes(void **state)
{
    struct buffer buffer;
    int selected_line;
    size_t inks = 0;

    (void)state;
    screen.filter = "\033[2J";
    render(&buffer, true, 100, &selected_line);
    for (const char *text = buffer_text(&buffer); *text != '\0';) {
        enum ink ink;
        size_t bytes = 1;
        if (*text == '\033') {
            assert_true(page_ink_at(text, &ink, &bytes));
            inks++;
        } else {
            assert_true((unsigned char)*text >= ' ' || *text == '\n');
            assert_false(page_ink_at(text, &ink, &bytes));
            bytes = 1;
        }
        text += bytes;
    }
    assert_true(inks > 10);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sorts_rows_and_keeps_members_behind_them, setup),
        cmocka_unit_test_setup(finds_every_sort_by_its_name, setup),
        cmocka_unit_test_setup(shows_list_and_pane, setup),
        cmocka_unit_test_setup(always_fills_the_screen, setup),
        cmocka_unit_test_setup(shows_nothing_when_there_is_nothing, setup),
        cmocka_unit_test_setup(names_bring_no_escapes, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
