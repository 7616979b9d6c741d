/*
 * steps: real moves in chunks while used moves with the data. See README.md.
 *
 * A packed array's table starts at 8 elements and doubles; up to 65,536 elements it lies
 * in a chunk, from 131,072 on it is a huge block of its own.
 */
#include "lab.h"

#include <stdio.h>

#include "lab_script.h"

enum { ROWS = 8, STEP_ELEMENTS = 20000, FIRST_CAPACITY = 8, NAME_BYTES = 64 };

/* The published run, every 20,000 elements. */
static const int64_t published_used[ROWS] = {
    1013792, 1538080, 1538080, 2598968, 2598968, 2598968, 4696120, 4696120};
static const int64_t published_real[ROWS] = {
    2097152, 2097152, 2097152, 4210688, 4210688, 4210688, 6307840, 6307840};

/* Capacity of the table which holds so many elements. */
static size_t capacity_for(size_t elements)
{
    size_t capacity = FIRST_CAPACITY;
    while (capacity < elements) {
        capacity *= 2;
    }
    return capacity;
}

static void run_heap(enum lab_column column, struct lab_reading readings[ROWS])
{
    struct strata_heap *heap = lab_heap_new(lab_layout(column));
    size_t capacity = FIRST_CAPACITY;
    lab_alloc(heap, LAB_ARRAY_BYTES);
    void *table = lab_alloc(heap, lab_table_bytes(capacity));
    for (size_t row = 0; row < ROWS; row++) {
        while (capacity < capacity_for((row + 1) * STEP_ELEMENTS)) {
            capacity *= 2;
            table = strata_realloc(heap, table, lab_table_bytes(capacity));
            if (table == NULL) {
                lab_die("the heap refused a larger table");
            }
        }
        readings[row] = lab_read(heap);
    }
    strata_heap_delete(heap);
}

static int64_t php_figure(const struct lab *lab, size_t row, const char *figure)
{
    char key[NAME_BYTES];
    snprintf(key, sizeof(key), "%zu.%s", (row + 1) * STEP_ELEMENTS, figure);
    return lab_php_figure(lab, key);
}

/* The published real with pages of 4 KiB: only a huge table differs. */
static int64_t published_real_here(size_t row)
{
    size_t table = lab_table_bytes(capacity_for((row + 1) * STEP_ELEMENTS));
    int64_t surplus = table > STRATA_LARGE_MAX_BYTES ? lab_page_surplus(table) : 0;
    return published_real[row] - surplus;
}

int main(int count, char **arguments)
{
    static struct lab lab;
    struct lab_reading zend[ROWS];
    struct lab_reading compact[ROWS];
    char label[NAME_BYTES];
    lab_begin(&lab, count, arguments, "steps: real moves in steps of 2 MiB");
    lab_run_php(&lab, lab_script, "-1", NULL);
    run_heap(LAB_ZEND, zend);
    run_heap(LAB_COMPACT, compact);
    lab_print_head("used, elements appended");
    for (size_t row = 0; row < ROWS; row++) {
        snprintf(label, sizeof(label), "%zu", (row + 1) * STEP_ELEMENTS);
        lab_print_row(
            label, &(struct lab_row){{published_used[row], php_figure(&lab, row, "used"),
                       zend[row].used, compact[row].used}});
    }
    lab_print_head("real, elements appended");
    for (size_t row = 0; row < ROWS; row++) {
        snprintf(label, sizeof(label), "%zu", (row + 1) * STEP_ELEMENTS);
        lab_print_row(
            label, &(struct lab_row){{published_real[row], php_figure(&lab, row, "real"),
                       zend[row].real, compact[row].real}});
        lab_expect_equal(&lab, label, zend[row].real, php_figure(&lab, row, "real"));
        lab_expect_equal(&lab, label, zend[row].real, published_real_here(row));
    }
    return lab_end(&lab);
}
