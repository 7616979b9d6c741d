/* test_explain_text.c - the screen of `strata explain`, byte for byte, and its width. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "present/explain_text.h"
#include "present/safe_text.h"
#include "sample.h"

enum { SCREEN_LINES = 50 };

static const struct present_style plain = {.utf8 = true, .width = 80};

typedef void sample_function(struct sample *sample);

static void render(
    sample_function *build, const struct present_style *style, struct buffer *buffer)
{
    static struct sample sample;

    build(&sample);
    buffer_init(buffer);
    present_explain_text(&sample.snapshot, &sample.list, NULL, style, buffer);
}

static void matches(
    sample_function *build, const struct present_style *style, const char *golden)
{
    struct buffer buffer;

    render(build, style, &buffer);
    assert_golden(golden, &buffer);
    buffer_release(&buffer);
}

static void shows_a_database_in_a_container(void **state)
{
    (void)state;
    matches(sample_database, &plain, "explain-database.txt");
}

static void shows_what_a_database_counts(void **state)
{
    struct present_style style = plain;

    (void)state;
    matches(sample_database_asked, &plain, "explain-database-asked.txt");
    style.unfolded = true;
    matches(sample_database_asked, &style, "explain-database-asked-all.txt");
}

static void assert_shown(const struct buffer *buffer, const char *text)
{
    if (strstr(buffer_text(buffer), text) == NULL) {
        fail_msg("'%s' is not in\n%s", text, buffer_text(buffer));
    }
}

/* What is in the page of a sample whose in-use layer is bytes, on a wide terminal. */
static void assert_shown_in_use(sample_function *build, int64_t bytes, const char *text)
{
    static struct sample sample;
    const struct present_style style = {.utf8 = true, .width = 200};
    struct buffer buffer;

    build(&sample);
    sample.snapshot.layers[LAYER_IN_USE].bytes = bytes;
    buffer_init(&buffer);
    present_explain_text(&sample.snapshot, &sample.list, NULL, &style, &buffer);
    assert_shown(&buffer, text);
    buffer_release(&buffer);
}

/* A server that says what it counts, of which nothing lies beside malloc. */
static void all_in_malloc(struct sample *sample)
{
    sample_database_asked(sample);
    sample->snapshot.member_count = 0;
}

static void a_gap_below_nothing_has_its_own_words(void **state)
{
    (void)state;
    assert_shown_in_use(sample_database_asked, 451 << 20,
        "-19.0 MiB    beside malloc -128.0 MiB, in malloc and not tracked +109.0 MiB\n");
    assert_shown_in_use(sample_database_asked, 300 << 20,
        "-170.0 MiB    beside malloc -128.0 MiB, counted and no longer in malloc (it "
        "moved meanwhile) -42.0 MiB\n");
    assert_shown_in_use(
        all_in_malloc, 480 << 20, "+10.0 MiB    not tracked by the application\n");
    assert_shown_in_use(all_in_malloc, 300 << 20,
        "-170.0 MiB    tracked, and not in malloc: mapped beside it, or freed since it "
        "was counted\n");
}

/* What is not resident is a figure of its own; what is, is the rest of the gap as shown. */
static void the_free_gap_adds_up(void **state)
{
    (void)state;
    assert_shown_in_use(sample_database_asked, 451 << 20,
        "+552.0 MiB    free in the allocator: 343.0 MiB in whole resident pages, 52.0 "
        "MiB beside blocks in use, 157.0 MiB not resident\n");
    assert_shown_in_use(all_in_malloc, (451 << 20) + 50000,
        "+552.0 MiB    free in the allocator: 343.0 MiB resident, 209.0 MiB not\n");
    assert_shown_in_use(all_in_malloc, (451 << 20) - 53000,
        "+552.1 MiB    free in the allocator: 343.0 MiB resident, 209.1 MiB not\n");
}

