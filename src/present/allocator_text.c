/*
 * allocator_text.c - what glibc malloc holds, arena by arena.
 *
 * The main arena comes first, the others are sorted by what they hold. Numbers that pagemap
 * would give are "-" when it could not be read.
 */
#include "present/allocator_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "model/glibc_total.h"
#include "base/quantity.h"
#include "present/heap_table.h"

enum {
    TITLE_BYTES = 96,
};

/* The last four add up to free. */
static const struct heap_table table = {
    7, {{"held", 8}, {"in use", 8}, {"free", 8}, {"trim gives", 11}, {"trim keeps", 11},
           {"shared", 8}, {"no RAM", 8}}};

static void head(struct page *page, const char *first)
{
    page_heading(page, first);
    heap_table_titles(page, &table);
}

static void cell(struct page *page, enum ink ink, int number, bool known, uint64_t bytes)
{
    heap_table_cell(page, ink, &table, number,
        known ? quantity_mib(bytes, page->style->exact_bytes).text : "-");
}

/* As the ladder has it and a reader subtracts; what is smaller than is shown stays so. */
static uint64_t shown_free(const struct page *page, const struct glibc_total *total)
{
    const int64_t gap = quantity_gap((int64_t)total->in_use_bytes,
        (int64_t)total->held_bytes, page->style->exact_bytes);
    const bool adds_up =
        total->held_bytes == number_add(total->in_use_bytes, total->free_bytes);

    return adds_up && gap > 0 ? (uint64_t)gap : total->free_bytes;
}

static void row(
    struct page *page, enum ink ink, const char *name, const struct glibc_total *total)
{
    const bool read = total->arenas_unread < total->arenas || total->mmapped_blocks > 0;
    const bool seen = total->arenas_unseen < total->arenas;
    const bool shared = seen && total->arenas_unshared < total->arenas;
    const uint64_t resident = total->free_resident_bytes;

    heap_table_name(page, ink, name);
    cell(page, ink, 0, read, total->held_bytes);
    cell(page, ink, 1, read, total->in_use_bytes);
    cell(page, ink, 2, read, shown_free(page, total));
    cell(page, ink, 3, seen, total->trim_gain_bytes);
    cell(page, ink, 4, seen, number_subtract(resident, total->trim_gain_bytes));
    cell(page, ink, 5, shared, total->free_shared_bytes);
    cell(page, ink, 6, shared,
        number_subtract(
            total->free_bytes, number_add(resident, total->free_shared_bytes)));
    page_end_line(page);
}

static void note(struct page *page, const char *text)
{
    page_at(page, HEAP_TABLE_INDENT);
    page_paragraph(page, INK_DIM, text, HEAP_TABLE_INDENT);
}

/* An arena alone, as a total of one. */
static struct glibc_total total_of_arena(const struct glibc_arena *arena)
{
    struct glibc_arena copy = *arena;
    struct glibc_facts one = {.arenas = &copy, .arena_count = 1};
    struct glibc_total total = {0};

    glibc_total_add(&total, &one);
    return total;
}

/* The main arena first, then by what they hold. */
static int by_held(const void *left, const void *right)
{
    const struct glibc_arena *a = *(const struct glibc_arena *const *)left;
    const struct glibc_arena *b = *(const struct glibc_arena *const *)right;

    if (a->main != b->main) {
        return a->main ? -1 : 1;
    }
    if (a->held_bytes != b->held_bytes) {
        return a->held_bytes < b->held_bytes ? 1 : -1;
    }
    return a->address < b->address ? -1 : a->address > b->address;
}

static void arena_row(struct page *page, const struct glibc_arena *arena)
{
    struct glibc_total total = total_of_arena(arena);
    char name[TITLE_BYTES];

    if (arena->main) {
        (void)snprintf(name, sizeof(name), "main arena");
    } else {
        (void)snprintf(name, sizeof(name), "0x%" PRIx64, arena->address);
    }
    row(page, INK_PLAIN, name, &total);
    if (total.arenas_unread > 0) {
        page_at(page, HEAP_TABLE_INDENT * 2);
        page_paragraph(page, INK_DIM,
            arena->why != NULL ? arena->why : fact_state_names[arena->state],
            HEAP_TABLE_INDENT * 2);
    }
}

