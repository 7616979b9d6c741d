/*
 * finding_text.c - findings in full, or a line each.
 *
 * The fix is printed line by line exactly as the rule gave it, indented and never wrapped,
 * so that it can be pasted.
 */
#include "present/finding_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"

enum {
    MARK_INDENT = 2,
    TEXT_COLUMN = 12,
    FIX_COLUMN = 14,
    RANGE_COLUMNS = 2, /* what a range is wider than an amount */
};

enum ink finding_ink(enum severity severity)
{
    static const enum ink inks[SEVERITY_COUNT] = {INK_INFO, INK_WARN, INK_CRITICAL};

    return inks[severity];
}

static struct quantity evidence_value(
    const struct page *page, const struct evidence *evidence)
{
    struct quantity out = {""};

    switch (evidence->unit) {
    case EVIDENCE_BYTES:
        if (evidence->value < 0) {
            return quantity_signed_bytes(evidence->value, page->style->exact_bytes);
        }
        return quantity_bytes((uint64_t)evidence->value, page->style->exact_bytes);
    case EVIDENCE_PERCENT:
        (void)snprintf(out.text, sizeof(out.text), "%" PRId64 " %%", evidence->value);
        return out;
    case EVIDENCE_COUNT_OF:
        (void)snprintf(out.text, sizeof(out.text), "%" PRId64, evidence->value);
        return out;
    case EVIDENCE_TEXT:
        break;
    }
    return out;
}

static void append_name(struct buffer *text, const char *name)
{
    for (; *name != '\0'; name++) {
        buffer_append_char(text, *name == '_' ? ' ' : *name);
    }
}

static void evidence_line(struct page *page, const struct finding *finding)
{
    struct buffer text;

    if (finding->evidence_count == 0) {
        return;
    }
    buffer_init(&text);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct evidence *evidence = &finding->evidence[i];
        buffer_append_text(&text, i > 0 ? ", " : "");
        append_name(&text, evidence->name);
        buffer_append_char(&text, ' ');
        if (evidence->unit == EVIDENCE_TEXT) {
            buffer_append_text(&text, evidence->text != NULL ? evidence->text : "-");
        } else {
            buffer_append_text(&text, evidence_value(page, evidence).text);
        }
    }
    if (buffer_error(&text) != 0) {
        page->buffer->failed = true;
    }
    page_at(page, TEXT_COLUMN);
    page_paragraph(page, INK_DIM, buffer_text(&text), TEXT_COLUMN);
    buffer_release(&text);
}

static void prediction_line(struct page *page, const struct finding *finding)
{
    if (!finding->predicts) {
        return;
    }
    page_at(page, TEXT_COLUMN);
    page_put(page, INK_PLAIN, "gives back ");
    page_put(page, INK_STRONG,
        quantity_range(finding->predicted_low_bytes, finding->predicted_high_bytes,
            page->style->exact_bytes)
            .text);
    if (finding->predicted_cost_bytes > 0) {
        page_printf(page, INK_PLAIN, ", or takes up to %s more",
            quantity_bytes(finding->predicted_cost_bytes, page->style->exact_bytes).text);
    }
    page_printf(page, INK_PLAIN, " (%s)", confidence_names[finding->confidence]);
    page_end_line(page);
}

static void labelled(struct page *page, const char *label, const char *text)
{
    if (text == NULL || *text == '\0') {
        return;
    }
    page_at(page, TEXT_COLUMN);
    page_put(page, INK_DIM, label);
    page_paragraph(page, INK_PLAIN, text, TEXT_COLUMN + 2);
}

static void one_finding(struct page *page, const struct finding *finding, bool in_group)
{
    page_at(page, MARK_INDENT);
    page_put(page, finding_ink(finding->severity), severity_names[finding->severity]);
    page_at(page, TEXT_COLUMN);
    page_put(page, INK_STRONG, finding->rule->id);
    if (in_group && finding->pid != 0) {
        page_printf(page, INK_DIM, " in pid %" PRId32, finding->pid);
    }
    page_end_line(page);
    page_at(page, TEXT_COLUMN);
    page_paragraph(page, INK_PLAIN, finding->summary, TEXT_COLUMN);
    evidence_line(page, finding);
    labelled(page, "because:", finding->reasoning);
    prediction_line(page, finding);
    if (finding->fix != NULL) {
        page_at(page, TEXT_COLUMN);
        page_put(page, INK_DIM, "change:");
        page_end_line(page);
        page_verbatim(page, INK_STRONG, finding->fix, FIX_COLUMN);
        labelled(page, "price:", finding->rule->price);
        labelled(page, "verify:", finding->verify);
    }
}

