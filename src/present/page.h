/* page.h - lines of text for a terminal: columns, colours, bars, wrapped sentences. */
#ifndef STRATA_PRESENT_PAGE_H
#define STRATA_PRESENT_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "present/style.h"

enum ink {
    INK_PLAIN,
    INK_STRONG, /* headings and names */
    INK_DIM,    /* what explains a number */
    INK_BAR,
    INK_INFO,
    INK_WARN,
    INK_CRITICAL,
    INK_COUNT,
};

/*
 * The ink whose code begins at text, as a page with colours writes it, and how long the code is;
 * INK_PLAIN with the end of all inks. Text that a page was given holds none: all that begins with
 * an escape is the page's own. False: no code begins there.
 */
bool page_ink_at(const char *text, enum ink *ink, size_t *bytes);

/*
 * Columns count from 0. Blanks are held back until something is written behind them, so no
 * line ends in one. All text is passed through safe_text: callers may hand over
 * names, paths and messages as they are.
 */
struct page {
    struct buffer *buffer;
    const struct present_style *style;
    int width;
    int column;
    int blanks; /* asked for, not yet written; included in column */
};

/* The page appends to buffer; both pointers are borrowed. */
void page_init(
    struct page *page, const struct present_style *style, struct buffer *buffer);

void page_put(struct page *page, enum ink ink, const char *text);
void page_printf(struct page *page, enum ink ink, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Goes on at column; when the line is already there or further, one blank behind it. */
void page_at(struct page *page, int column);

/* text so that it ends before column end; it is never cut. */
void page_right(struct page *page, enum ink ink, const char *text, int end);

/* An amount in the column that all sections share, so that one glance runs down it. */
void page_amount(struct page *page, enum ink ink, const char *text);

/* Where text behind an amount begins. */
int page_text_column(const struct page *page);

/* text cut to columns, the cut shown by one character. */
void page_fit(struct page *page, enum ink ink, const char *text, int columns);

/*
 * A bar of value / maximum of columns, in eighths where the terminal can. Beyond the maximum it
 * ends in an arrow head: it is cut there.
 */
void page_bar(struct page *page, uint64_t value, uint64_t maximum, int columns);

/*
 * text in words from here on; further lines begin at column indent. A word longer than a
 * line is not broken. Ends the line.
 */
void page_paragraph(struct page *page, enum ink ink, const char *text, int indent);

/*
 * text behind a separator, as one item of a line; where it finds no room, at column indent of the
 * next line without one.
 */
void page_item(struct page *page, enum ink ink, const char *text, int indent);

/*
 * Each line of text at column indent, never wrapped, as it is meant to be pasted; but for a
 * comment ("# ", "; ", "-- ", "// "), which goes on as a comment of the next line.
 */
void page_verbatim(struct page *page, enum ink ink, const char *text, int indent);

/* The same for one line of bytes. */
void page_verbatim_line(
    struct page *page, enum ink ink, const char *line, size_t bytes, int indent);

void page_end_line(struct page *page);

/* An empty line, then text as a heading; the line stays open. */
void page_heading(struct page *page, const char *text);

/* " · " between the items of one line, " | " in ASCII. */
const char *page_separator(const struct page *page);

/* "±" or "+-" */
const char *page_plus_minus(const struct page *page);

#endif
