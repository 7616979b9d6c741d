/*
 * steps: real moves in chunks while used moves with the data. See README.md.
 *
 * A packed array's table starts at 8 elements and doubles; up to 65,536 elements it lies
 * in a chunk, from 131,072 on it is a huge block of its own.
 */
#include "lab.h"

#include <stdio.h>

#include "lab_script.h"
#include "published.h"

enum { FIRST_CAPACITY = 8, NAME_BYTES = 64 };

static void run_heap(enum lab_column column, struct lab_reading readings[STEPS_ROWS])
{
    struct strata_heap *heap = lab_heap_new(lab_layout(column));
    size_t capacity = FIRST_CAPACITY;
    lab_alloc(heap, LAB_ARRAY_BYTES);
    void *table = lab_alloc(heap, lab_table_bytes(capacity));
    for (size_t row = 0; row < STEPS_ROWS; row++) {
        while (capacity < steps_capacity((row + 1) * STEPS_ELEMENTS)) {
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

int main(int count, char **arguments)
{
    static struct lab lab;
    struct lab_reading zend[STEPS_ROWS];
    struct lab_reading compact[STEPS_ROWS];
    char label[NAME_BYTES];
    lab_begin(&lab, count, arguments, "steps: real moves in steps of 2 MiB");
    lab_run_php(&lab, lab_script, "-1", NULL);
    run_heap(LAB_ZEND, zend);
    run_heap(LAB_COMPACT, compact);
    lab_print_head("used, elements appended");
    for (size_t row = 0; row < STEPS_ROWS; row++) {
        snprintf(label, sizeof(label), "%zu", (row + 1) * STEPS_ELEMENTS);
        lab_print_row(
            label, &(struct lab_row){{steps_used[row], lab_php_point(&lab, label, "used"),
                       zend[row].used, compact[row].used}});
    }
    lab_print_head("real, elements appended");
    for (size_t row = 0; row < STEPS_ROWS; row++) {
        snprintf(label, sizeof(label), "%zu", (row + 1) * STEPS_ELEMENTS);
        lab_print_row(
            label, &(struct lab_row){{steps_real[row], lab_php_point(&lab, label, "real"),
                       zend[row].real, compact[row].real}});
        lab_expect_equal(&lab, label, zend[row].real, lab_php_point(&lab, label, "real"));
        lab_expect_equal(&lab, label, zend[row].real, steps_real_here(row));
    }
    return lab_end(&lab);
}
