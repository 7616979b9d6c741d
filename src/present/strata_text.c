/*
 * strata_text.c - small blocks, large blocks, huge blocks and free spans, which sum to held.
 *
 * All figures are the allocator's own; "touched" are pages that it may have made resident,
 * by its books. What is resident stands in the layers above. Tags are listed for one process,
 * the largest first.
 */
#include "present/strata_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/known.h"
#include "model/strata_total.h"
#include "present/heap_table.h"

enum {
    TEXT_BYTES = 512,
};

static const struct heap_table table = {
    5, {{"held", HEAP_TABLE_COLUMNS}, {"in use", HEAP_TABLE_COLUMNS},
           {"by CPUs", HEAP_TABLE_COLUMNS}, {"free", HEAP_TABLE_COLUMNS},
           {"touched", HEAP_TABLE_COLUMNS}}};

static void head(struct page *page)
{
    page_heading(
        page, page->style->exact_bytes ? "strata malloc, bytes" : "strata malloc, MiB");
    heap_table_titles(page, &table);
}

static void row(
    struct page *page, enum ink ink, const char *name, const struct strata_kind *kind)
{
    const bool exact = page->style->exact_bytes;
    const uint64_t cells[] = {kind->held_bytes, kind->in_use_bytes, kind->cached_bytes,
        kind->free_bytes, kind->touched_bytes};

    heap_table_name(page, ink, name);
    for (int i = 0; i < table.count; i++) {
        heap_table_cell(page, ink, &table, i, quantity_mib(cells[i], exact).text);
    }
    page_end_line(page);
}

static void note(struct page *page, const char *text)
{
    page_at(page, HEAP_TABLE_INDENT);
    page_paragraph(page, INK_DIM, text, HEAP_TABLE_INDENT);
}

static void class_row(
    struct page *page, const struct strata_class_facts *class, struct strata_kind *shared)
{
    const struct strata_kind kind = strata_class_kind(class, shared);
    char name[TEXT_BYTES];

    if (class->slabs > 0) {
        (void)snprintf(
            name, sizeof(name), "  %s", quantity_count(class->block_bytes, "byte").text);
        row(page, INK_DIM, name, &kind);
    }
}

/* Slabs by class, and the units that sparse classes share: they sum to small blocks. */
static void class_rows(struct page *page, const struct strata_facts *facts)
{
    struct strata_kind shared = {0};

    for (size_t i = 0; i < facts->class_count; i++) {
        class_row(page, &facts->classes[i], &shared);
    }
    if (facts->mixed_bytes > 0) {
        shared = strata_shared_kind(facts, &shared);
        row(page, INK_DIM, "  of all sizes", &shared);
    }
}

static void kind_rows(struct page *page, const struct strata_total *total,
    const struct strata_facts *single)
{
    row(page, INK_PLAIN, "small blocks", &total->small);
    if (single != NULL) {
        class_rows(page, single);
    }
    if (total->large.held_bytes > 0) {
        row(page, INK_PLAIN, "large blocks", &total->large);
    }
    if (total->huge_blocks > 0) {
        row(page, INK_PLAIN, quantity_count(total->huge_blocks, "huge block").text,
            &total->huge);
    }
    row(page, INK_PLAIN, "free spans", &total->spans);
    row(page, INK_STRONG, "total", &total->all);
}

static void rounding_note(struct page *page, const struct strata_total *total)
{
    const bool exact = page->style->exact_bytes;
    char text[TEXT_BYTES];

    (void)snprintf(text, sizeof(text),
        "lost to rounding: large blocks %s, ends of slabs %s, small blocks about %s "
        "(from %s); books beside held: %s",
        quantity_bytes(total->rounding_large_bytes, exact).text,
        quantity_bytes(total->slab_tail_bytes, exact).text,
        quantity_bytes(total->rounding_small_bytes, exact).text,
        quantity_count(total->sampled_requests, "sampled request").text,
        quantity_bytes(number_add(total->descriptor_bytes, total->table_bytes), exact)
            .text);
    note(page, text);
}

static void peak_note(struct page *page, const struct strata_facts *facts)
{
    const bool exact = page->style->exact_bytes;
    char text[TEXT_BYTES];

    (void)snprintf(text, sizeof(text),
        "peaks: %s in slabs and large blocks, %s in large and huge blocks; given back so "
        "far: %s",
        quantity_bytes(facts->peak_span_bytes, exact).text,
        quantity_bytes(facts->peak_large_bytes, exact).text,
        quantity_bytes(facts->purged_bytes, exact).text);
    note(page, text);
}

