/*
 * fuzz_present.c - facts of any shape through model, findings and all renderers.
 *
 * The first byte chooses the style, the others steer a generator of facts
 * (facts_random.h), names included. Text must not hold a control character, whatever the
 * facts; no renderer may run out of bounds or of its buffer.
 */
#include <stdio.h>
#include <stdlib.h>

#include "facts_random.h"
#include "findings/finding.h"
#include "present/explain_json.h"
#include "present/explain_text.h"
#include "present/metrics.h"
#include "present/overview_json.h"
#include "present/overview_text.h"
#include "present/top_text.h"

enum { STYLE_UTF8 = 1, STYLE_EXACT = 2, STYLE_UNFOLDED = 4, STYLE_WIDE = 8 };

static void check_text(const struct buffer *buffer, bool utf8)
{
    for (size_t i = 0; i < buffer->length_bytes; i++) {
        unsigned char byte = (unsigned char)buffer->data[i];
        if ((byte < 0x20 && byte != '\n') || byte == 0x7f || (!utf8 && byte > 0x7f)) {
            (void)fprintf(stderr, "byte %02x at %zu\n", byte, i);
            abort();
        }
    }
}

static void render(const struct snapshot *snapshot, const struct finding_list *list,
    const struct present_style *style)
{
    struct overview_row row = {.snapshot = *snapshot, .list = *list};
    const struct overview overview = {.host = snapshot->facts, .rows = &row, .count = 1};
    struct buffer buffer;

    buffer_init(&buffer);
    present_explain_text(snapshot, list, NULL, style, &buffer);
    present_overview_text(&overview, style, &buffer);
    check_text(&buffer, style->utf8);
    buffer_reset(&buffer);
    present_explain_json(snapshot, list, NULL, &buffer);
    present_overview_json(&overview, &buffer);
    buffer_release(&buffer);
}

/* The page of `strata export`, with names of the facts as labels. */
static void render_metrics(
    const struct snapshot *snapshot, const struct finding_list *list)
{
    const struct facts *facts = snapshot->facts;
    struct glibc_total glibc = {.arenas = 0};
    struct metrics_target target = {
        .labels = {.name = facts->target_name, .pool = "", .unit = ""},
        .members = facts,
        .layers = snapshot->layers,
        .findings = list,
        .looked = true,
        .glibc = &glibc};
    const struct metrics_page page = {.host = facts,
        .targets = &target,
        .target_count = facts->target_name != NULL ? 1 : 0,
        .self = {.version = "0"}};
    struct buffer buffer;

    for (size_t i = 0; i < facts->process_count; i++) {
        glibc_total_add(&glibc, &facts->processes[i].glibc);
    }
    buffer_init(&buffer);
    present_metrics(&page, METRICS_OPENMETRICS, &buffer);
    present_metrics(&page, METRICS_CLASSIC, &buffer);
    check_text(&buffer, true);
    buffer_release(&buffer);
}

static void render_top(const struct snapshot *snapshot, const struct finding_list *list,
    const struct present_style *style)
{
    struct overview_row row = {.snapshot = *snapshot, .list = *list};
    const struct overview overview = {.host = snapshot->facts, .rows = &row, .count = 1};
    struct overview_line line;
    struct top_screen screen = {.host = snapshot->facts,
        .lines = &line,
        .count = 1,
        .filter = "",
        .pane_text = "",
        .height = 24};
    struct buffer buffer;
    int selected_line;

    overview_lines_fill(&overview, &line);
    buffer_init(&buffer);
    for (int sort = 0; sort < TOP_SORT_COUNT; sort++) {
        top_sort_lines(&line, 1, sort, false);
        screen.sort = sort;
        present_top_text(&screen, style, &buffer, &selected_line);
    }
    check_text(&buffer, style->utf8);
    buffer_release(&buffer);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const unsigned choice = size > 0 ? data[0] : 0;
    const struct present_style style = {
        .utf8 = (choice & STYLE_UTF8) != 0,
        .exact_bytes = (choice & STYLE_EXACT) != 0,
        .unfolded = (choice & STYLE_UNFOLDED) != 0,
        .width = (choice & STYLE_WIDE) != 0 ? 132 : STYLE_DEFAULT_WIDTH,
    };
    struct facts facts;
    struct snapshot snapshot;
    struct finding_list list;

    facts_random(&facts, size > 0 ? data + 1 : data, size > 0 ? size - 1 : 0);
    if (snapshot_build(&facts, &snapshot) == 0) {
        if (findings_run(&snapshot, &list) == 0) {
            render(&snapshot, &list, &style);
            render_metrics(&snapshot, &list);
            render_top(&snapshot, &list, &style);
            finding_list_release(&list);
        }
        snapshot_release(&snapshot);
    }
    region_release(&facts.region);
    return 0;
}
