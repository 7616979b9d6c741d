/* overview_text.h - `strata`: the host at a glance, for people. */
#ifndef STRATA_PRESENT_OVERVIEW_TEXT_H
#define STRATA_PRESENT_OVERVIEW_TEXT_H

#include "base/buffer.h"
#include "present/overview.h"
#include "present/overview_table.h"
#include "present/style.h"

/*
 * Appends a line on the host's memory and one row for each target, in the order given. The
 * human view shows the first rows and counts the others. A column in which no row has a
 * number is left out, and said so.
 */
void present_overview_text(const struct overview *overview,
    const struct present_style *style, struct buffer *buffer);

/* The same of lines that were chosen and put in order already. */
void present_overview_lines(const struct facts *host, const struct overview_line *lines,
    size_t count, const struct present_style *style, struct buffer *buffer);

#endif