/* The rules of the first findings, each once although several members may have it. */
static void append_rules(
    struct buffer *text, const struct finding_list *list, size_t findings)
{
    for (size_t i = 0; i < findings; i++) {
        if (i == 0 || list->items[i - 1].rule != list->items[i].rule) {
            buffer_append_text(text, i == 0 ? "" : ", ");
            buffer_append_text(text, list->items[i].rule->id);
        }
    }
}

void finding_summary(
    struct page *page, const struct finding_list *list, const struct changes *changes)
{
    struct buffer text;
    size_t warnings = 0;
    char range[QUANTITY_TEXT_BYTES * 2];

    while (warnings < list->count && list->items[warnings].severity >= SEVERITY_WARN) {
        warnings++;
    }
    if (warnings == 0) {
        return;
    }
    buffer_init(&text);
    append_rules(&text, list, warnings);
    changes_range(changes, page->style->exact_bytes, range);
    if (range[0] != '\0') {
        buffer_printf(&text, "; what to change gives back %s", range);
    }
    page_printf(page, finding_ink(list->items[0].severity),
        "%s:", quantity_count(warnings, "warning").text);
    page_paragraph(page, INK_PLAIN, buffer_text(&text), MARK_INDENT);
    page->buffer->failed = page->buffer->failed || text.failed;
    buffer_release(&text);
}

void finding_text(
    struct page *page, const struct finding_list *list, const struct facts *facts)
{
    page_heading(page, "Findings");
    if (list->count == 0) {
        page_put(page, INK_DIM,
            facts->gap_count > 0 ? ": none in what could be read" : ": none");
    }
    page_end_line(page);
    for (size_t i = 0; i < list->count; i++) {
        one_finding(page, &list->items[i], facts->process_count > 1);
    }
}

/* ---- a line each */

/* Findings of one rule stand together: of how many members it is, and the most it gives back. */
struct same_rule {
    const struct finding *first;
    size_t count;
};

static struct same_rule same_rule_at(const struct finding_list *list, size_t index)
{
    struct same_rule same = {&list->items[index], 1};

    while (index + same.count < list->count &&
           list->items[index + same.count].rule == same.first->rule) {
        same.count++;
    }
    return same;
}

static void finding_line(struct page *page, const struct same_rule *same)
{
    const struct finding *finding = same->first;
    struct buffer text;

    if (finding->predicts && same->count == 1) {
        page_right(page, INK_PLAIN,
            quantity_range(finding->predicted_low_bytes, finding->predicted_high_bytes,
                page->style->exact_bytes)
                .text,
            page_text_column(page) + RANGE_COLUMNS);
    }
    page_at(page, page_text_column(page) + RANGE_COLUMNS + 2);
    page_put(page, finding_ink(finding->severity), finding->rule->id);
    buffer_init(&text);
    if (same->count > 1) {
        buffer_printf(&text, " (%zu times)", same->count);
    }
    buffer_printf(&text, ": %s", finding->rule->title);
    page_fit(page, INK_PLAIN, buffer_text(&text), page->width - page->column);
    page->buffer->failed = page->buffer->failed || text.failed;
    buffer_release(&text);
    page_end_line(page);
}

static void dim_line(struct page *page, const char *text)
{
    page_at(page, MARK_INDENT);
    page_put(page, INK_DIM, text);
    page_end_line(page);
}

/* Those that compete with the changes, or those that do not; lines: how many more may follow. */
static void lines_of(struct page *page, const struct finding_list *list,
    const struct changes *changes, bool competing, size_t *lines, size_t *left)
{
    bool begun = false;

    for (size_t i = 0; i < list->count;) {
        const struct same_rule same = same_rule_at(list, i);
        i += same.count;
        if (changes_have(changes, same.first) ||
            (advice_instead(&changes->advice, same.first) != NULL) != competing) {
            continue;
        }
        if (*lines == 0) {
            ++*left;
            continue;
        }
        if (competing && !begun) {
            dim_line(page, "of the same memory: instead of the above, not beside it");
        }
        begun = true;
        finding_line(page, &same);
        --*lines;
    }
}

void finding_lines(struct page *page, const struct finding_list *list,
    const struct changes *changes, size_t lines)
{
    size_t left = 0;
    char text[QUANTITY_TEXT_BYTES];

    if (list->count <= changes->count) {
        return;
    }
    page_heading(page, changes->count > 0 ? "Other findings" : "Findings");
    page_end_line(page);
    lines_of(page, list, changes, false, &lines, &left);
    lines_of(page, list, changes, true, &lines, &left);
    if (left > 0) {
        (void)snprintf(text, sizeof(text), "and %zu more: --all", left);
        dim_line(page, text);
    }
}
