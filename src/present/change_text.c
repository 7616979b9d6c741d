/*
 * change_text.c - what an operator is to do, in one piece.
 *
 * The lines of each finding are written by its rule for one place: a drop-in, a compose file,
 * my.cnf. Lines of several findings for the same place (the same first line) are merged, and
 * what applies them (a comment in the last line) is printed once, behind all of them.
 */
#include "present/change_text.h"

#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "base/slice.h"

enum {
    TEXT_INDENT = 2,
    SENTENCE_INDENT = 4,
    LINE_INDENT = 6,
    MAX_LINES = 24, /* of one place; further ones are under --all */
};

/* Lines for one place. */
struct block {
    struct slice lines[MAX_LINES];
    size_t count;
};

/* ---- which findings */

static bool is_comment(struct slice line)
{
    return line.bytes == 0 || slice_starts_with(line, "#") ||
           slice_starts_with(line, ";") || slice_starts_with(line, "--");
}

/* A line that does something, beside comments. */
static bool has_lines(const struct finding *finding)
{
    struct slice rest = {finding->fix, finding->fix != NULL ? strlen(finding->fix) : 0};
    struct slice line;

    while (slice_next(&rest, '\n', &line)) {
        if (!is_comment(line)) {
            return true;
        }
    }
    return false;
}

static void add(struct changes *changes, const struct finding *finding)
{
    if (changes->count < CHANGE_MAX && !changes_have(changes, finding)) {
        changes->items[changes->count++] = finding;
    }
}

bool changes_have(const struct changes *changes, const struct finding *finding)
{
    for (size_t i = 0; i < changes->count; i++) {
        if (changes->items[i] == finding) {
            return true;
        }
    }
    return false;
}

void changes_of(const struct finding_list *list, struct changes *changes)
{
    *changes = (struct changes){.count = 0};
    advice_of(list, &changes->advice);
    for (size_t i = 0; i < list->count && changes->count == 0; i++) {
        if (list->items[i].severity == SEVERITY_CRITICAL && has_lines(&list->items[i])) {
            add(changes, &list->items[i]);
        }
    }
    for (size_t i = 0; i < changes->advice.count; i++) {
        add(changes, changes->advice.first[i]);
    }
    for (size_t i = 0; i < list->count && changes->count == 0; i++) {
        if (list->items[i].severity == SEVERITY_WARN && has_lines(&list->items[i])) {
            add(changes, &list->items[i]);
        }
    }
}

void changes_range(
    const struct changes *changes, bool exact, char text[QUANTITY_TEXT_BYTES * 2])
{
    const struct advice *advice = &changes->advice;

    text[0] = '\0';
    if (advice->count > 0) {
        (void)snprintf(text, QUANTITY_TEXT_BYTES * 2, "%s (%s)",
            quantity_range(advice->low_bytes, advice->high_bytes, exact).text,
            confidence_names[advice->confidence]);
    }
}

/* ---- their lines */

static bool same_line(struct slice a, struct slice b)
{
    return a.bytes == b.bytes && memcmp(a.text, b.text, a.bytes) == 0;
}

static bool block_has(const struct block *block, struct slice line)
{
    for (size_t i = 0; i < block->count; i++) {
        if (same_line(block->lines[i], line)) {
            return true;
        }
    }
    return false;
}

/* The comment that ends a block, beside its first line: what applies the change. */
static bool ends_in_comment(const struct block *block)
{
    return block->count > 1 && is_comment(block->lines[block->count - 1]);
}

static void insert_line(struct block *block, size_t at, struct slice line)
{
    if (block->count == MAX_LINES) {
        return;
    }
    for (size_t i = block->count++; i > at; i--) {
        block->lines[i] = block->lines[i - 1];
    }
    block->lines[at] = line;
}

static struct block block_of(const struct finding *finding)
{
    struct slice rest = {finding->fix, finding->fix != NULL ? strlen(finding->fix) : 0};
    struct block block = {.count = 0};
    struct slice line;

