/*
 * chunks-return: how a worker gives memory back after one heavy request. See README.md.
 *
 * PHP's side is its built-in web server: one process which serves request after request.
 * What real is between two requests is read at the start of the next one.
 */
#include "lab.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "lab_script.h"
#include "php_server.h"
#include "published.h"

enum {
    ARRAYS = 478000, /* as in the script */
    OUTER_CAPACITY = 1 << 19,
    FIRST_CAPACITY = 8,
    HUGE_CAPACITY = 1 << 23,
    AFTER = 7, /* readings after the heavy request: its own end and six trivial ones */
    ROWS = 1 + AFTER,
    ANSWER_BYTES = 4096,
    NAME_BYTES = 64,
};

struct scenario {
    const char *query; /* of the heavy request */
    const char *title;
    bool published; /* as a staircase */
};

static const struct scenario scenarios[] = {
    {"small", "478,000 arrays [$i], alive at the end: a staircase", true},
    {"freed", "the same, freed before the end: a staircase", false},
    {"collected", "the same, freed and gc_mem_caches(): one step", false},
    {"huge", "one array of 6,000,000: one step", false},
};
enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

static bool is(const struct scenario *scenario, const char *query)
{
    return strcmp(scenario->query, query) == 0;
}

/* What the script asks for in a heavy request. */
static int64_t heavy_request(struct strata_heap *heap, const struct scenario *scenario)
{
    if (is(scenario, "huge")) {
        lab_alloc(heap, LAB_ARRAY_BYTES);
        lab_alloc(heap, lab_table_bytes(HUGE_CAPACITY));
        return lab_read_heap(heap).real;
    }
    void **blocks = calloc(2 * (size_t)ARRAYS, sizeof(*blocks));
    if (blocks == NULL) {
        lab_die("no memory for the list of blocks");
    }
    void *header = lab_alloc(heap, LAB_ARRAY_BYTES);
    void *outer = lab_alloc(heap, lab_table_bytes(OUTER_CAPACITY));
    for (size_t i = 0; i < ARRAYS; i++) {
        blocks[2 * i + 1] = lab_alloc(heap, LAB_ARRAY_BYTES);
        blocks[2 * i] = lab_alloc(heap, lab_table_bytes(FIRST_CAPACITY));
    }
    int64_t inside = lab_read_heap(heap).real;
    if (!is(scenario, "small")) {
        for (size_t i = 0; i < 2 * (size_t)ARRAYS; i++) {
            strata_free(heap, blocks[i]);
        }
        strata_free(heap, outer);
        strata_free(heap, header);
    }
    if (is(scenario, "collected")) {
        strata_heap_trim(heap);
    }
    free(blocks);
    return inside;
}

static void run_heap(
    enum lab_column column, const struct scenario *scenario, struct lab_row rows[ROWS])
{
    struct strata_heap *heap = lab_heap_new(lab_layout(column));
    rows[0].figure[column] = heavy_request(heap, scenario);
    for (size_t i = 1; i < ROWS; i++) {
        strata_heap_end_request(heap);
        rows[i].figure[column] = lab_read_heap(heap).real;
        lab_alloc(heap, LAB_ARRAY_BYTES); /* a trivial request */
    }
    strata_heap_delete(heap);
}

static int64_t get_figure(
    struct lab *lab, const struct php_server *server, const char *query, const char *key)
{
    char answer[ANSWER_BYTES];
    int error = php_server_get(server, query, answer, sizeof(answer));
    const char *body = strstr(answer, "\r\n\r\n");
    if (error != 0 || body == NULL) {
        lab_die("no answer from PHP's web server");
    }
    snprintf(lab->php_text, sizeof(lab->php_text), "%s", body + 4);
    return lab_php_figure(lab, key);
}

static void run_php(
    struct lab *lab, const struct scenario *scenario, struct lab_row rows[ROWS])
{
    struct php_server server;
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].figure[LAB_PHP] = LAB_UNKNOWN;
    }
    int error = lab->php_missing
                    ? -ENOENT
                    : php_server_init(&server, lab_php_program(), lab_script);
    if (error == -ENOENT) {
        lab_note_php_missing(lab);
        return;
    }
    if (error != 0) {
        lab_die(strerror(-error));
    }
    rows[0].figure[LAB_PHP] = get_figure(lab, &server, scenario->query, "inside");
    for (size_t i = 1; i < ROWS; i++) {
        rows[i].figure[LAB_PHP] = get_figure(lab, &server, "trivial", "start");
    }
    php_server_release(&server);
}

/* The published figures have chunks only; the array of rows itself is a huge block. */
static int64_t published_real(const struct scenario *scenario, size_t row)
{
    if (!scenario->published || row >= STAIRCASE_ROWS) {
        return LAB_UNKNOWN;
    }
    return staircase_chunks(row) * (int64_t)STRATA_CHUNK_BYTES;
}

static void run_scenario(struct lab *lab, const struct scenario *scenario)
{
    struct lab_row rows[ROWS];
    char label[NAME_BYTES];
    run_php(lab, scenario, rows);
    run_heap(LAB_ZEND, scenario, rows);
    run_heap(LAB_COMPACT, scenario, rows);
    printf("\n%s\n", scenario->title);
    lab_print_head("real");
    for (size_t i = 0; i < ROWS; i++) {
        rows[i].figure[LAB_PUBLISHED] = published_real(scenario, i);
        snprintf(label, sizeof(label),
            i == 0   ? "inside the heavy request"
            : i == 1 ? "after it"
                     : "after trivial request %zu",
            i - 1);
        lab_print_row(label, &rows[i]);
        lab_expect_equal(lab, label, rows[i].figure[LAB_ZEND], rows[i].figure[LAB_PHP]);
        if (i > 0) {
            lab_expect_equal(
                lab, label, rows[i].figure[LAB_ZEND], rows[i].figure[LAB_PUBLISHED]);
        }
    }
}

int main(int count, char **arguments)
{
    static struct lab lab;
    lab_begin(&lab, count, arguments,
        "chunks-return: how a worker gives memory back after a heavy request");
    for (size_t i = 0; i < SCENARIOS; i++) {
        run_scenario(&lab, &scenarios[i]);
    }
    return lab_end(&lab);
}
