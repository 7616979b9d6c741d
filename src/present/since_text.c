/*
 * since_text.c - the block "Since": layers then and now, and each promise with its outcome.
 *
 * A verdict is told in words that can stand alone, the figures behind it. What a restart ended
 * is one line for all: nobody asks what became of memory whose process is gone.
 */
#include "present/since_text.h"

#include "base/quantity.h"

enum {
    INDENT = 2,
    THEN_END = 14,
    NOW_END = 28,
    CHANGE_END = 43,
    NAME_COLUMN = 45,
    WORDS_COLUMN = 4,
};

const char *const since_verdict_words[SINCE_VERDICT_COUNT] = {
    [SINCE_AS_PROMISED] = "as promised",
    [SINCE_MORE] = "more than promised",
    [SINCE_LESS] = "less than promised",
    [SINCE_UNLIKE] = "not to be compared",
    [SINCE_NOT_MADE] = "change not seen",
    [SINCE_ENDED] = "ended by the restart",
};

static enum ink verdict_ink(enum since_verdict verdict)
{
    return verdict == SINCE_LESS                                   ? INK_WARN
           : verdict == SINCE_AS_PROMISED || verdict == SINCE_MORE ? INK_INFO
                                                                   : INK_PLAIN;
}

/* The steps of the account; the rest is for who asks for everything. */
static bool is_shown(const struct page *page, enum layer_id id)
{
    return page->style->unfolded || id == LAYER_TRACKED || id == LAYER_IN_USE ||
           id == LAYER_FREE_RESIDENT || id == LAYER_RESIDENT || id == LAYER_CHARGED;
}

static const char *layer_title(enum layer_id id)
{
    return id == LAYER_IN_USE          ? "in use"
           : id == LAYER_FREE_RESIDENT ? "free, in whole pages"
           : id == LAYER_NEVER_TOUCHED ? "never touched"
                                       : layer_names[id];
}

/* The residual alone may be below zero. */
static struct quantity amount(const struct page *page, int64_t bytes)
{
    return bytes < 0 ? quantity_signed_bytes(bytes, page->style->exact_bytes)
                     : quantity_bytes((uint64_t)bytes, page->style->exact_bytes);
}

static void layer_rows(struct page *page, const struct since *since)
{
    page_right(page, INK_DIM, "then", THEN_END);
    page_right(page, INK_DIM, "now", NOW_END);
    page_right(page, INK_DIM, "difference", CHANGE_END);
    page_end_line(page);
    for (size_t i = 0; i < since->layer_count; i++) {
        const struct since_layer *layer = &since->layers[i];
        if (!is_shown(page, layer->id)) {
            continue;
        }
        const int64_t gap =
            quantity_gap(layer->before_bytes, layer->now_bytes, page->style->exact_bytes);
        page_right(page, INK_PLAIN, amount(page, layer->before_bytes).text, THEN_END);
        page_right(page, INK_STRONG, amount(page, layer->now_bytes).text, NOW_END);
        page_right(page, INK_PLAIN,
            quantity_signed_bytes(gap, page->style->exact_bytes).text, CHANGE_END);
        page_at(page, NAME_COLUMN);
        page_put(page, INK_PLAIN, layer_title(layer->id));
        page_end_line(page);
    }
}

static struct quantity magnitude(int64_t bytes, bool exact)
{
    return quantity_bytes(bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes, exact);
}

/* A low end below zero: the change might also take memory. */
static void promised(const struct since_promise *promise, bool exact, struct buffer *text)
{
    const uint64_t low = promise->low_bytes > 0 ? (uint64_t)promise->low_bytes : 0;

    buffer_printf(text, "promised %s",
        quantity_range(low, (uint64_t)promise->high_bytes, exact).text);
    if (promise->low_bytes < 0) {
        buffer_printf(text, " or %s more", magnitude(promise->low_bytes, exact).text);
    }
    if (promise->together) {
        buffer_append_text(text, " for all changes in force");
    }
}

