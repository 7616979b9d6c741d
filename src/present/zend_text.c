/*
 * zend_text.c - the numbers of memory_get_usage() and its relatives, heap by heap.
 *
 * Largest real first. Below the table, real is divided: what is in use, what is free and
 * in which way. That division needs the page map; a heap that moved too fast has none and
 * says so.
 */
#include "present/zend_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/host_group.h"
#include "model/known.h"
#include "present/heap_table.h"

enum {
    TEXT_BYTES = 1024,
    PAGE_BYTES = 4096,
    SHOWN_POOLS = 3, /* on one screen */
};

/* A heap and whose it is. */
struct heap_row {
    const struct process_facts *process;
    const struct zend_heap_facts *heap;
};

static const struct heap_table table = {
    5, {{"used", HEAP_TABLE_COLUMNS}, {"real", HEAP_TABLE_COLUMNS},
           {"peak real", HEAP_TABLE_COLUMNS}, {"limit", HEAP_TABLE_COLUMNS},
           {"chunks", HEAP_TABLE_COLUMNS}}};

static void head(struct page *page, const char *version)
{
    page_heading(page, "PHP");
    if (version != NULL) {
        page_printf(page, INK_STRONG, " %s", version);
    }
    page_put(page, INK_STRONG, page->style->exact_bytes ? ", bytes" : ", MiB");
    heap_table_titles(page, &table);
}

static void note(struct page *page, const char *text)
{
    page_at(page, HEAP_TABLE_INDENT * 2);
    page_paragraph(page, INK_DIM, text, HEAP_TABLE_INDENT * 2);
}

static void heap_row(struct page *page, const struct heap_row *row)
{
    const struct zend_heap_facts *heap = row->heap;
    const bool exact = page->style->exact_bytes;
    const bool known = state_is_known(heap->state);
    char text[TEXT_BYTES];

    (void)snprintf(text, sizeof(text), "%s %" PRId32,
        process_is_pool_master(row->process) ? "master" : "pid", row->process->pid);
    heap_table_name(page, INK_PLAIN, text);
    heap_table_cell(page, INK_PLAIN, &table, 0,
        known ? quantity_mib(heap->used_bytes, exact).text : "-");
    heap_table_cell(page, INK_PLAIN, &table, 1,
        known ? quantity_mib(heap->real_bytes, exact).text : "-");
    heap_table_cell(page, INK_PLAIN, &table, 2,
        known ? quantity_mib(heap->peak_real_bytes, exact).text : "-");
    heap_table_cell(page, INK_PLAIN, &table, 3,
        heap->limit_bytes.state == FACT_OK
            ? quantity_mib(heap->limit_bytes.value, exact).text
            : "none");
    (void)snprintf(
        text, sizeof(text), "%" PRIu64 "+%" PRIu64, heap->chunks, heap->cached_chunks);
    heap_table_cell(page, INK_PLAIN, &table, 4, known ? text : "-");
    page_end_line(page);
    if (heap->why != NULL) {
        note(page, heap->why);
    }
}

static int by_real(const void *left, const void *right)
{
    const struct heap_row *a = left;
    const struct heap_row *b = right;

    if (a->heap->real_bytes != b->heap->real_bytes) {
        return a->heap->real_bytes < b->heap->real_bytes ? 1 : -1;
    }
    return (a->process->pid > b->process->pid) - (a->process->pid < b->process->pid);
}

/* Sums of the heaps whose page map is known. */
static struct zend_heap_facts sum_of(const struct heap_row *rows, size_t count)
{
    struct zend_heap_facts sum = {.state = FACT_ABSENT};

    for (size_t i = 0; i < count; i++) {
        const struct zend_heap_facts *heap = rows[i].heap;
        if (heap->state != FACT_OK) {
            continue;
        }
        sum.state = FACT_OK;
        sum.real_bytes = number_add(sum.real_bytes, heap->real_bytes);
        sum.small_live_bytes = number_add(sum.small_live_bytes,
            heap->small_live_bytes + heap->large_pages * PAGE_BYTES);
        sum.small_free_bytes = number_add(sum.small_free_bytes, heap->small_free_bytes);
        sum.free_pages += heap->free_pages;
        sum.run_tail_bytes = number_add(
            sum.run_tail_bytes, heap->run_tail_bytes + heap->chunks * PAGE_BYTES);
        sum.huge_bytes = number_add(sum.huge_bytes, heap->huge_bytes);
        sum.free_resident_bytes =
            number_add(sum.free_resident_bytes, heap->free_resident_bytes);
        sum.cached_resident_bytes =
            number_add(sum.cached_resident_bytes, heap->cached_resident_bytes);
    }
    return sum;
}

