/*
 * survivors: small blocks are freed, what goes back? See README.md.
 *
 * [$i] is a struct of 56 bytes and a table of 136 (160 in the heap); ['id' => $i] has a
 * hash table of 320 bytes instead: 8 buckets of 32 and 16 places of 4 (Zend/zend_hash.h,
 * HT_SIZE_EX, PHP 8.2). The outer array's table doubles meanwhile.
 */
#include "lab.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_script.h"

enum {
    FREED_ARRAYS = 1000000,
    KEPT_ARRAYS = 500000,
    KEEP_EVERY = 4000,
    FIRST_CAPACITY = 8,
    HASH_TABLE_BYTES = 320,
    POINTS = 4,
    NAME_BYTES = 64,
};

static const char *const keys[POINTS] = {"start", "full", "freed", "gc"};

/* Not published: PHP 8.2.36, `php -n`, noted before. */
static const int64_t noted_real[2][POINTS] = {
    {2097152, 239079424, 222298112, 4194304},
    {2097152, 199233536, 190840832, 190840832},
};

struct pair {
    void *header;
    void *table;
};

/* What is made, and what is kept of it. */
struct plan {
    size_t count;
    size_t keep_every; /* 0: nothing */
    size_t table_bytes;
};

struct outcome {
    struct lab_reading reading[POINTS];
    int64_t survivor_pages;
};

/* Fills pairs; returns the outer array's table. */
static void *make_arrays(
    struct strata_heap *heap, const struct plan *plan, struct pair *pairs)
{
    size_t capacity = FIRST_CAPACITY;
    void *outer = lab_alloc(heap, lab_table_bytes(capacity));
    for (size_t i = 0; i < plan->count; i++) {
        pairs[i].header = lab_alloc(heap, LAB_ARRAY_BYTES);
        pairs[i].table = lab_alloc(heap, plan->table_bytes);
        if (i == capacity) {
            capacity *= 2;
            outer = strata_realloc(heap, outer, lab_table_bytes(capacity));
            if (outer == NULL) {
                lab_die("the heap refused a larger table");
            }
        }
    }
    return outer;
}

static bool is_kept(const struct plan *plan, size_t index)
{
    return plan->keep_every > 0 && index % plan->keep_every == 0;
}

/* As the outer array is destroyed: first to last, each table before its struct. */
static void drop_arrays(
    struct strata_heap *heap, const struct plan *plan, const struct pair *pairs)
{
    for (size_t i = 0; i < plan->count; i++) {
        if (!is_kept(plan, i)) {
            strata_free(heap, pairs[i].table);
            strata_free(heap, pairs[i].header);
        }
    }
}

static int compare_pages(const void *a, const void *b)
{
    uintptr_t left = *(const uintptr_t *)a;
    uintptr_t right = *(const uintptr_t *)b;
    return (left > right) - (left < right);
}

/* Distinct pages below the blocks which are kept. */
static int64_t count_pages(const struct plan *plan, const struct pair *pairs)
{
    static uintptr_t pages[3 * (KEPT_ARRAYS / KEEP_EVERY + 1)];
    size_t found = 0;
    for (size_t i = 0; i < plan->count; i++) {
        if (is_kept(plan, i)) {
            uintptr_t table = (uintptr_t)pairs[i].table;
            pages[found++] = (uintptr_t)pairs[i].header / STRATA_PAGE_BYTES;
            pages[found++] = table / STRATA_PAGE_BYTES;
            pages[found++] = (table + plan->table_bytes - 1) / STRATA_PAGE_BYTES;
        }
    }
    qsort(pages, found, sizeof(pages[0]), compare_pages);
    int64_t distinct = 0;
    for (size_t i = 0; i < found; i++) {
        distinct += i == 0 || pages[i] != pages[i - 1] ? 1 : 0;
    }
    return distinct;
}