void since_promise_words(
    const struct since *since, size_t index, bool exact, struct buffer *text)
{
    const struct since_promise *promise = &since->promises[index];
    const int64_t fell = since_fell_bytes(promise);

    promised(promise, exact, text);
    if (promise->measure != NULL && promise->verdict != SINCE_NOT_MADE) {
        buffer_printf(text, "; %s %s by %s", promise->measure, fell < 0 ? "grew" : "fell",
            magnitude(fell, exact).text);
    }
    if (promise->why != NULL) {
        buffer_printf(text, "; %s", promise->why);
    }
    if (promise->force_text != NULL) {
        buffer_printf(text, "; %s", promise->force_text);
    } else if (promise->verdict == SINCE_NOT_MADE) {
        buffer_append_text(text, "; the finding is still there");
    } else if (since->restarted && promise->force == SINCE_FORCE_UNKNOWN &&
               (promise->verdict == SINCE_AS_PROMISED ||
                   promise->verdict == SINCE_MORE)) {
        buffer_append_text(text, "; whether the restart alone did it is not seen");
    }
}

static void promise_lines(struct page *page, const struct since *since, size_t index)
{
    const struct since_promise *promise = &since->promises[index];
    struct buffer text;

    page_at(page, INDENT);
    page_put(page, INK_STRONG, promise->finding->rule->id);
    page_put(page, INK_PLAIN, ": ");
    page_put(page, verdict_ink(promise->verdict), since_verdict_words[promise->verdict]);
    page_end_line(page);
    buffer_init(&text);
    since_promise_words(since, index, page->style->exact_bytes, &text);
    page->buffer->failed = page->buffer->failed || text.failed;
    page_at(page, WORDS_COLUMN);
    page_paragraph(page, INK_PLAIN, buffer_text(&text), WORDS_COLUMN);
    buffer_release(&text);
}

static void ended_line(struct page *page, const struct since *since)
{
    struct buffer text;

    buffer_init(&text);
    for (size_t i = 0; i < since->promise_count; i++) {
        if (since->promises[i].verdict == SINCE_ENDED) {
            buffer_printf(&text, "%s%s", text.length_bytes > 0 ? ", " : "",
                since->promises[i].finding->rule->id);
        }
    }
    if (text.length_bytes > 0) {
        buffer_append_text(&text, ": about memory that ended with the process");
        page_at(page, INDENT);
        page_paragraph(page, INK_DIM, buffer_text(&text), INDENT);
    }
    page->buffer->failed = page->buffer->failed || text.failed;
    buffer_release(&text);
}

/* When, from where, and whether the target was started again since. */
static void put_moment(struct page *page, const struct since *since)
{
    struct buffer text;

    buffer_init(&text);
    buffer_printf(&text, "%s (%s, %s)",
        quantity_time(since->before->taken_at_unix_ns).text, since->source,
        since->restarted ? "restarted" : "same process");
    page->buffer->failed = page->buffer->failed || text.failed;
    page_paragraph(page, INK_DIM, buffer_text(&text), INDENT);
    buffer_release(&text);
}

static void promises(struct page *page, const struct since *since, size_t most)
{
    size_t left = 0;

    for (size_t i = 0; i < since->promise_count; i++) {
        if (since->promises[i].verdict == SINCE_ENDED) {
            continue;
        }
        if (most > 0) {
            promise_lines(page, since, i);
            most--;
        } else {
            left++;
        }
    }
    if (left > 0) {
        page_at(page, INDENT);
        page_printf(page, INK_DIM, "and %zu more: --all", left);
        page_end_line(page);
    }
}

void since_text(struct page *page, const struct since *since, size_t most)
{
    if (since == NULL) {
        return;
    }
    page_heading(page, "Since");
    put_moment(page, since);
    layer_rows(page, since);
    promises(page, since, most);
    ended_line(page, since);
    if (since->promise_count == 0) {
        page_at(page, INDENT);
        page_put(page, INK_DIM, "nothing was promised then");
        page_end_line(page);
    }
    if (since->unlike != NULL) {
        page_at(page, INDENT);
        page_put(page, INK_DIM, "unlike moments:");
        page_paragraph(page, INK_DIM, since->unlike, INDENT);
    }
}
