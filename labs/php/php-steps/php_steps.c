/*
 * php-steps: a growing array, PHP's own figures and those read from outside. See README.md.
 */
#include <stdio.h>

#include "lab_script.h"
#include "looked_on.h"
#include "published.h"

enum { NAME_BYTES = 64 };

/* The script names its points by the number of elements. */
static const char *name_row(size_t row, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES, "%zu", (row + 1) * STEPS_ELEMENTS);
    return name;
}

int main(int count, char **arguments)
{
    static struct lab lab;
    struct looked_on php;
    struct outside outside[STEPS_ROWS];
    char name[NAME_BYTES];
    lab_begin(
        &lab, count, arguments, "php-steps: steps of real, from inside and outside");
    if (!looked_on_start(&lab, &php, lab_script, "-1", NULL)) {
        return lab_end(&lab);
    }
    for (size_t row = 0; row < STEPS_ROWS; row++) {
        looked_on_read(&lab, &php, name_row(row, name), &outside[row]);
    }
    looked_on_end(&lab, &php);
    outside_print_head("used, elements appended");
    for (size_t row = 0; row < STEPS_ROWS; row++) {
        int64_t own = lab_php_point(&lab, name_row(row, name), "used");
        outside_print_row(
            name, &(struct outside_row){{steps_used[row], own, outside[row].used}});
    }
    outside_print_head("real, elements appended");
    for (size_t row = 0; row < STEPS_ROWS; row++) {
        int64_t own = lab_php_point(&lab, name_row(row, name), "real");
        outside_print_row(
            name, &(struct outside_row){{steps_real[row], own, outside[row].real}});
        lab_expect_equal(&lab, name, outside[row].real, steps_real_here(row));
    }
    return lab_end(&lab);
}
