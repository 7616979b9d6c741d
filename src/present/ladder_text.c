/*
 * ladder_text.c - the account: what the application says, what its allocator holds, what
 * the kernel keeps resident, what the cgroup is billed for; each step with its gap.
 *
 * A layer without a number is a line with "-" and the reason. A gap is only shown
 * between two known layers; its sign is always printed, since layers may cross (held but
 * never touched memory makes resident smaller than held). Each amount is rounded by itself,
 * and a gap is the difference of the two that are shown.
 */
#include "present/ladder_text.h"

#include <stdio.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/glibc_total.h"
#include "model/known.h"
#include "model/mysql_layers.h"
#include "present/container_text.h"

static const enum layer_id ladder[] = {
    LAYER_TRACKED, LAYER_IN_USE, LAYER_HELD, LAYER_RESIDENT, LAYER_CHARGED};
enum { LADDER_COUNT = sizeof(ladder) / sizeof(ladder[0]) };

enum {
    NAME_COLUMNS = 10, /* "resident" and two blanks */
    BAR_MAXIMUM = 60,
    NOTE_COLUMNS = 16, /* kept free behind the longest bar */
    GAP_INDENT = 2,
    GAP_BYTES = 320,
    SHOWN_PARTS = 5,
    SMALL_RESIDUAL_SHARE = 100, /* less than this part of resident goes without a row */
    VISIBLE_BYTES = 52429,      /* less than this is 0.0 MiB */
    EDGES_MIN_BYTES = 8 << 20, /* less in pages with blocks on them is not worth a word */
};

static bool is_known(const struct layer *layer)
{
    return layer->state == FACT_OK || layer->state == FACT_STALE;
}

static uint64_t positive(int64_t bytes)
{
    return bytes < 0 ? 0 : (uint64_t)bytes;
}

static uint64_t bytes_of(const struct layer *layer)
{
    return positive(layer->bytes);
}

static struct quantity amount(const struct page *page, uint64_t bytes)
{
    return quantity_bytes(bytes, page->style->exact_bytes);
}

static struct quantity signed_amount(const struct page *page, int64_t bytes)
{
    return quantity_signed_bytes(bytes, page->style->exact_bytes);
}

static const char *ladder_name(enum layer_id id)
{
    return id == LAYER_IN_USE ? "in use" : layer_names[id];
}

static void missing_row(struct page *page, const char *name, const struct layer *layer)
{
    int text_column = page_text_column(page);

    page_amount(page, INK_DIM, "-");
    page_at(page, text_column);
    page_put(page, INK_DIM, name);
    page_at(page, text_column + NAME_COLUMNS);
    page_paragraph(page, INK_DIM,
        layer->source != NULL ? layer->source : fact_state_names[layer->state],
        text_column + NAME_COLUMNS);
}

static void uncertainty(struct page *page, const struct layer *layer)
{
    if (layer->plus_minus_bytes >= (page->style->exact_bytes ? 1 : VISIBLE_BYTES)) {
        page_at(page, page->column + 1);
        page_printf(page, INK_DIM, "%s%s", page_plus_minus(page),
            amount(page, layer->plus_minus_bytes).text);
    }
}

/* Never shown as the whole. */
static void bound_note(struct page *page, enum layer_bound bound)
{
    if (bound != BOUND_NONE) {
        page_at(page, page->column + 1);
        page_put(page, INK_DIM, bound == BOUND_AT_LEAST ? "at least" : "at most");
    }
}

static void layer_row(
    struct page *page, const char *name, const struct layer *layer, uint64_t longest)
{
    int bar_column = page_text_column(page) + NAME_COLUMNS;
    int bar = page->width - bar_column - NOTE_COLUMNS;

    page_amount(page, INK_STRONG, amount(page, bytes_of(layer)).text);
    page_at(page, page_text_column(page));
    page_put(page, INK_STRONG, name);
    page_at(page, bar_column);
    page_bar(page, bytes_of(layer), longest, bar < BAR_MAXIMUM ? bar : BAR_MAXIMUM);
    if (layer->bound != BOUND_NONE) {
        bound_note(page, layer->bound);
    } else {
        uncertainty(page, layer);
    }
    page_end_line(page);
}

/*
 * Between in use and held: what is free, divided by what it costs. What is not resident is the
 * figure of the table of arenas; what is comes by subtraction, so that the amounts add up.
 */
