/* test_page.c - columns, wrapping, bars and colours of one line. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "present/page.h"

static struct present_style style;
static struct buffer buffer;
static struct page page;

static int setup(void **state)
{
    (void)state;
    style = (struct present_style){.utf8 = true, .width = 60};
    buffer_init(&buffer);
    page_init(&page, &style, &buffer);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    buffer_release(&buffer);
    return 0;
}

static void writes_no_blank_at_the_end(void **state)
{
    (void)state;
    page_put(&page, INK_PLAIN, "a");
    page_at(&page, 20);
    page_end_line(&page);
    assert_string_equal(buffer_text(&buffer), "a\n");
}

static void separates_what_does_not_fit(void **state)
{
    (void)state;
    page_put(&page, INK_PLAIN, "long name");
    page_right(&page, INK_PLAIN, "12345", 6);
    page_end_line(&page);
    page_right(&page, INK_PLAIN, "12345", 3);
    assert_string_equal(buffer_text(&buffer), "long name 12345\n12345");
}

static void aligns_behind_wide_characters(void **state)
{
    (void)state;
    page_put(&page, INK_PLAIN, "\xe6\x97\xa5");
    page_right(&page, INK_PLAIN, "x", 5);
    assert_string_equal(buffer_text(&buffer), "\xe6\x97\xa5  x");
}

static void cuts_by_columns(void **state)
{
    (void)state;
    page_fit(&page, INK_PLAIN, "\xe6\x97\xa5\xe6\x9c\xac", 3);
    assert_string_equal(buffer_text(&buffer), "\xe6\x97\xa5\xe2\x80\xa6");
    assert_int_equal(page.column, 3);
}

static void wraps_words_and_keeps_long_ones(void **state)
{
    (void)state;
    page_paragraph(&page, INK_PLAIN,
        "one two three four five six seven eight nine ten "
        "a-word-that-is-much-longer-than-any-line-of-this-narrow-terminal-is end\n"
        "next",
        4);
    assert_string_equal(buffer_text(&buffer),
        "    one two three four five six seven eight nine ten\n"
        "    a-word-that-is-much-longer-than-any-line-of-this-narrow-terminal-is\n"
        "    end\n"
        "    next\n");
}

static void never_wraps_what_is_to_be_pasted(void **state)
{
    (void)state;
    page_verbatim(&page, INK_PLAIN, "[Service]\n  Environment=A B\n\nend", 2);
    assert_string_equal(
        buffer_text(&buffer), "  [Service]\n    Environment=A B\n\n  end\n");
}

/* What goes on stays a comment, so it may be pasted all the same; a command stays whole. */
static void wraps_comments_as_comments(void **state)
{
    (void)state;
    page_verbatim(&page, INK_PLAIN,
        "# a comment of more words than the narrow terminal has columns to show them\n"
        "; of-an-ini-file-whose-first-word-is-longer-than-any-line-of-it on\n"
        "a-command --with=many --options=that --are=wider --than=the --terminal=has\n"
        "# short",
        2);
    assert_string_equal(buffer_text(&buffer),
        "  # a comment of more words than the narrow terminal has\n"
        "  # columns to show them\n"
        "  ; of-an-ini-file-whose-first-word-is-longer-than-any-line-of-it\n"
        "  ; on\n"
        "  a-command --with=many --options=that --are=wider --than=the --terminal=has\n"
        "  # short\n");
}

static void items_go_on_in_the_next_line(void **state)
{
    (void)state;
    page_put(&page, INK_PLAIN, "pool www");
    page_item(&page, INK_PLAIN, "pm static", 2);
    page_item(&page, INK_PLAIN, "an item that is moved whole to the next line", 2);
    page_item(&page, INK_PLAIN, "x", 2);
    assert_string_equal(buffer_text(&buffer),
        "pool www \u00b7 pm static\n"
        "  an item that is moved whole to the next line \u00b7 x");
}

static void draws_bars_in_eighths_or_marks(void **state)
{
    (void)state;
    page_bar(&page, 3, 16, 4);
    page_put(&page, INK_PLAIN, "|");
    page_bar(&page, 0, 16, 4);
    page_bar(&page, 20, 16, 2);
    page_put(&page, INK_PLAIN, "|");
    style.utf8 = false;
    page_bar(&page, 1, 2, 4);
    page_bar(&page, 1, 0, 4);
    page_put(&page, INK_PLAIN, "|");
    page_bar(&page, 3, 2, 2);
    assert_string_equal(buffer_text(&buffer), "\u258a|\u2588\u25b6|##|#>");
    assert_int_equal(page.column, 1 + 1 + 2 + 1 + 2 + 1 + 2);
}

static void colours_text_but_not_blanks(void **state)
{
    (void)state;
    style.color = true;
    page_right(&page, INK_WARN, "x", 3);
    page_put(&page, INK_PLAIN, "y");
    assert_string_equal(buffer_text(&buffer), "  \033[33mx\033[0my");
}

static void colours_each_line_of_a_paragraph(void **state)
{
    (void)state;
    style.color = true;
    page_paragraph(&page, INK_DIM,
        "wwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww in a line, and 1.5 MiB", 2);
    assert_string_equal(buffer_text(&buffer),
        "  \033[2mwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwwww in a line, and\033[0m\n"
        "  \033[2m1.5 MiB\033[0m\n");
}

static void does_not_part_a_number_from_its_unit(void **state)
{
    (void)state;
    page_paragraph(&page, INK_PLAIN,
        "this sentence is as long as the line but for the last <0.1 MiB, and 3 % of it",
        0);
    assert_string_equal(buffer_text(&buffer),
        "this sentence is as long as the line but for the last\n"
        "<0.1 MiB, and 3 % of it\n");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        CASE(writes_no_blank_at_the_end),
        CASE(separates_what_does_not_fit),
        CASE(aligns_behind_wide_characters),
        CASE(cuts_by_columns),
        CASE(wraps_words_and_keeps_long_ones),
        CASE(never_wraps_what_is_to_be_pasted),
        CASE(wraps_comments_as_comments),
        CASE(items_go_on_in_the_next_line),
        CASE(draws_bars_in_eighths_or_marks),
        CASE(colours_text_but_not_blanks),
        CASE(colours_each_line_of_a_paragraph),
        CASE(does_not_part_a_number_from_its_unit),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