static void run_heap(
    enum lab_column column, const struct plan *plan, struct outcome *outcome)
{
    struct strata_heap *heap = lab_heap_new(lab_layout(column));
    struct pair *pairs = malloc(plan->count * sizeof(*pairs));
    if (pairs == NULL) {
        lab_die("no memory for the list of blocks");
    }
    /* Its pages are there from the start, so that RSS moves with the heap only. */
    memset(pairs, 1, plan->count * sizeof(*pairs));
    outcome->reading[0] = lab_read(heap);
    void *header = lab_alloc(heap, LAB_ARRAY_BYTES);
    void *outer = make_arrays(heap, plan, pairs);
    outcome->reading[1] = lab_read(heap);
    drop_arrays(heap, plan, pairs);
    strata_free(heap, outer);
    strata_free(heap, header);
    outcome->reading[2] = lab_read(heap);
    strata_heap_trim(heap);
    outcome->reading[3] = lab_read(heap);
    outcome->survivor_pages = count_pages(plan, pairs);
    free(pairs);
    strata_heap_delete(heap);
}

static void run_php(struct lab *lab, const struct plan *plan)
{
    char argument[NAME_BYTES];
    snprintf(argument, sizeof(argument), "%zu,%zu", plan->count, plan->keep_every);
    lab_run_php(lab, lab_script, "-1", argument);
}

static int64_t php_figure(const struct lab *lab, size_t point, const char *figure)
{
    char key[NAME_BYTES];
    snprintf(key, sizeof(key), "%s.%s", keys[point], figure);
    return lab_php_figure(lab, key);
}

static void print_outcomes(const struct lab *lab, const int64_t *published,
    const struct outcome *zend, const struct outcome *compact)
{
    static const char *const labels[POINTS] = {
        "start", "all alive", "freed, no call", "after gc / trim"};
    lab_print_head("real");
    for (size_t i = 0; i < POINTS; i++) {
        lab_print_row(
            labels[i], &(struct lab_row){{published[i], php_figure(lab, i, "real"),
                           zend->reading[i].real, compact->reading[i].real}});
    }
    lab_print_head("rss");
    for (size_t i = 0; i < POINTS; i++) {
        lab_print_row(
            labels[i], &(struct lab_row){{LAB_UNKNOWN, php_figure(lab, i, "rss"),
                           zend->reading[i].rss, compact->reading[i].rss}});
    }
}

static void check_zend(struct lab *lab, const struct outcome *zend)
{
    for (size_t i = 0; i < POINTS; i++) {
        lab_expect_equal(lab, keys[i], zend->reading[i].real, php_figure(lab, i, "real"));
    }
}

static void freed_part(struct lab *lab)
{
    struct plan plan = {
        .count = FREED_ARRAYS, .table_bytes = lab_table_bytes(FIRST_CAPACITY)};
    struct outcome zend;
    struct outcome compact;
    run_php(lab, &plan);
    run_heap(LAB_ZEND, &plan, &zend);
    run_heap(LAB_COMPACT, &plan, &compact);
    printf("\n1,000,000 arrays [$i], all freed\n");
    print_outcomes(lab, noted_real[0], &zend, &compact);
    check_zend(lab, &zend);
    lab_expect_at_most(lab, "compact, real after all is freed", compact.reading[2].real,
        compact.reading[0].real + (int64_t)STRATA_CHUNK_BYTES);
}

static void kept_part(struct lab *lab)
{
    struct plan plan = {
        .count = KEPT_ARRAYS, .keep_every = KEEP_EVERY, .table_bytes = HASH_TABLE_BYTES};
    struct outcome zend;
    struct outcome compact;
    run_php(lab, &plan);
    run_heap(LAB_ZEND, &plan, &zend);
    run_heap(LAB_COMPACT, &plan, &compact);
    printf("\n500,000 arrays ['id' => $i], all freed but one in 4,000\n");
    print_outcomes(lab, noted_real[1], &zend, &compact);
    int64_t held = compact.survivor_pages * (int64_t)STRATA_PAGE_BYTES;
    lab_print_row("bytes in pages with survivors",
        &(struct lab_row){{LAB_UNKNOWN, LAB_UNKNOWN,
            zend.survivor_pages * (int64_t)STRATA_PAGE_BYTES, held}});
    check_zend(lab, &zend);
    lab_expect_at_most(lab, "compact, rise of real, survivors only",
        compact.reading[3].real - compact.reading[0].real, held + held * 3 / 10);
    lab_expect_at_most(lab, "compact, rise of RSS, survivors only",
        compact.reading[3].rss - compact.reading[0].rss, held + held * 3 / 10);
}

int main(int count, char **arguments)
{
    static struct lab lab;
    lab_begin(
        &lab, count, arguments, "survivors: small blocks are freed, what goes back?");
    freed_part(&lab);
    kept_part(&lab);
    return lab_end(&lab);
}