static void division_note(struct page *page, const struct heap_row *rows, size_t count)
{
    const struct zend_heap_facts sum = sum_of(rows, count);
    const bool exact = page->style->exact_bytes;
    const uint64_t free_bytes = sum.free_pages * PAGE_BYTES;
    const uint64_t others = number_add(sum.small_live_bytes + sum.small_free_bytes,
        free_bytes + sum.run_tail_bytes + sum.huge_bytes);
    char text[TEXT_BYTES];

    if (sum.state != FACT_OK) {
        return;
    }
    (void)snprintf(text, sizeof(text),
        "real is: blocks in use %s, huge blocks %s, free small blocks %s, free pages %s "
        "(%s resident), chunks kept for later %s (%s resident), headers and ends of runs "
        "%s",
        quantity_bytes(sum.small_live_bytes, exact).text,
        quantity_bytes(sum.huge_bytes, exact).text,
        quantity_bytes(sum.small_free_bytes, exact).text,
        quantity_bytes(free_bytes, exact).text,
        quantity_bytes(sum.free_resident_bytes, exact).text,
        quantity_bytes(number_subtract(sum.real_bytes, others), exact).text,
        quantity_bytes(sum.cached_resident_bytes, exact).text,
        quantity_bytes(sum.run_tail_bytes, exact).text);
    page_at(page, HEAP_TABLE_INDENT);
    page_paragraph(page, INK_DIM, text, HEAP_TABLE_INDENT);
}

static void put_number(
    struct page *page, const char *title, const struct fact *fact, const char *if_absent)
{
    char text[TEXT_BYTES];

    if (fact->state == FACT_OK) {
        (void)snprintf(text, sizeof(text), "%s %" PRIu64, title, fact->value);
    } else {
        (void)snprintf(text, sizeof(text), "%s %s", title, if_absent);
    }
    page_item(page, INK_DIM, text, HEAP_TABLE_INDENT + 2);
}

static void pool_line(struct page *page, const struct fpm_pool_facts *pool)
{
    page_at(page, HEAP_TABLE_INDENT);
    page_put(page, INK_PLAIN, "pool ");
    page_put(page, INK_PLAIN, pool->name);
    page_printf(
        page, INK_DIM, "%spm %s", page_separator(page), fpm_manager_names[pool->manager]);
    put_number(page, "max_children", &pool->max_children, "not set");
    if (pool->status_state == FACT_OK) {
        put_number(page, "active", &pool->active, "unknown");
        put_number(page, "idle", &pool->idle, "unknown");
        put_number(page, "limit met", &pool->max_children_reached, "unknown");
    }
    page_end_line(page);
    if (pool->status_state == FACT_OK && pool->status_listen == NULL) {
        note(page, "status page: a worker answered, a request more for it; with "
                   "pm.status_listen none would, with --no-ask nobody is asked");
    }
    if (pool->status_state != FACT_OK && pool->status_why != NULL) {
        char text[TEXT_BYTES];
        (void)snprintf(text, sizeof(text), "status page: %s", pool->status_why);
        note(page, text);
    }
}

static size_t count_heaps(const struct facts *facts)
{
    size_t count = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        count += facts->processes[i].zend.heap_count;
    }
    return count;
}

static const char *version_of(const struct facts *facts)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        if (facts->processes[i].zend.version != NULL) {
            return facts->processes[i].zend.version;
        }
    }
    return NULL;
}

static size_t collect_rows(const struct facts *facts, struct heap_row *rows)
{
    size_t count = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        for (size_t j = 0; j < process->zend.heap_count; j++) {
            rows[count++] = (struct heap_row){process, &process->zend.heaps[j]};
        }
    }
    qsort(rows, count, sizeof(*rows), by_real);
    return count;
}

static void heap_rows(struct page *page, const struct facts *facts, size_t heaps)
{
    struct heap_row *rows = calloc(heaps, sizeof(*rows));

    if (rows == NULL) {
        page->buffer->failed = true;
        return;
    }
    (void)collect_rows(facts, rows);
    for (size_t i = 0; i < heaps; i++) {
        heap_row(page, &rows[i]);
    }
    division_note(page, rows, heaps);
    free(rows);
}

bool zend_text_has(const struct facts *facts)
{
    return count_heaps(facts) > 0;
}

void pool_lines(struct page *page, const struct facts *facts)
{
    const size_t count = facts->fpm_pool_count;
    /* One more takes no more room than the line that would count it. */
    const size_t shown =
        page->style->unfolded || count <= SHOWN_POOLS + 1 ? count : SHOWN_POOLS;

    for (size_t i = 0; i < shown; i++) {
        pool_line(page, &facts->fpm_pools[i]);
    }
    if (shown < count) {
        page_at(page, HEAP_TABLE_INDENT);
        page_printf(page, INK_DIM, "and %zu more pools: --all", count - shown);
        page_end_line(page);
    }
}

void zend_text(struct page *page, const struct facts *facts)
{
    const size_t heaps = count_heaps(facts);

    if (heaps > 0) {
        head(page, version_of(facts));
        heap_rows(page, facts, heaps);
    }
    pool_lines(page, facts);
}