static void name_free_gap(
    const struct page *page, const struct snapshot *snapshot, char text[GAP_BYTES])
{
    const struct layer *layers = snapshot->layers;
    const bool exact = page->style->exact_bytes;
    /* On pages that blocks in use keep resident. */
    const uint64_t beside = glibc_total_of(snapshot).free_shared_bytes;

    if (!is_known(&layers[LAYER_FREE_RESIDENT])) {
        (void)snprintf(text, GAP_BYTES, "free in the allocator");
        return;
    }
    const uint64_t whole = bytes_of(&layers[LAYER_FREE_RESIDENT]);
    const uint64_t absent = number_subtract(
        number_subtract(bytes_of(&layers[LAYER_HELD]), bytes_of(&layers[LAYER_IN_USE])),
        number_add(whole, beside));
    const int64_t resident = quantity_gap((int64_t)absent,
        quantity_gap(layers[LAYER_IN_USE].bytes, layers[LAYER_HELD].bytes, exact), exact);

    if (beside >= EDGES_MIN_BYTES) {
        (void)snprintf(text, GAP_BYTES,
            "free in the allocator: %s in whole resident pages, %s beside blocks in "
            "use, %s not resident",
            amount(page, whole).text,
            amount(page, positive(quantity_gap((int64_t)whole, resident, exact))).text,
            amount(page, absent).text);
    } else {
        (void)snprintf(text, GAP_BYTES, "free in the allocator: %s resident, %s not",
            amount(page, positive(resident)).text, amount(page, absent).text);
    }
}

/* Between held and resident: two amounts that pull in opposite directions. */
static void name_resident_gap(
    const struct page *page, const struct snapshot *snapshot, char text[GAP_BYTES])
{
    const struct layer *layers = snapshot->layers;
    const struct layer *untouched = &layers[LAYER_NEVER_TOUCHED];

    if (!is_known(untouched)) {
        (void)snprintf(
            text, GAP_BYTES, "outside the allocator, less what was never touched");
        return;
    }
    if (untouched->bytes == 0) {
        (void)snprintf(text, GAP_BYTES, "outside the allocator: code, files, stacks");
        return;
    }
    const bool exact = page->style->exact_bytes;
    const int64_t gap =
        quantity_gap(layers[LAYER_HELD].bytes, layers[LAYER_RESIDENT].bytes, exact);
    const int64_t outside = quantity_gap(-untouched->bytes, gap, exact);
    (void)snprintf(text, GAP_BYTES, "outside the allocator %s, never touched %s",
        signed_amount(page, outside).text, signed_amount(page, -untouched->bytes).text);
}

/* What databases count and map beside malloc, over all members. */
static uint64_t tracked_beside_malloc(const struct snapshot *snapshot)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        bytes = number_add(bytes, mysql_view_of(&snapshot->members[i]).outside_bytes);
    }
    return number_smaller(bytes, INT64_MAX);
}

/*
 * Between tracked and in use: a database counts what it maps itself, and leaves out blocks
 * that no instrument counts. Counters and heap are read one after the other, so of a busy
 * server more may be tracked than is in use.
 */
static void name_tracked_gap(
    const struct page *page, const struct snapshot *snapshot, char text[GAP_BYTES])
{
    const struct layer *layers = snapshot->layers;
    const bool exact = page->style->exact_bytes;
    const int64_t gap =
        quantity_gap(layers[LAYER_TRACKED].bytes, layers[LAYER_IN_USE].bytes, exact);
    const int64_t beside = (int64_t)tracked_beside_malloc(snapshot);
    const int64_t rest = quantity_gap(-beside, gap, exact);

    if (beside == 0) {
        (void)snprintf(text, GAP_BYTES, "%s",
            gap < 0
                ? "tracked, and not in malloc: mapped beside it, or freed since it was "
                  "counted"
                : "not tracked by the application");
        return;
    }
    (void)snprintf(text, GAP_BYTES, "beside malloc %s, %s %s",
        signed_amount(page, -beside).text,
        rest < 0 ? "counted and no longer in malloc (it moved meanwhile)"
                 : "in malloc and not tracked",
        signed_amount(page, rest).text);
}

static const char *charged_gap_name(const struct snapshot *snapshot)
{
    return snapshot->layers[LAYER_CHARGED].bytes < snapshot->layers[LAYER_RESIDENT].bytes
               ? "file pages and shared memory billed to other cgroups"
               : "page cache, kernel memory, others in the cgroup";
}