static void limit_note(struct page *page, const struct strata_facts *facts)
{
    const bool exact = page->style->exact_bytes;
    char text[TEXT_BYTES];

    if (facts->limit_hard_bytes == 0 && facts->limit_soft_bytes == 0) {
        return;
    }
    (void)snprintf(text, sizeof(text),
        "limit: hard %s, soft %s; charged %s, peak %s; %s refused, memory was given back "
        "for it %s",
        facts->limit_hard_bytes == 0
            ? "none"
            : quantity_bytes(facts->limit_hard_bytes, exact).text,
        facts->limit_soft_bytes == 0
            ? "none"
            : quantity_bytes(facts->limit_soft_bytes, exact).text,
        quantity_bytes(facts->limit_charged_bytes, exact).text,
        quantity_bytes(facts->limit_peak_bytes, exact).text,
        quantity_count(facts->limit_refused, "request").text,
        quantity_count(facts->limit_purges, "time").text);
    note(page, text);
}

static int by_used(const void *left, const void *right)
{
    const struct strata_record_facts *a =
        *(const struct strata_record_facts *const *)left;
    const struct strata_record_facts *b =
        *(const struct strata_record_facts *const *)right;

    if (a->used_bytes != b->used_bytes) {
        return a->used_bytes < b->used_bytes ? 1 : -1;
    }
    return (a > b) - (a < b);
}

static void record_row(struct page *page, const struct strata_facts *facts,
    const struct strata_record_facts *record)
{
    const bool exact = page->style->exact_bytes;

    heap_table_name(page, INK_PLAIN, record->tag);
    heap_table_cell(
        page, INK_PLAIN, &table, 0, quantity_mib(record->used_bytes, exact).text);
    heap_table_cell(
        page, INK_PLAIN, &table, 1, quantity_mib(record->peak_bytes, exact).text);
    page_put(page, INK_DIM, "  ");
    if (record->thread < facts->thread_count) {
        const struct strata_thread_facts *thread = &facts->threads[record->thread];
        page_printf(page, INK_DIM, "thread %" PRId32 "%s%s", thread->thread_id,
            thread->name != NULL ? " " : "", thread->name != NULL ? thread->name : "");
    }
    page_end_line(page);
}

static void tag_rows(struct page *page, const struct strata_facts *facts)
{
    const size_t count = facts->record_count;
    const struct strata_record_facts **sorted;

    if (count == 0) {
        return;
    }
    sorted = calloc(count, sizeof(const struct strata_record_facts *));
    if (sorted == NULL) {
        page->buffer->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &facts->records[i];
    }
    qsort(sorted, count, sizeof(const struct strata_record_facts *), by_used);
    page_at(page, HEAP_TABLE_INDENT);
    page_put(page, INK_STRONG, "by tag");
    heap_table_cell(page, INK_STRONG, &table, 0, "used");
    heap_table_cell(page, INK_STRONG, &table, 1, "peak");
    page_end_line(page);
    for (size_t i = 0; i < count; i++) {
        record_row(page, facts, sorted[i]);
    }
    free(sorted);
}

static void stale_note(struct page *page, const struct strata_total *total)
{
    char text[TEXT_BYTES];

    if (total->plus_minus_bytes > 0) {
        (void)snprintf(text, sizeof(text), "the heap moved while it was read: %s%s",
            page_plus_minus(page),
            quantity_bytes(total->plus_minus_bytes, page->style->exact_bytes).text);
        note(page, text);
    }
}

static void process_rows(struct page *page, const struct facts *facts)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        struct strata_total one = {0};
        char name[TEXT_BYTES];

        strata_total_add(&one, &facts->processes[i].strata);
        if (one.processes == 0) {
            continue;
        }
        (void)snprintf(name, sizeof(name), "pid %" PRId32, facts->processes[i].pid);
        row(page, INK_PLAIN, name, &one.all);
    }
}

void strata_text(struct page *page, const struct snapshot *snapshot)
{
    const struct facts *facts = snapshot->facts;
    const struct strata_facts *single = NULL;
    struct strata_total total = {0};

    for (size_t i = 0; i < facts->process_count; i++) {
        strata_total_add(&total, &facts->processes[i].strata);
        if (state_is_known(facts->processes[i].strata.state)) {
            single = &facts->processes[i].strata;
        }
    }
    if (total.processes == 0) {
        return;
    }
    single = total.processes == 1 ? single : NULL;
    head(page);
    if (single == NULL) {
        process_rows(page, facts);
    }
    kind_rows(page, &total, single);
    rounding_note(page, &total);
    if (single != NULL) {
        peak_note(page, single);
        limit_note(page, single);
        tag_rows(page, single);
    }
    stale_note(page, &total);
}