static void arena_rows(struct page *page, const struct glibc_facts *glibc)
{
    size_t count = glibc->arena_count;
    const struct glibc_arena **sorted = calloc(count + 1, sizeof(struct glibc_arena *));

    if (sorted == NULL) {
        page->buffer->failed = true;
        return;
    }
    for (size_t i = 0; i < count; i++) {
        sorted[i] = &glibc->arenas[i];
    }
    qsort(sorted, count, sizeof(struct glibc_arena *), by_held);
    for (size_t i = 0; i < count; i++) {
        arena_row(page, sorted[i]);
    }
    free(sorted);
}

static void mmapped_row(struct page *page, const struct glibc_facts *glibc)
{
    struct glibc_facts alone = {.parameters = glibc->parameters};
    struct glibc_total total = {0};

    glibc_total_add(&total, &alone);
    if (total.mmapped_blocks > 0) {
        row(page, INK_PLAIN, quantity_count(total.mmapped_blocks, "mapped block").text,
            &total);
    }
}

/* What the words of the last columns mean; only where there is something in them. */
static void free_note(struct page *page, const struct glibc_total *total)
{
    if (total->arenas_unshared < total->arenas && total->free_bytes > 0) {
        note(page,
            "shared: free on pages of blocks in use; no RAM: free and not resident");
    }
}

static void process_table(struct page *page, const struct glibc_facts *glibc)
{
    struct glibc_total total = {0};

    glibc_total_add(&total, glibc);
    arena_rows(page, glibc);
    mmapped_row(page, glibc);
    if (total.arenas > 1 || total.mmapped_blocks > 0) {
        row(page, INK_STRONG, "total", &total);
    }
    free_note(page, &total);
}

static bool was_read(const struct process_facts *process)
{
    return process->glibc.arena_count > 0;
}

static void cache_note(struct page *page, const struct glibc_facts *glibc)
{
    const struct fact *bytes = &glibc->tcache_bytes;
    char text[TITLE_BYTES * 2];

    if ((bytes->state == FACT_OK || bytes->state == FACT_STALE) && bytes->value > 0) {
        (void)snprintf(text, sizeof(text),
            "of the bytes in use, %s wait in the caches of %s",
            quantity_bytes(bytes->value, page->style->exact_bytes).text,
            quantity_count(glibc->tcaches.value, "thread").text);
        note(page, text);
    }
}

/* Whether the cap that would be proposed is already set is worth a line. */
static void settings_note(struct page *page, const struct process_facts *process)
{
    for (size_t i = 0; i < process->environment_count; i++) {
        const struct environment_facts *setting = &process->environment[i];
        page_at(page, HEAP_TABLE_INDENT);
        page_printf(page, INK_DIM, "set in its environment: %s=", setting->name);
        page_fit(page, INK_DIM, setting->value, page->width - page->column);
        page_end_line(page);
    }
}

static void group_table(struct page *page, const struct facts *facts, size_t readable)
{
    struct glibc_total total = {0};

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        struct glibc_total one = {0};
        char name[TITLE_BYTES];
        if (!was_read(process)) {
            continue;
        }
        glibc_total_add(&one, &process->glibc);
        glibc_total_add(&total, &process->glibc);
        (void)snprintf(name, sizeof(name), "pid %" PRId32, process->pid);
        row(page, INK_PLAIN, name, &one);
    }
    if (readable != 1) {
        row(page, INK_STRONG, "total", &total);
    }
    free_note(page, &total);
}

void allocator_text(struct page *page, const struct snapshot *snapshot)
{
    const struct facts *facts = snapshot->facts;
    const char *unit =
        page->style->exact_bytes ? "glibc malloc, bytes" : "glibc malloc, MiB";
    const struct process_facts *first = NULL;
    size_t readable = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        if (was_read(&facts->processes[i])) {
            first = first == NULL ? &facts->processes[i] : first;
            readable++;
        }
    }
    if (first == NULL) {
        return;
    }
    head(page, unit);
    if (facts->process_count == 1) {
        process_table(page, &first->glibc);
        cache_note(page, &first->glibc);
        settings_note(page, first);
    } else {
        group_table(page, facts, readable);
    }
}