static void gap_row(struct page *page, const struct snapshot *snapshot,
    enum layer_id upper, enum layer_id lower)
{
    const int64_t gap = quantity_gap(snapshot->layers[upper].bytes,
        snapshot->layers[lower].bytes, page->style->exact_bytes);
    int indent = page_text_column(page) + GAP_INDENT;
    char text[GAP_BYTES];

    if (upper == LAYER_IN_USE && lower == LAYER_HELD) {
        name_free_gap(page, snapshot, text);
    } else if (upper == LAYER_HELD && lower == LAYER_RESIDENT) {
        name_resident_gap(page, snapshot, text);
    } else if (upper == LAYER_RESIDENT && lower == LAYER_CHARGED) {
        (void)snprintf(text, GAP_BYTES, "%s", charged_gap_name(snapshot));
    } else if (upper == LAYER_TRACKED && lower == LAYER_IN_USE) {
        name_tracked_gap(page, snapshot, text);
    } else {
        (void)snprintf(
            text, GAP_BYTES, "from %s to %s", ladder_name(upper), ladder_name(lower));
    }
    page_amount(page, INK_DIM, signed_amount(page, gap).text);
    page_paragraph(page, INK_DIM, text, indent);
}

/* Other ways to count the resident set; shown below it, without a bar. */
static void resident_variant(
    struct page *page, const struct layer *layer, const char *title)
{
    if (is_known(layer)) {
        page_amount(page, INK_PLAIN, amount(page, bytes_of(layer)).text);
        page_at(page, page_text_column(page) + GAP_INDENT);
        page_put(page, INK_DIM, title);
        uncertainty(page, layer);
        page_end_line(page);
    }
}

static void resident_variants(struct page *page, const struct snapshot *snapshot)
{
    resident_variant(
        page, &snapshot->layers[LAYER_PSS], "pss: shared pages divided by their users");
    if (snapshot->member_count > 1) {
        resident_variant(page, &snapshot->layers[LAYER_UNIQUE],
            "unique: frames of all members, each counted once");
        resident_variant(page, &snapshot->layers[LAYER_EXCLUSIVE],
            "exclusive: of the unique ones, mapped by nobody else");
        page_amount(page, INK_DIM, amount(page, snapshot->rss_sum_bytes).text);
        page_at(page, page_text_column(page) + GAP_INDENT);
        page_put(page, INK_DIM, "sum of RSS: counts shared pages once for each member");
        page_end_line(page);
    }
}

/* What bounds the charged layer, and how far away that is. */
static void limit_row(struct page *page, const struct container_view *view)
{
    if (view->facts == NULL || !fact_is_known(&view->limit)) {
        return;
    }
    page_amount(page, INK_PLAIN, amount(page, view->limit.value).text);
    page_at(page, page_text_column(page) + GAP_INDENT);
    page_printf(page, INK_DIM, "limit%s",
        container_limit_is_above(view->facts) ? " of a cgroup above it" : "");
    if (fact_is_known(&view->headroom)) {
        page_printf(page, INK_DIM, ", %s left", amount(page, view->headroom.value).text);
    }
    page_end_line(page);
}

void ladder_text(struct page *page, const struct snapshot *snapshot)
{
    const struct layer *layers = snapshot->layers;
    uint64_t longest = 0;
    int upper = -1;

    for (int i = 0; i < LADDER_COUNT; i++) {
        if (ladder[i] != LAYER_CHARGED && is_known(&layers[ladder[i]]) &&
            bytes_of(&layers[ladder[i]]) > longest) {
            longest = bytes_of(&layers[ladder[i]]);
        }
    }
    for (int i = 0; i < LADDER_COUNT; i++) {
        const struct layer *layer = &layers[ladder[i]];
        if (!is_known(layer)) {
            missing_row(page, ladder_name(ladder[i]), layer);
            continue;
        }
        if (upper >= 0) {
            gap_row(page, snapshot, ladder[upper], ladder[i]);
        }
        layer_row(page, ladder_name(ladder[i]), layer, longest);
        if (ladder[i] == LAYER_RESIDENT) {
            resident_variants(page, snapshot);
        }
        upper = i;
    }
    limit_row(page, &snapshot->container);
}

static void part_row(
    struct page *page, const char *bytes, const char *percent, const char *title)
{
    enum { PERCENT_COLUMNS = 7 };
    int percent_end = page_text_column(page) + PERCENT_COLUMNS;