static size_t lines_of(const struct buffer *buffer)
{
    size_t lines = 0;

    for (const char *text = buffer_text(buffer); *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

/* Whose it is, all layers, what to change, what that gives back, how to check: on one screen. */
static void is_one_screen(void **state)
{
    static const char *const texts[] = {"mariadbd \u00b7 pid 812", "tracked", "in use",
        "held", "resident", "pss:", "charged",
        "What to change: gives back 330.0-370.0 MiB (likely)\n",
        "      # systemctl edit mariadb.service\n      [Service]\n",
        "      [Service]\n      Environment=MALLOC_ARENA_MAX=2\n",
        "check: after a restart", "thread-stacks", "--all adds:"};
    struct buffer buffer;

    (void)state;
    render(sample_database_asked, &plain, &buffer);
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_shown(&buffer, texts[i]);
    }
    assert_in_range(lines_of(&buffer), 20, SCREEN_LINES);
    buffer_release(&buffer);
}

/* As a server on which nearly every rule has something to say. */
static void many_findings(struct sample *sample)
{
    static struct rule rules[40];
    static struct finding findings[40];
    static char ids[40][16];

    sample_database_asked(sample);
    for (size_t i = 0; i < 40; i++) {
        (void)snprintf(ids[i], sizeof(ids[i]), "rule-%zu", i);
        rules[i] = (struct rule){.id = ids[i], .title = "something"};
        findings[i] = (struct finding){.rule = &rules[i], .summary = "a sentence"};
    }
    findings[0] = sample->list.items[1];
    findings[39].rule = &rules[38];
    sample->list.items = findings;
    sample->list.count = 40;
}

/* Further ones are counted, those of one rule as one. */
static void is_one_screen_with_many_findings(void **state)
{
    struct present_style style = plain;
    struct buffer buffer;

    (void)state;
    render(many_findings, &plain, &buffer);
    assert_in_range(lines_of(&buffer), SCREEN_LINES - 5, SCREEN_LINES);
    assert_shown(&buffer, "rule-1: something\n");
    assert_null(strstr(buffer_text(&buffer), "rule-38"));
    assert_shown(&buffer, " more: --all\n");
    buffer_release(&buffer);
    style.unfolded = true;
    render(many_findings, &style, &buffer);
    assert_shown(&buffer, "rule-38\n");
    buffer_release(&buffer);
}

static void shows_exact_bytes(void **state)
{
    struct present_style style = plain;

    (void)state;
    style.exact_bytes = true;
    matches(sample_database, &style, "explain-database-bytes.txt");
}

static void shows_everything_on_request(void **state)
{
    struct present_style style = plain;

    (void)state;
    style.unfolded = true;
    matches(sample_database, &style, "explain-database-all.txt");
}

static void uses_colours_only_when_asked(void **state)
{
    struct present_style style = plain;
    struct buffer buffer;

    (void)state;
    render(sample_database, &style, &buffer);
    assert_null(strchr(buffer_text(&buffer), '\033'));
    buffer_release(&buffer);
    style.color = true;
    matches(sample_database, &style, "explain-database-color.txt");
}

static void is_plain_ascii_without_utf8(void **state)
{
    struct present_style style = plain;
    struct buffer buffer;

    (void)state;
    style.utf8 = false;
    render(sample_denied, &style, &buffer);
    for (size_t i = 0; i < buffer.length_bytes; i++) {
        assert_true((unsigned char)buffer.data[i] < 0x7f);
    }
    buffer_release(&buffer);
    matches(sample_database, &style, "explain-database-ascii.txt");
}

static void shows_what_was_denied_and_defuses_names(void **state)
{
    (void)state;
    matches(sample_denied, &plain, "explain-denied.txt");
}

static void shows_a_pool_with_members_that_ended(void **state)
{
    (void)state;
    matches(sample_pool, &plain, "explain-pool.txt");
}

/* The first member, with a heap, is the master. */
static void with_master(struct sample *sample)
{
    sample_pool(sample);
    sample->facts.processes[0].title = (char *)"php-fpm: master process (/etc/fpm.conf)";
}

static void idle(struct sample *sample)
{
    with_master(sample);
    sample->facts.process_count = 1;
}

static void r_the_master_of_a_pool_is_told(void **state)
{
    struct present_style style = plain;
    struct buffer buffer;

    (void)state;
    style.unfolded = true;
    render(with_master, &style, &buffer);
    assert_shown(&buffer, "  master 100  ");
    assert_shown(&buffer, "       100  master  ");
    buffer_release(&buffer);
    render(idle, &plain, &buffer);
    assert_shown(&buffer, "no worker now, its master is pid 100");
    buffer_release(&buffer);
}

static void survives_a_target_without_anything(void **state)
{
    (void)state;
    matches(sample_empty, &plain, "explain-empty.txt");
}

/* No line is wider than the terminal or ends in a blank, whatever its width. */
static void check_lines(const struct buffer *buffer, int width)
{
    const char *text = buffer_text(buffer);

    while (*text != '\0') {
        size_t bytes = strcspn(text, "\n");
        char line[1024] = {0};
        assert_true(bytes < sizeof(line));
        memcpy(line, text, bytes);
        if (safe_text_columns(line, true) > width) {
            fail_msg("wider than %d columns: %s", width, line);
        }
        assert_true(bytes == 0 || line[bytes - 1] != ' ');
        text += bytes + 1;
    }
}

static void fits_the_terminal(void **state)
{
    static sample_function *const samples[] = {
        sample_database, sample_database_asked, sample_denied, sample_pool, sample_empty};
    static const int widths[] = {80, 100, 200};

    (void)state;
    for (size_t i = 0; i < sizeof(samples) / sizeof(samples[0]); i++) {
        for (size_t j = 0; j < sizeof(widths) / sizeof(widths[0]); j++) {
            struct present_style style = plain;
            struct buffer buffer;
            style.width = widths[j];
            render(samples[i], &style, &buffer);
            check_lines(&buffer, widths[j]);
            buffer_release(&buffer);
            style.exact_bytes = true;
            render(samples[i], &style, &buffer);
            check_lines(&buffer, widths[j]);
            buffer_release(&buffer);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_a_database_in_a_container),
        cmocka_unit_test(shows_what_a_database_counts),
        cmocka_unit_test(a_gap_below_nothing_has_its_own_words),
        cmocka_unit_test(the_free_gap_adds_up),
        cmocka_unit_test(is_one_screen),
        cmocka_unit_test(is_one_screen_with_many_findings),
        cmocka_unit_test(shows_exact_bytes),
        cmocka_unit_test(shows_everything_on_request),
        cmocka_unit_test(uses_colours_only_when_asked),
        cmocka_unit_test(is_plain_ascii_without_utf8),
        cmocka_unit_test(shows_what_was_denied_and_defuses_names),
        cmocka_unit_test(shows_a_pool_with_members_that_ended),
        cmocka_unit_test(r_the_master_of_a_pool_is_told),
        cmocka_unit_test(survives_a_target_without_anything),
        cmocka_unit_test(fits_the_terminal),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
