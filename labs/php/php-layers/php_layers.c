/*
 * php-layers: used, real and RSS of one script, PHP's own and read from outside. See
 * README.md.
 */
#include <stdlib.h>

#include "lab_script.h"
#include "looked_on.h"
#include "published.h"

static void print_used(const struct lab *lab, const struct outside *outside)
{
    outside_print_head("used");
    for (size_t i = 0; i < LAYERS_POINTS; i++) {
        const struct layers_point *point = &layers_points[i];
        outside_print_row(
            point->label, &(struct outside_row){{point->published.used,
                              lab_php_point(lab, point->key, "used"), outside[i].used}});
    }
}

static void print_real(struct lab *lab, const struct outside *outside)
{
    outside_print_head("real");
    for (size_t i = 0; i < LAYERS_POINTS; i++) {
        const struct layers_point *point = &layers_points[i];
        outside_print_row(
            point->label, &(struct outside_row){{point->published.real,
                              lab_php_point(lab, point->key, "real"), outside[i].real}});
        lab_expect_equal(lab, point->label, outside[i].real, layers_real_here(i));
    }
    const char *last = layers_points[LAYERS_POINTS - 1].key;
    int64_t peak_real = outside[LAYERS_POINTS - 1].peak_real;
    outside_print_row("peak", &(struct outside_row){{layers_peak_real,
                                  lab_php_point(lab, last, "peak_real"), peak_real}});
    lab_expect_equal(lab, "peak of real", peak_real, layers_peak_real_here());
}

static void print_rss(struct lab *lab, const struct outside *outside)
{
    outside_print_head("rss");
    for (size_t i = 0; i < LAYERS_POINTS; i++) {
        const struct layers_point *point = &layers_points[i];
        outside_print_row(
            point->label, &(struct outside_row){{point->published.rss,
                              lab_php_point(lab, point->key, "rss"), outside[i].rss}});
        lab_expect_at_most(
            lab, "used, which real contains", outside[i].used, outside[i].real);
        lab_expect_at_most(
            lab, "real, which RSS contains here", outside[i].real, outside[i].rss);
    }
}

int main(int count, char **arguments)
{
    static struct lab lab;
    struct looked_on php;
    struct outside outside[LAYERS_POINTS];
    lab_begin(
        &lab, count, arguments, "php-layers: three numbers, from inside and outside");
    if (!looked_on_start(&lab, &php, lab_script, "-1", NULL)) {
        return lab_end(&lab);
    }
    for (size_t i = 0; i < LAYERS_POINTS; i++) {
        looked_on_read(&lab, &php, layers_points[i].key, &outside[i]);
    }
    looked_on_end(&lab, &php);
    print_used(&lab, outside);
    print_real(&lab, outside);
    print_rss(&lab, outside);
    return lab_end(&lab);
}
