/*
 * layers: one workload, three numbers for one process. See README.md.
 *
 * The heap gets what the script makes PHP ask for: an array is a struct of 56 bytes and a
 * table; range() of a million asks at once for the next power of two, 1,048,576 elements.
 */
#include "lab.h"

#include <stdio.h>

#include "lab_script.h"
#include "published.h"

struct array {
    void *header;
    void *table;
};

static struct array make_array(struct strata_heap *heap)
{
    struct array array = {.header = lab_alloc(heap, LAB_ARRAY_BYTES)};
    array.table = lab_alloc(heap, lab_table_bytes(LAYERS_TABLE_ELEMENTS));
    return array;
}

static void drop_array(struct strata_heap *heap, const struct array *array)
{
    strata_free(heap, array->table);
    strata_free(heap, array->header);
}

/* The script, as the heap sees it. */
static void run_heap(enum lab_column column, struct lab_reading readings[LAYERS_POINTS])
{
    struct strata_heap *heap = lab_heap_new(lab_layout(column));
    readings[0] = lab_read(heap);
    struct array rows = make_array(heap);
    readings[1] = lab_read(heap);
    struct array copy = make_array(heap);
    readings[2] = lab_read(heap);
    drop_array(heap, &copy);
    readings[3] = lab_read(heap);
    drop_array(heap, &rows);
    readings[4] = lab_read(heap);
    strata_heap_delete(heap);
}

static int64_t pick_used(const struct lab_reading *reading)
{
    return reading->used;
}

static int64_t pick_real(const struct lab_reading *reading)
{
    return reading->real;
}

static int64_t pick_rss(const struct lab_reading *reading)
{
    return reading->rss;
}

static void print_table(const struct lab *lab, const char *figure,
    int64_t (*pick)(const struct lab_reading *),
    struct lab_reading ours[LAB_COLUMNS][LAYERS_POINTS])
{
    lab_print_head(figure);
    for (size_t i = 0; i < LAYERS_POINTS; i++) {
        struct lab_row row = {{pick(&layers_points[i].published),
            lab_php_point(lab, layers_points[i].key, figure), pick(&ours[LAB_ZEND][i]),
            pick(&ours[LAB_COMPACT][i])}};
        lab_print_row(layers_points[i].label, &row);
    }
}

static void check_real(struct lab *lab, const struct lab_reading zend[LAYERS_POINTS])
{
    for (size_t i = 0; i < LAYERS_POINTS; i++) {
        lab_expect_equal(lab, layers_points[i].label, zend[i].real,
            lab_php_point(lab, layers_points[i].key, "real"));
        lab_expect_equal(lab, layers_points[i].label, zend[i].real, layers_real_here(i));
    }
    lab_expect_equal(lab, "peak of real", zend[LAYERS_POINTS - 1].peak_real,
        lab_php_point(lab, layers_points[LAYERS_POINTS - 1].key, "peak_real"));
    lab_expect_equal(
        lab, "peak of real", zend[LAYERS_POINTS - 1].peak_real, layers_peak_real_here());
}

int main(int count, char **arguments)
{
    static struct lab lab;
    struct lab_reading ours[LAB_COLUMNS][LAYERS_POINTS];
    lab_begin(&lab, count, arguments, "layers: three numbers for one process");
    lab_run_php(&lab, lab_script, "-1", NULL);
    run_heap(LAB_ZEND, ours[LAB_ZEND]);
    run_heap(LAB_COMPACT, ours[LAB_COMPACT]);
    print_table(&lab, "used", pick_used, ours);
    print_table(&lab, "real", pick_real, ours);
    print_table(&lab, "rss", pick_rss, ours);
    check_real(&lab, ours[LAB_ZEND]);
    lab_expect_at_most(&lab, "real of compact after all is freed",
        ours[LAB_COMPACT][LAYERS_POINTS - 1].real,
        ours[LAB_COMPACT][0].real + (int64_t)STRATA_CHUNK_BYTES);
    return lab_end(&lab);
}
