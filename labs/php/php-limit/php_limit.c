/*
 * php-limit: the last moment before a limit of 16 MB refuses something, seen from outside.
 * See README.md.
 *
 * A first run tells after how many rows that is; a second one, which does the same, stops
 * there.
 */
#include <inttypes.h>
#include <stdio.h>

#include "lab_script.h"
#include "looked_on.h"
#include "published.h"

enum { NAME_BYTES = 32 };
static const char limit_text[] = "16M";

static int64_t headroom(int64_t limit, int64_t used)
{
    return lab_difference(limit, used);
}

/* By how much the next chunk would pass the limit. */
static int64_t excess(int64_t limit, int64_t real)
{
    return lab_difference(real, limit - (int64_t)STRATA_CHUNK_BYTES);
}

static void print_table(
    const struct lab *lab, int64_t published_limit, const struct outside *outside)
{
    int64_t used = lab_php_point(lab, "last", "used");
    int64_t real = lab_php_point(lab, "last", "real");
    const struct {
        const char *label;
        struct outside_row row;
    } lines[] = {
        {"used", {{limit_used, used, outside->used}}},
        {"real", {{limit_real, real, outside->real}}},
        {"limit", {{published_limit, LIMIT_BYTES, outside->limit}}},
        {"headroom the app sees",
            {{headroom(published_limit, limit_used), headroom(LIMIT_BYTES, used),
                headroom(outside->limit, outside->used)}}},
        {"real + a chunk - limit",
            {{excess(published_limit, limit_real), excess(LIMIT_BYTES, real),
                excess(outside->limit, outside->real)}}},
        {"asked for when refused",
            {{limit_asked, lab_php_figure(lab, "tried"), LAB_UNKNOWN}}},
        {"rows", {{LAB_UNKNOWN, lab_php_figure(lab, "count"), LAB_UNKNOWN}}},
    };
    outside_print_head("last moment before the refusal");
    for (size_t i = 0; i < sizeof(lines) / sizeof(lines[0]); i++) {
        outside_print_row(lines[i].label, &lines[i].row);
    }
}

int main(int count, char **arguments)
{
    static struct lab lab;
    struct looked_on php;
    struct outside outside;
    char rows_text[NAME_BYTES];
    lab_begin(&lab, count, arguments, "php-limit: a limit of 16 MB, from outside");
    if (!looked_on_start(&lab, &php, lab_script, limit_text, NULL)) {
        return lab_end(&lab);
    }
    looked_on_end(&lab, &php);
    int64_t rows = lab_php_figure(&lab, "count");
    snprintf(rows_text, sizeof(rows_text), "%" PRId64, rows);
    if (!looked_on_start(&lab, &php, lab_script, limit_text, rows_text)) {
        return lab_end(&lab);
    }
    looked_on_read(&lab, &php, "last", &outside);
    looked_on_end(&lab, &php);
    print_table(&lab, LIMIT_BYTES, &outside);
    lab_expect_equal(
        &lab, "rows of the run that stopped", lab_php_figure(&lab, "count"), rows);
    lab_expect_equal(&lab, "limit, from outside", outside.limit, LIMIT_BYTES);
    lab_expect_equal(&lab, "real, from outside", outside.real, limit_real_here());
    lab_expect_at_least(
        &lab, "real + a chunk - limit", excess(outside.limit, outside.real), 1);
    return lab_end(&lab);
}