    page_amount(page, INK_PLAIN, bytes);
    page_right(page, INK_DIM, percent, percent_end);
    page_at(page, percent_end + 2);
    page_fit(page, INK_PLAIN, title, page->width - page->column);
    page_end_line(page);
}

/* "~" marks what rests on exclusion or proportion. */
static struct quantity part_amount(const struct page *page, const struct part *part)
{
    struct quantity out;

    (void)snprintf(out.text, sizeof(out.text), "%s%.40s", part->estimate ? "~" : "",
        amount(page, part->bytes).text);
    return out;
}

/* The largest, each at least 1 % of the layer; the rest is folded, but never a single part. */
static size_t shown_parts_of(const struct layer *layer)
{
    size_t shown = 0;

    while (shown < layer->part_count && shown < SHOWN_PARTS &&
           layer->parts[shown].bytes >= bytes_of(layer) / 100) {
        shown++;
    }
    return layer->part_count - shown == 1 ? layer->part_count : shown;
}

static void residual_row(struct page *page, const struct snapshot *snapshot)
{
    const struct layer *residual = &snapshot->layers[LAYER_RESIDUAL];
    uint64_t magnitude =
        residual->bytes < 0 ? -(uint64_t)residual->bytes : (uint64_t)residual->bytes;

    if (!is_known(residual)) {
        missing_row(page, "residual", residual);
        return;
    }
    part_row(page, signed_amount(page, residual->bytes).text,
        quantity_percent(magnitude, bytes_of(&snapshot->layers[LAYER_RESIDENT])).text,
        "residual: resident, and in no part");
}

/* The residual row shows this part already: the same bytes, by another name. */
static bool is_residual(const struct snapshot *snapshot, const struct part *part)
{
    const struct layer *residual = &snapshot->layers[LAYER_RESIDUAL];

    return strcmp(part->id, "unexplained") == 0 && is_known(residual) &&
           residual->bytes >= 0 && part->bytes == bytes_of(residual);
}

/* Near nothing: told behind the smaller parts. */
static bool is_small(const struct layer *residual, const struct layer *resident)
{
    return is_known(residual) && (residual->bytes < 0 ? -(uint64_t)residual->bytes
                                                      : (uint64_t)residual->bytes) <
                                     bytes_of(resident) / SMALL_RESIDUAL_SHARE;
}

/* Parts too small for a row of their own, and a residual that is. */
static void folded_row(struct page *page, size_t count, uint64_t bytes,
    const struct snapshot *snapshot, bool with_residual)
{
    char title[QUANTITY_TEXT_BYTES * 2];
    int used =
        snprintf(title, sizeof(title), "%s", quantity_count(count, "smaller part").text);

    if (with_residual && used > 0) {
        (void)snprintf(title + used, sizeof(title) - (size_t)used, "; in no part: %s",
            signed_amount(page, snapshot->layers[LAYER_RESIDUAL].bytes).text);
    }
    part_row(page, amount(page, bytes).text,
        quantity_percent(bytes, bytes_of(&snapshot->layers[LAYER_RESIDENT])).text, title);
}

void resident_text(struct page *page, const struct snapshot *snapshot)
{
    const struct layer *resident = &snapshot->layers[LAYER_RESIDENT];
    size_t shown =
        page->style->unfolded ? resident->part_count : shown_parts_of(resident);
    uint64_t folded_bytes = 0;
    size_t folded = 0;

    if (!is_known(resident)) {
        return;
    }
    page_heading(page, "Resident");
    page_printf(
        page, INK_DIM, ": where the %s are", amount(page, bytes_of(resident)).text);
    page_end_line(page);
    for (size_t i = 0; i < resident->part_count; i++) {
        const struct part *part = &resident->parts[i];
        if (is_residual(snapshot, part)) {
            continue;
        }
        if (i < shown) {
            struct quantity bytes = part_amount(page, part);
            part_row(page, bytes.text,
                quantity_percent(part->bytes, bytes_of(resident)).text, part->title);
        } else {
            folded_bytes += part->bytes;
            folded++;
        }
    }
    const bool with_residual =
        folded > 0 && is_small(&snapshot->layers[LAYER_RESIDUAL], resident);
    if (folded > 0) {
        folded_row(page, folded, folded_bytes, snapshot, with_residual);
    }
    if (!with_residual) {
        residual_row(page, snapshot);
    }
}
