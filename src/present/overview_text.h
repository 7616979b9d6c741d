/* overview_text.h - `strata`: the host at a glance, for people. */
#ifndef STRATA_PRESENT_OVERVIEW_TEXT_H
#define STRATA_PRESENT_OVERVIEW_TEXT_H

#include "base/buffer.h"
#include "present/overview.h"
#include "present/style.h"

/*
 * Appends a line on the host's memory and one row for each target, in the order given. The
 * human view shows the first rows and counts the others. A column in which no row has a
 * number is left out, and said so.
 */
void present_overview_text(const struct overview *overview,
    const struct present_style *style, struct buffer *buffer);

#endif
