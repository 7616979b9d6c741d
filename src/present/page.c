/*
 * page.c - the only place that knows about columns, colours and box characters.
 *
 * Invariant: column is where the next character will stand, blanks included; blanks are
 * written by flush_blanks() alone. Colours are switched off at the end of each text and
 * line, so that no padding is coloured and a cut output spoils one line at most.
 */
#include "present/page.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "present/safe_text.h"

static const char *const ink_codes[INK_COUNT] = {
    [INK_PLAIN] = "",
    [INK_STRONG] = "\033[1m",
    [INK_DIM] = "\033[2m",
    [INK_BAR] = "\033[36m",
    [INK_INFO] = "\033[34m",
    [INK_WARN] = "\033[33m",
    [INK_CRITICAL] = "\033[1;31m",
};

static const char ink_end[] = "\033[0m";

bool page_ink_at(const char *text, enum ink *ink, size_t *bytes)
{
    for (int i = INK_STRONG; i < INK_COUNT; i++) {
        if (strncmp(text, ink_codes[i], strlen(ink_codes[i])) == 0) {
            *ink = (enum ink)i;
            *bytes = strlen(ink_codes[i]);
            return true;
        }
    }
    *ink = INK_PLAIN;
    *bytes = sizeof(ink_end) - 1;
    return strncmp(text, ink_end, sizeof(ink_end) - 1) == 0;
}

void page_init(
    struct page *page, const struct present_style *style, struct buffer *buffer)
{
    *page = (struct page){.buffer = buffer, .style = style, .width = style->width};
    if (page->width < STYLE_MINIMUM_WIDTH) {
        page->width = STYLE_MINIMUM_WIDTH;
    }
}

static void flush_blanks(struct page *page)
{
    for (; page->blanks > 0; page->blanks--) {
        buffer_append_char(page->buffer, ' ');
    }
}

static void begin_ink(struct page *page, enum ink ink)
{
    flush_blanks(page);
    if (page->style->color) {
        buffer_append_text(page->buffer, ink_codes[ink]);
    }
}

static void end_ink(struct page *page, enum ink ink)
{
    if (page->style->color && ink != INK_PLAIN) {
        buffer_append_text(page->buffer, ink_end);
    }
}

static void put_bare(struct page *page, const char *text)
{
    flush_blanks(page);
    safe_text_append(page->buffer, text, page->style->utf8);
    page->column += safe_text_columns(text, page->style->utf8);
}

void page_put(struct page *page, enum ink ink, const char *text)
{
    if (*text == '\0') {
        return;
    }
    begin_ink(page, ink);
    put_bare(page, text);
    end_ink(page, ink);
}

void page_printf(struct page *page, enum ink ink, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;

    va_start(arguments, format);
    int bytes = vasprintf(&text, format, arguments);
    va_end(arguments);
    if (bytes < 0) {
        page->buffer->failed = true;
        return;
    }
    page_put(page, ink, text);
    free(text);
}

void page_at(struct page *page, int column)
{
    int missing = column - page->column;

    if (missing <= 0) {
        missing = page->column > 0 ? 1 : 0;
    }
    page->blanks += missing;
    page->column += missing;
}

void page_right(struct page *page, enum ink ink, const char *text, int end)
{
    page_at(page, end - safe_text_columns(text, page->style->utf8));
    page_put(page, ink, text);
}

/* Wide enough for "+1023.9 MiB"; with exact bytes for a sign and 999 GiB. */
static int amount_end(const struct page *page)
{
    return page->style->exact_bytes ? 17 : 12;
}

void page_amount(struct page *page, enum ink ink, const char *text)
{
    page_right(page, ink, text, amount_end(page));
}

int page_text_column(const struct page *page)
{
    return amount_end(page) + 2;
}

void page_fit(struct page *page, enum ink ink, const char *text, int columns)
{
    bool utf8 = page->style->utf8;
    struct safe_character character;
    int used = 0;

    if (safe_text_columns(text, utf8) <= columns) {
        page_put(page, ink, text);
        return;
    }
    begin_ink(page, ink);
    while (*text != '\0') {
        const char *next = safe_text_next(text, utf8, &character);
        if (used + character.columns > columns - 1) {
            break;
        }
        buffer_append(page->buffer, character.text, character.bytes);
        used += character.columns;
        text = next;
    }
    buffer_append_text(page->buffer, utf8 ? "\u2026" : "~");
    end_ink(page, ink);
    page->column += used + 1;
}

void page_bar(struct page *page, uint64_t value, uint64_t maximum, int columns)
{
    static const char *const eighths[] = {"", "\u258f", "\u258e", "\u258d", "\u258c",
        "\u258b", "\u258a", "\u2589", "\u2588"};
    int steps = page->style->utf8 ? 8 : 1;
    double share = maximum == 0 ? 0 : (double)value / (double)maximum;
    const bool cut = share > 1 && columns > 0;
    int filled = cut ? (columns - 1) * steps : (int)(share * columns * steps + 0.5);

    if (filled == 0 && !cut) {
        return;
    }
    begin_ink(page, INK_BAR);
    for (; filled >= steps; filled -= steps) {
        buffer_append_text(page->buffer, page->style->utf8 ? eighths[steps] : "#");
        page->column++;
    }
    if (filled > 0) {
        buffer_append_text(page->buffer, eighths[filled]);
        page->column++;
    }
    if (cut) {
        buffer_append_text(page->buffer, page->style->utf8 ? "\u25b6" : ">");
        page->column++;
    }
    end_ink(page, INK_BAR);
}

