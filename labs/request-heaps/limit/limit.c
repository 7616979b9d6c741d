/*
 * limit: a limit of 16 MB is on real, in chunks. See README.md.
 *
 * The rows are strings of 100 bytes (160 in the heap); the table of the array has 131,072
 * places and is a huge block when the limit is met.
 */
#include "lab.h"

#include <stdio.h>

#include "lab_script.h"
#include "published.h"

enum { FIRST_CAPACITY = 8, ROW_BYTES = 100 };

struct outcome {
    struct lab_reading last; /* before the refusal */
    int64_t asked;
    int64_t rows;
};

static void note_error(void *context, const struct strata_heap_error *error)
{
    int64_t *asked = context;
    *asked = (int64_t)error->asked_bytes;
}

/* Appends until the heap refuses something. */
static void fill(struct strata_heap *heap, struct outcome *outcome)
{
    size_t capacity = FIRST_CAPACITY;
    void *table = strata_alloc(heap, lab_table_bytes(capacity));
    for (;;) {
        if (strata_alloc(heap, lab_string_bytes(ROW_BYTES)) == NULL) {
            return;
        }
        if ((size_t)outcome->rows == capacity) {
            capacity *= 2;
            table = strata_realloc(heap, table, lab_table_bytes(capacity));
            if (table == NULL) {
                return;
            }
        }
        outcome->rows++;
        outcome->last = lab_read_heap(heap);
    }
}

static struct outcome run_heap(enum lab_column column)
{
    struct outcome outcome = {.asked = LAB_UNKNOWN};
    struct strata_heap_options options = {.struct_bytes = sizeof(options),
        .layout = lab_layout(column),
        .limit_bytes = LIMIT_BYTES,
        .name = "lab limit",
        .on_error = note_error,
        .on_error_context = &outcome.asked};
    struct strata_heap *heap = lab_heap_with(&options);
    lab_alloc(heap, LAB_ARRAY_BYTES);
    fill(heap, &outcome);
    strata_heap_delete(heap);
    return outcome;
}

/* What is left of the limit, by the figure which an application logs. */
static int64_t headroom(int64_t used)
{
    return lab_difference(LIMIT_BYTES, used);
}

/* By how much the next chunk would pass the limit. */
static int64_t excess(int64_t real)
{
    int64_t chunk = (int64_t)STRATA_CHUNK_BYTES;
    return lab_difference(real, LIMIT_BYTES - chunk);
}

int main(int count, char **arguments)
{
    static struct lab lab;
    lab_begin(&lab, count, arguments, "limit: 16 MB are refused with 2.6 MB to spare");
    lab_run_php(&lab, lab_script, "16M", NULL);
    int64_t php_used = lab_php_figure(&lab, "used");
    int64_t php_real = lab_php_figure(&lab, "real");
    struct outcome zend = run_heap(LAB_ZEND);
    struct outcome compact = run_heap(LAB_COMPACT);
    lab_print_head("last reading before the refusal");
    lab_print_row("rows", &(struct lab_row){{LAB_UNKNOWN, lab_php_figure(&lab, "count"),
                              zend.rows, compact.rows}});
    lab_print_row("used",
        &(struct lab_row){{limit_used, php_used, zend.last.used, compact.last.used}});
    lab_print_row("real",
        &(struct lab_row){{limit_real, php_real, zend.last.real, compact.last.real}});
    lab_print_row(
        "limit", &(struct lab_row){{LIMIT_BYTES, LIMIT_BYTES, LIMIT_BYTES, LIMIT_BYTES}});
    lab_print_row("headroom the app sees",
        &(struct lab_row){{headroom(limit_used), headroom(php_used),
            headroom(zend.last.used), headroom(compact.last.used)}});
    lab_print_row("real + a chunk - limit",
        &(struct lab_row){
            {excess(limit_real), excess(php_real), excess(zend.last.real), LAB_UNKNOWN}});
    lab_print_row("asked for when refused",
        &(struct lab_row){
            {limit_asked, lab_php_figure(&lab, "tried"), zend.asked, compact.asked}});
    lab_expect_equal(&lab, "real before the refusal", zend.last.real, php_real);
    lab_expect_equal(&lab, "real before the refusal", zend.last.real, limit_real_here());
    lab_expect_equal(&lab, "asked for when refused", zend.asked, limit_asked);
    lab_expect_at_least(&lab, "rows in the compact heap", compact.rows, zend.rows);
    return lab_end(&lab);
}
