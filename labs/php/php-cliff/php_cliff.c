/*
 * php-cliff: what strings of one size cost in real, PHP's own figures and those read from
 * outside. See README.md.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lab_script.h"
#include "looked_on.h"
#include "published.h"

enum { NAME_BYTES = 64 };

static int64_t php_rise(const struct lab *lab, const char *figure)
{
    return lab_difference(
        lab_php_point(lab, "after", figure), lab_php_point(lab, "before", figure));
}

/* False when PHP is missing. */
static bool run_row(
    struct lab *lab, const struct cliff_row *row, struct outside outside[2])
{
    struct looked_on php;
    char argument[NAME_BYTES];
    snprintf(argument, sizeof(argument), "%zu,%zu,%d", row->strings, row->payload,
        row->warm ? 1 : 0);
    if (!looked_on_start(lab, &php, lab_script, "-1", argument)) {
        return false;
    }
    looked_on_read(lab, &php, "before", &outside[0]);
    looked_on_read(lab, &php, "after", &outside[1]);
    looked_on_end(lab, &php);
    return true;
}

static void print_row(
    struct lab *lab, const struct cliff_row *row, const struct outside outside[2])
{
    char label[NAME_BYTES];
    int64_t rise = outside[1].real - outside[0].real;
    snprintf(label, sizeof(label), "%zu x %zu", row->strings, row->payload);
    outside_print_row(
        label, &(struct outside_row){{row->published_real, php_rise(lab, "real"), rise}});
    printf("    %s; real / payload %.3f; %" PRId64 " chunks half empty beside a block\n",
        row->what, (double)rise / (double)(row->strings * row->payload),
        outside[1].half_chunks);
    lab_expect_equal(lab, row->what, rise, row->published_real);
    if (row->published_real == LAB_UNKNOWN) {
        return;
    }
    outside_print_row("    RSS of the same",
        &(struct outside_row){
            {row->payload == cliff_mebibyte ? cliff_mebibyte_rss : LAB_UNKNOWN,
                php_rise(lab, "rss"), outside[1].rss - outside[0].rss}});
}

int main(int count, char **arguments)
{
    static struct lab lab;
    struct outside outside[2];
    lab_begin(
        &lab, count, arguments, "php-cliff: one page more, from inside and outside");
    outside_print_head("rise of real");
    for (size_t i = 0; i < CLIFF_ROWS; i++) {
        if (!run_row(&lab, &cliff_rows[i], outside)) {
            break;
        }
        print_row(&lab, &cliff_rows[i], outside);
    }
    return lab_end(&lab);
}
