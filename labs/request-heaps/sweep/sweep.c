/*
 * sweep: real against used over all sizes, and what fits below a limit. See README.md.
 *
 * Blocks are not written to: real counts what the heap has taken, written or not.
 */
#include "lab.h"

#include <stdio.h>

#include "lab_script.h"

enum {
    BLOCKS = 32,
    STEP_BYTES = 4096,
    LARGEST_BYTES = 8 << 20,
    LIMIT_BYTES = 64 << 20,
    MOST_FITTING = 100,
    MEBIBYTE = 1 << 20,
    THOUSAND = 1000,
};

/* The worst ratio in a range of sizes, in thousandths. */
struct worst {
    int64_t ratio;
    size_t bytes;
};

static const size_t bands[] = {
    STEP_BYTES, 65536, 524288, MEBIBYTE, 2 * MEBIBYTE, LARGEST_BYTES + STEP_BYTES};
enum { BANDS = sizeof(bands) / sizeof(bands[0]) - 1 };

static void *alloc_or_die(struct strata_heap *heap, size_t bytes)
{
    void *block = strata_alloc(heap, bytes);
    if (block == NULL) {
        lab_die("the heap refused a block");
    }
    return block;
}

/* Real / used of a fresh heap with nothing in it but blocks of this size. */
static int64_t ratio_of(enum lab_column column, size_t bytes)
{
    struct strata_heap_options options = {.struct_bytes = sizeof(options),
        .layout = lab_layout(column),
        .name = "lab sweep"};
    struct strata_heap *heap = strata_heap_new(&options);
    if (heap == NULL) {
        lab_die("no memory for a heap");
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        alloc_or_die(heap, bytes);
    }
    struct lab_reading reading = lab_read_heap(heap);
    strata_heap_delete(heap);
    return (reading.real * THOUSAND + reading.used - 1) / reading.used;
}

static struct worst worst_of(enum lab_column column, size_t from, size_t below)
{
    struct worst worst = {0};
    for (size_t bytes = from; bytes < below; bytes += STEP_BYTES) {
        int64_t ratio = ratio_of(column, bytes);
        if (ratio > worst.ratio) {
            worst = (struct worst){.ratio = ratio, .bytes = bytes};
        }
    }
    return worst;
}

/* Blocks of this size which a heap grants below the limit. */
static int64_t fitting(enum lab_column column, size_t bytes)
{
    struct strata_heap_options options = {.struct_bytes = sizeof(options),
        .layout = lab_layout(column),
        .limit_bytes = LIMIT_BYTES,
        .name = "lab sweep"};
    struct strata_heap *heap = lab_heap_with(&options);
    int64_t count = 0;
    while (count < MOST_FITTING && strata_alloc(heap, bytes) != NULL) {
        count++;
    }
    strata_heap_delete(heap);
    return count;
}

static void sweep(struct lab *lab)
{
    printf("\nworst real / used of %d blocks, sizes in steps of %d bytes\n", BLOCKS,
        STEP_BYTES);
    printf("%-24s %10s %12s %10s %12s\n", "sizes", "zend", "at", "compact", "at");
    for (size_t band = 0; band < BANDS; band++) {
        struct worst zend = worst_of(LAB_ZEND, bands[band], bands[band + 1]);
        struct worst compact = worst_of(LAB_COMPACT, bands[band], bands[band + 1]);
        printf("%8zu .. %-12zu %10.3f %12zu %10.3f %12zu\n", bands[band],
            bands[band + 1] - STEP_BYTES, (double)zend.ratio / THOUSAND, zend.bytes,
            (double)compact.ratio / THOUSAND, compact.bytes);
        lab_expect_at_most(lab, "compact, worst real / used in thousandths",
            compact.ratio, THOUSAND + THOUSAND / 10);
    }
}

int main(int count, char **arguments)
{
    static struct lab lab;
    lab_begin(&lab, count, arguments, "sweep: real against used over all sizes");
    sweep(&lab);
    lab_run_php(&lab, lab_script, "64M", "1048576");
    int64_t php = lab_php_figure(&lab, "fitted");
    int64_t zend = fitting(LAB_ZEND, lab_string_bytes(MEBIBYTE));
    int64_t compact = fitting(LAB_COMPACT, lab_string_bytes(MEBIBYTE));
    lab_print_head("below a limit of 64 MiB");
    lab_print_row("strings of 1 MiB which fit",
        &(struct lab_row){{LAB_UNKNOWN, php, zend, compact}});
    lab_expect_equal(&lab, "strings of 1 MiB which fit", zend, php);
    lab_expect_at_least(&lab, "compact, strings of 1 MiB which fit", compact, 62);
    return lab_end(&lab);
}