/* True when text begins with a unit that must not be parted from its number. */
static bool is_unit(const char *text)
{
    static const char *const units[] = {"B", "MiB", "GiB", "%"};

    for (size_t i = 0; i < sizeof(units) / sizeof(units[0]); i++) {
        size_t bytes = strlen(units[i]);
        if (strncmp(text, units[i], bytes) == 0 && !isalnum((unsigned char)text[bytes])) {
            return true;
        }
    }
    return false;
}

/* The first word of text, a number with its unit; to be freed. NULL: memory is short. */
static char *first_word(struct page *page, const char *text)
{
    size_t bytes = strcspn(text, " \n");
    const char *digit = text + strspn(text, "<~+-");

    if (isdigit((unsigned char)*digit) && text[bytes] == ' ' &&
        is_unit(text + bytes + 1)) {
        bytes += 1 + strcspn(text + bytes + 1, " \n");
    }
    char *word = strndup(text, bytes);
    if (word == NULL) {
        page->buffer->failed = true;
    }
    return word;
}

static void break_line(struct page *page, enum ink ink, int indent)
{
    end_ink(page, ink);
    page_end_line(page);
    page_at(page, indent);
    begin_ink(page, ink);
}

/* Puts word behind a blank, or on the next line when it does not fit on this one. */
static void put_wrapped(struct page *page, enum ink ink, const char *word, int indent)
{
    int columns = safe_text_columns(word, page->style->utf8);

    if (page->column > indent && page->column + 1 + columns > page->width) {
        break_line(page, ink, indent);
    } else if (page->column > indent) {
        page_at(page, page->column + 1);
    }
    put_bare(page, word);
}

void page_paragraph(struct page *page, enum ink ink, const char *text, int indent)
{
    if (page->column < indent) {
        page_at(page, indent);
    }
    begin_ink(page, ink);
    while (*text != '\0') {
        char *word = first_word(page, text);
        if (word == NULL) {
            return;
        }
        text += strlen(word);
        if (*word != '\0') {
            put_wrapped(page, ink, word, indent);
        }
        free(word);
        if (*text == '\n') {
            break_line(page, ink, indent);
        }
        text += *text != '\0' ? 1 : 0;
    }
    end_ink(page, ink);
    page_end_line(page);
}

void page_item(struct page *page, enum ink ink, const char *text, int indent)
{
    const char *separator = page_separator(page);
    const bool utf8 = page->style->utf8;
    const int columns =
        safe_text_columns(separator, utf8) + safe_text_columns(text, utf8);

    if (page->column + columns > page->width) {
        page_end_line(page);
        page_at(page, indent);
    } else {
        page_put(page, INK_DIM, separator);
    }
    page_put(page, ink, text);
}

/* The bytes of the mark, with its blank, that makes line a comment; 0: it is none. */
static size_t comment_mark(const char *line)
{
    static const char *const marks[] = {"# ", "; ", "-- ", "// "};

    for (size_t i = 0; i < sizeof(marks) / sizeof(marks[0]); i++) {
        if (strncmp(line, marks[i], strlen(marks[i])) == 0) {
            return strlen(marks[i]);
        }
    }
    return 0;
}

/* How many bytes of words stand in one line of room bytes, at least one word. */
static size_t words_that_fit(const char *words, size_t bytes, size_t room)
{
    size_t fit = 0;

    for (size_t i = 1; i <= bytes; i++) {
        if ((i == bytes || words[i] == ' ') && (i <= room || fit == 0)) {
            fit = i;
        }
    }
    return fit;
}

void page_verbatim_line(
    struct page *page, enum ink ink, const char *line, size_t bytes, int indent)
{
    const size_t mark = comment_mark(line);
    const size_t room = page->width > indent ? (size_t)(page->width - indent) : 0;
    const char *words = line + mark;
    size_t left = bytes - mark;

    while (mark > 0 && mark + left > room) {
        const size_t fit = words_that_fit(words, left, room > mark ? room - mark : 0);
        if (fit == left) {
            break;
        }
        page_at(page, indent);
        page_printf(page, ink, "%.*s%.*s", (int)mark, line, (int)fit, words);
        page_end_line(page);
        words += fit + 1;
        left -= fit + 1;
    }
    page_at(page, indent);
    page_printf(page, ink, "%.*s%.*s", (int)mark, line, (int)left, words);
    page_end_line(page);
}

void page_verbatim(struct page *page, enum ink ink, const char *text, int indent)
{
    while (*text != '\0') {
        size_t bytes = strcspn(text, "\n");
        page_verbatim_line(page, ink, text, bytes, indent);
        text += bytes + (text[bytes] == '\n' ? 1 : 0);
    }
}

void page_end_line(struct page *page)
{
    buffer_append_char(page->buffer, '\n');
    page->column = 0;
    page->blanks = 0;
}

void page_heading(struct page *page, const char *text)
{
    page_end_line(page);
    page_put(page, INK_STRONG, text);
}

const char *page_separator(const struct page *page)
{
    return page->style->utf8 ? " \u00b7 " : " | ";
}

const char *page_plus_minus(const struct page *page)
{
    return page->style->utf8 ? "\u00b1" : "+-";
}
