/*
 * finding_text.c - the part of the screen that is acted upon.
 *
 * The fix is printed line by line exactly as the rule gave it, indented and never wrapped,
 * so that it can be pasted. Evidence and reasoning are folded for what is only worth
 * knowing (info), unless everything is asked for.
 */
#include "present/finding_text.h"

#include <inttypes.h>
#include <stdio.h>

#include "base/quantity.h"

enum { MARK_INDENT = 2, TEXT_COLUMN = 12, FIX_COLUMN = 14 };

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

static bool is_full(const struct page *page, const struct finding *finding)
{
    return finding->severity != SEVERITY_INFO || page->style->unfolded;
}

static void one_finding(struct page *page, const struct finding *finding, bool in_group)
{
    const bool full = is_full(page, finding);

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
    if (full) {
        evidence_line(page, finding);
        labelled(page, "because:", finding->reasoning);
    }
    prediction_line(page, finding);
    if (full && finding->fix != NULL) {
        page_at(page, TEXT_COLUMN);
        page_put(page, INK_DIM, "change:");
        page_end_line(page);
        page_verbatim(page, INK_STRONG, finding->fix, FIX_COLUMN);
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

void finding_summary(struct page *page, const struct finding_list *list)
{
    struct buffer text;
    size_t warnings = 0;
    uint64_t most = 0;

    while (warnings < list->count && list->items[warnings].severity >= SEVERITY_WARN) {
        const struct finding *finding = &list->items[warnings++];
        if (finding->predicts && finding->predicted_high_bytes > most) {
            most = finding->predicted_high_bytes;
        }
    }
    if (warnings == 0) {
        return;
    }
    buffer_init(&text);
    append_rules(&text, list, warnings);
    if (most > 0) {
        buffer_printf(&text, "; up to %s can go back",
            quantity_bytes(most, page->style->exact_bytes).text);
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
    bool folded = false;

    for (size_t i = 0; i < list->count; i++) {
        const struct finding *finding = &list->items[i];

        one_finding(page, finding, facts->process_count > 1);
        folded = folded || (finding->fix != NULL && !is_full(page, finding));
    }
    if (folded) {
        page_at(page, MARK_INDENT);
        page_put(
            page, INK_DIM, "what to change for a note (info), and why: --all shows it");
        page_end_line(page);
    }
}
