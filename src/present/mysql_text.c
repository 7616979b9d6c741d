/*
 * mysql_text.c - tracked by part, the account beside malloc, threads and instruments.
 *
 * The parts are those of the tracked layer; when the target has several processes, of the
 * server's own. Names of instruments and threads come from the server: page.c makes them
 * safe to print.
 */
#include "present/mysql_text.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/quantity.h"
#include "model/known.h"
#include "model/mysql_layers.h"

enum { NOTE_INDENT = 2 };

static const char *family_title(const struct mysql_facts *mysql)
{
    return mysql->family == MYSQL_MARIADB ? "MariaDB"
           : mysql->family == MYSQL_MYSQL ? "MySQL"
                                          : "Database";
}

static struct quantity amount(const struct page *page, uint64_t bytes)
{
    return quantity_bytes(bytes, page->style->exact_bytes);
}

static void row(struct page *page, uint64_t bytes, const char *title)
{
    page_amount(page, INK_PLAIN, amount(page, bytes).text);
    page_at(page, page_text_column(page));
    page_fit(page, INK_PLAIN, title, page->width - page->column);
    page_end_line(page);
}

static void head(struct page *page, const struct mysql_view *mysql)
{
    page_heading(page, family_title(mysql->facts));
    page_printf(page, INK_DIM, " %s",
        mysql->facts->version != NULL ? mysql->facts->version : "of unknown version");
    if (mysql->source != MYSQL_SOURCE_NONE) {
        page_printf(
            page, INK_DIM, ": the %s it counts", amount(page, mysql->tracked_bytes).text);
    }
    page_end_line(page);
}

/* text in words below the table. */
static void note(struct page *page, struct buffer *text)
{
    if (buffer_error(text) != 0) {
        page->buffer->failed = true;
    } else {
        page_at(page, NOTE_INDENT);
        page_paragraph(page, INK_DIM, buffer_text(text), NOTE_INDENT + NOTE_INDENT);
    }
    buffer_release(text);
}

static void coverage(struct page *page, const struct mysql_view *mysql)
{
    struct buffer text;

    if (!mysql->in_use_known) {
        return;
    }
    buffer_init(&text);
    if (mysql->untracked_bytes < 0) {
        buffer_printf(&text,
            "it counts %s in malloc, which has %s in use: %s more, counted at another "
            "moment",
            amount(page, mysql->inside_bytes).text,
            amount(page, mysql->in_use_bytes).text,
            amount(page, -(uint64_t)mysql->untracked_bytes).text);
    } else {
        buffer_printf(&text,
            "of the %s which malloc has in use it counts %" PRIu64
            " %%: %s, and %s of headers; %s is counted by nobody",
            amount(page, mysql->in_use_bytes).text, mysql->coverage_percent,
            amount(page, mysql->inside_bytes).text,
            amount(page, mysql->header_bytes).text,
            quantity_signed_bytes(mysql->untracked_bytes, page->style->exact_bytes).text);
    }
    note(page, &text);
}

/* " · title value" when the fact is known. */
static void item(
    struct page *page, struct buffer *text, const struct fact *fact, const char *title)
{
    if (fact_is_known(fact)) {
        buffer_printf(text, "%s%s %" PRIu64, page_separator(page), title, fact->value);
    }
}

static void connections(struct page *page, const struct mysql_facts *mysql)
{
    const struct fact *values = mysql->values;
    struct buffer text;

    if (!fact_is_known(&values[MYSQL_FACT_CONNECTIONS])) {
        return;
    }
    buffer_init(&text);
    buffer_printf(&text, "connections %" PRIu64, values[MYSQL_FACT_CONNECTIONS].value);
    item(page, &text, &values[MYSQL_FACT_THREADS_CREATED], "threads made for them");
    item(page, &text, &values[MYSQL_FACT_MAX_USED_CONNECTIONS], "at once");
    item(page, &text, &values[MYSQL_FACT_THREAD_CACHE_SIZE], "thread_cache_size");
    note(page, &text);
}

static void pool(struct page *page, const struct mysql_facts *mysql)
{
    const struct fact *total = &mysql->values[MYSQL_FACT_POOL_PAGES_TOTAL];
    const struct fact *unused = &mysql->values[MYSQL_FACT_POOL_PAGES_FREE];
    struct buffer text;

    if (!fact_is_known(total) || !fact_is_known(unused) || total->value == 0 ||
        unused->value > total->value) {
        return;
    }
    buffer_init(&text);
    buffer_printf(&text, "buffer pool filled to %s",
        quantity_percent(total->value - unused->value, total->value).text);
    if (mysql->flush_method != NULL) {
        buffer_printf(
            &text, "%sinnodb_flush_method %s", page_separator(page), mysql->flush_method);
    }
    note(page, &text);
}

static void instruments(struct page *page, const struct mysql_facts *mysql)
{
    const struct fact *all = &mysql->values[MYSQL_FACT_INSTRUMENTS];
    const struct fact *on = &mysql->values[MYSQL_FACT_INSTRUMENTS_ON];
    const struct fact *sum = &mysql->values[MYSQL_FACT_INSTRUMENTED];
    struct buffer text;

    buffer_init(&text);
    buffer_append_text(&text, "Performance Schema: ");
    if (mysql->memory_state != FACT_OK) {
        buffer_append_text(
            &text, mysql->memory_why != NULL ? mysql->memory_why : "not read");
    } else {
        if (fact_is_known(all) && fact_is_known(on)) {
            buffer_printf(&text, "%" PRIu64 " of %s on%s, ", on->value,
                quantity_count(all->value, "memory instrument").text,
                mysql->since == MYSQL_SINCE_START   ? " since the start"
                : mysql->since == MYSQL_SINCE_LATER ? ", not since the start"
                                                    : "");
        }
        buffer_printf(&text, "sum %s",
            fact_is_known(sum) ? amount(page, sum->value).text : "not known");
    }
    note(page, &text);
}

static void events(struct page *page, const struct mysql_facts *mysql)
{
    for (size_t i = 0; i < mysql->event_count; i++) {
        const struct mysql_event *event = &mysql->events[i];
        page_amount(page, INK_PLAIN,
            event->bytes < 0
                ? quantity_signed_bytes(event->bytes, page->style->exact_bytes).text
                : amount(page, (uint64_t)event->bytes).text);
        page_at(page, page_text_column(page));
        page_fit(page, INK_PLAIN, event->name, page->width - page->column);
        page_end_line(page);
    }
}

static void owners(struct page *page, const struct mysql_owner *items, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (items[i].bytes > 0) {
            row(page, (uint64_t)items[i].bytes, items[i].name);
        }
    }
}

static void server(struct page *page, const struct process_view *view)
{
    const struct mysql_view mysql = mysql_view_of(view);
    const struct layer *tracked = &view->layers[LAYER_TRACKED];

    if (mysql.facts == NULL || mysql.facts->state != FACT_OK) {
        return;
    }
    head(page, &mysql);
    for (size_t i = 0; i < tracked->part_count; i++) {
        row(page, tracked->parts[i].bytes, tracked->parts[i].title);
    }
    coverage(page, &mysql);
    connections(page, mysql.facts);
    pool(page, mysql.facts);
    instruments(page, mysql.facts);
    events(page, mysql.facts);
    owners(page, mysql.facts->threads, mysql.facts->thread_count);
    owners(page, mysql.facts->accounts, mysql.facts->account_count);
}

void mysql_text(struct page *page, const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->member_count; i++) {
        server(page, &snapshot->members[i]);
    }
}