    while (slice_next(&rest, '\n', &line)) {
        insert_line(&block, block.count, line);
    }
    return block;
}

/* Puts what is new in other before the comment that ends block. */
static void merge(struct block *block, const struct block *other)
{
    for (size_t i = 0; i < other->count; i++) {
        if (!block_has(block, other->lines[i])) {
            insert_line(
                block, block->count - (ends_in_comment(block) ? 1 : 0), other->lines[i]);
        }
    }
}

/* blocks has room for one more. */
static void add_block(struct block *blocks, size_t *count, const struct finding *finding)
{
    const struct block block = block_of(finding);

    for (size_t i = 0; i < *count; i++) {
        if (block.count > 0 && same_line(blocks[i].lines[0], block.lines[0])) {
            merge(&blocks[i], &block);
            return;
        }
    }
    for (size_t i = 0; i < *count && ends_in_comment(&block); i++) {
        if (ends_in_comment(&blocks[i]) && same_line(blocks[i].lines[blocks[i].count - 1],
                                               block.lines[block.count - 1])) {
            blocks[i].count--;
        }
    }
    if (block.count > 0) {
        blocks[(*count)++] = block;
    }
}

static void put_lines(struct page *page, const struct changes *changes)
{
    struct block blocks[CHANGE_MAX];
    size_t count = 0;

    for (size_t i = 0; i < changes->count; i++) {
        add_block(blocks, &count, changes->items[i]);
    }
    for (size_t i = 0; i < count; i++) {
        if (i > 0) {
            page_end_line(page);
        }
        for (size_t j = 0; j < blocks[i].count; j++) {
            const struct slice line = blocks[i].lines[j];
            page_verbatim_line(page, INK_STRONG, line.text, line.bytes, LINE_INDENT);
        }
    }
}

/* ---- the section */

static void put_sentence(
    struct page *page, const struct changes *changes, const struct finding *finding)
{
    page_at(page, TEXT_INDENT);
    page_put(page, INK_STRONG, finding->rule->id);
    page_put(page, INK_PLAIN, ":");
    if (changes->count > 1 && finding->predicts) {
        page_printf(page, INK_PLAIN, " %s (%s);",
            quantity_range(finding->predicted_low_bytes, finding->predicted_high_bytes,
                page->style->exact_bytes)
                .text,
            confidence_names[finding->confidence]);
    }
    page_paragraph(page, INK_PLAIN, finding->summary, SENTENCE_INDENT);
}

static void put_labelled(struct page *page, const char *label, const char *text)
{
    if (text != NULL) {
        page_at(page, TEXT_INDENT);
        page_put(page, INK_DIM, label);
        page_paragraph(page, INK_PLAIN, text, SENTENCE_INDENT);
    }
}

static void put_checks(struct page *page, const struct changes *changes)
{
    for (size_t i = 0; i < changes->count; i++) {
        put_labelled(page, "price:", changes->items[i]->rule->price);
        put_labelled(page, "check:", changes->items[i]->verify);
    }
}

static void put_nothing(struct page *page, const struct facts *facts)
{
    page_put(page, INK_DIM,
        facts->gap_count > 0 ? ": nothing, as far as could be read" : ": nothing");
    page_end_line(page);
}

void change_text(
    struct page *page, const struct changes *changes, const struct facts *facts)
{
    char range[QUANTITY_TEXT_BYTES * 2];

    page_heading(page, "What to change");
    if (changes->count == 0) {
        put_nothing(page, facts);
        return;
    }
    changes_range(changes, page->style->exact_bytes, range);
    if (range[0] != '\0') {
        page_put(page, INK_PLAIN, ": gives back ");
        page_put(page, INK_STRONG, range);
    }
    page_end_line(page);
    for (size_t i = 0; i < changes->count; i++) {
        put_sentence(page, changes, changes->items[i]);
    }
    put_lines(page, changes);
    put_checks(page, changes);
}
