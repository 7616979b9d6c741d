/*
 * cliff: what 32 strings of one size cost in real. See README.md.
 *
 * Every row starts from a new heap and a new PHP. A row may ask for a chunk in the cache
 * beforehand, as an earlier row in the same process leaves one behind.
 */
#include "lab.h"

#include <stdio.h>

#include "lab_script.h"

enum { NAME_BYTES = 64, WARM_BYTES = 2000000 };

struct row {
    size_t strings;
    size_t payload;
    bool warm; /* one chunk in the cache before */
    const char *what;
    int64_t published_real; /* LAB_UNKNOWN where the text gives none */
};

static const struct row rows[] = {
    {32, 65536, false, "17 pages", LAB_UNKNOWN},
    {32, 262144, false, "65 pages", LAB_UNKNOWN},
    {32, 524288, false, "129 pages", LAB_UNKNOWN},
    {32, 1040384, true, "255 pages, a chunk cached", 15 * 2097152},
    {32, 1040384, false, "255 pages", LAB_UNKNOWN},
    {32, 1044448, false, "255 pages, the last", LAB_UNKNOWN},
    {32, 1044480, false, "256 pages", 31 * 2097152},
    {32, 1048576, false, "257 pages, 1 MiB", 65011712},
    {32, 1572864, false, "385 pages", LAB_UNKNOWN},
    {32, 2093024, false, "511 pages, the last run", LAB_UNKNOWN},
    {32, 2093032, false, "a huge block each", LAB_UNKNOWN},
    {32, 4194304, false, "a huge block each", LAB_UNKNOWN},
    {60, 1044448, false, "half a chunk", LAB_UNKNOWN},
    {60, 1044449, false, "half a chunk + 1 byte", LAB_UNKNOWN},
    {60, 696288, false, "a third", LAB_UNKNOWN},
    {60, 696289, false, "a third + 1 byte", LAB_UNKNOWN},
    {60, 520160, false, "a quarter", LAB_UNKNOWN},
    {60, 520161, false, "a quarter + 1 byte", LAB_UNKNOWN},
    {60, 417760, false, "a fifth", LAB_UNKNOWN},
    {60, 417761, false, "a fifth + 1 byte", LAB_UNKNOWN},
};
enum { ROWS = sizeof(rows) / sizeof(rows[0]) };

static const size_t mebibyte = 1048576;
static const int64_t published_mebibyte_rss = 33538048;

/* By how much the figures of a heap rise. */
static struct lab_reading run_heap(enum lab_column column, const struct row *row)
{
    struct strata_heap *heap = lab_heap_new(lab_layout(column));
    if (row->warm) {
        void *first = lab_alloc(heap, lab_string_bytes(WARM_BYTES));
        void *second = lab_alloc(heap, lab_string_bytes(WARM_BYTES));
        strata_free(heap, first);
        strata_free(heap, second);
    }
    struct lab_reading before = lab_read(heap);
    for (size_t i = 0; i < row->strings; i++) {
        lab_alloc(heap, lab_string_bytes(row->payload));
    }
    struct lab_reading after = lab_read(heap);
    strata_heap_delete(heap);
    return (struct lab_reading){.used = after.used - before.used,
        .real = after.real - before.real,
        .rss = after.rss - before.rss};
}

static void run_php(struct lab *lab, const struct row *row)
{
    char argument[NAME_BYTES];
    snprintf(argument, sizeof(argument), "%zu,%zu,%d", row->strings, row->payload,
        row->warm ? 1 : 0);
    lab_run_php(lab, lab_script, "-1", argument);
}

static void print_reading(const struct lab *lab, const struct row *row,
    const struct lab_reading *zend, const struct lab_reading *compact)
{
    char label[NAME_BYTES];
    snprintf(label, sizeof(label), "%zu x %zu", row->strings, row->payload);
    lab_print_row(label, &(struct lab_row){{row->published_real,
                             lab_php_figure(lab, "real"), zend->real, compact->real}});
    printf("    %s; real / payload: zend %.3f, compact %.3f\n", row->what,
        (double)zend->real / (double)(row->strings * row->payload),
        (double)compact->real / (double)(row->strings * row->payload));
}

static void check_row(struct lab *lab, const struct row *row,
    const struct lab_reading *zend, const struct lab_reading *compact)
{
    lab_expect_equal(lab, row->what, zend->real, lab_php_figure(lab, "real"));
    lab_expect_equal(lab, row->what, zend->real, row->published_real);
    if (row->payload == mebibyte) {
        int64_t payload = (int64_t)(row->strings * row->payload);
        lab_expect_at_most(
            lab, "compact, real of 32 x 1 MiB", compact->real, payload + payload / 50);
        lab_print_row("  RSS of the same",
            &(struct lab_row){{published_mebibyte_rss, lab_php_figure(lab, "rss"),
                zend->rss, compact->rss}});
    }
}

int main(int count, char **arguments)
{
    static struct lab lab;
    lab_begin(&lab, count, arguments, "cliff: what strings of one size cost in real");
    lab_print_head("rise of real");
    for (size_t i = 0; i < ROWS; i++) {
        run_php(&lab, &rows[i]);
        struct lab_reading zend = run_heap(LAB_ZEND, &rows[i]);
        struct lab_reading compact = run_heap(LAB_COMPACT, &rows[i]);
        print_reading(&lab, &rows[i], &zend, &compact);
        check_row(&lab, &rows[i], &zend, &compact);
    }
    return lab_end(&lab);
}
