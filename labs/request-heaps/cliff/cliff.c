/*
 * cliff: what 32 strings of one size cost in real. See README.md.
 *
 * Every row starts from a new heap and a new PHP. A row may ask for a chunk in the cache
 * beforehand, as an earlier row in the same process leaves one behind.
 */
#include "lab.h"

#include <stdio.h>

#include "lab_script.h"
#include "published.h"

enum { NAME_BYTES = 64, WARM_BYTES = 2000000 };

/* By how much the figures of a heap rise. */
static struct lab_reading run_heap(enum lab_column column, const struct cliff_row *row)
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

static void run_php(struct lab *lab, const struct cliff_row *row)
{
    char argument[NAME_BYTES];
    snprintf(argument, sizeof(argument), "%zu,%zu,%d", row->strings, row->payload,
        row->warm ? 1 : 0);
    lab_run_php(lab, lab_script, "-1", argument);
}

static int64_t php_rise(const struct lab *lab, const char *figure)
{
    return lab_difference(
        lab_php_point(lab, "after", figure), lab_php_point(lab, "before", figure));
}

static void print_reading(const struct lab *lab, const struct cliff_row *row,
    const struct lab_reading *zend, const struct lab_reading *compact)
{
    char label[NAME_BYTES];
    snprintf(label, sizeof(label), "%zu x %zu", row->strings, row->payload);
    lab_print_row(label, &(struct lab_row){{row->published_real, php_rise(lab, "real"),
                             zend->real, compact->real}});
    printf("    %s; real / payload: zend %.3f, compact %.3f\n", row->what,
        (double)zend->real / (double)(row->strings * row->payload),
        (double)compact->real / (double)(row->strings * row->payload));
}

static void check_row(struct lab *lab, const struct cliff_row *row,
    const struct lab_reading *zend, const struct lab_reading *compact)
{
    lab_expect_equal(lab, row->what, zend->real, php_rise(lab, "real"));
    lab_expect_equal(lab, row->what, zend->real, row->published_real);
    if (row->payload == cliff_mebibyte) {
        int64_t payload = (int64_t)(row->strings * row->payload);
        lab_expect_at_most(
            lab, "compact, real of 32 x 1 MiB", compact->real, payload + payload / 50);
        lab_print_row("  RSS of the same",
            &(struct lab_row){
                {cliff_mebibyte_rss, php_rise(lab, "rss"), zend->rss, compact->rss}});
    }
}

int main(int count, char **arguments)
{
    static struct lab lab;
    lab_begin(&lab, count, arguments, "cliff: what strings of one size cost in real");
    lab_print_head("rise of real");
    for (size_t i = 0; i < CLIFF_ROWS; i++) {
        run_php(&lab, &cliff_rows[i]);
        struct lab_reading zend = run_heap(LAB_ZEND, &cliff_rows[i]);
        struct lab_reading compact = run_heap(LAB_COMPACT, &cliff_rows[i]);
        print_reading(&lab, &cliff_rows[i], &zend, &compact);
        check_row(&lab, &cliff_rows[i], &zend, &compact);
    }
    return lab_end(&lab);
}
