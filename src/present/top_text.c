/*
 * top_text.c - what stands where on the screen of `strata top`.
 *
 * Pure: the state of the screen in, lines out; what a key does is in cmd. The table is that of
 * the overview. The screen always has all its lines, so that a painter may compare it with the one
 * before.
 */
#include "present/top_text.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "present/page.h"

/* Title, state and head above the list; keys below. */
enum { LINES_ABOVE = 3, LINES_BELOW = 1, LIST_MINIMUM = 4, PANE_MINIMUM = 4 };

static const char *const other_names[TOP_SORT_COUNT - OVERVIEW_COLUMNS] = {
    "name", "pid", "finding"};

static const char help_text[] =
    "up, down, j, k      one line\n"
    "page up, page down  one screen\n"
    "home, end, g, G     first, last line\n"
    "enter               layers and findings of the line, in a pane;\n"
    "                    again or escape closes it\n"
    "tab                 arrows move in the pane, and back\n"
    "right, left, +, -   show or hide the processes of a pool\n"
    "s, S                sort by the next, the previous column\n"
    "r                   the other way round\n"
    "/                   only names that contain what you type\n"
    "space, p            pause and go on\n"
    "u                   look now\n"
    "h, ?                this\n"
    "q                   end\n"
    "\n"
    "Sizes are MiB. Columns of the allocator fill as strata looks\n"
    "inside of the largest targets; - is not known, never nothing.\n";

const char *top_help_text(void)
{
    return help_text;
}

const char *top_sort_name(int sort)
{
    return sort < OVERVIEW_COLUMNS ? overview_column_title(sort)
                                   : other_names[sort - OVERVIEW_COLUMNS];
}

int top_sort_find(const char *name)
{
    for (int sort = 0; sort < TOP_SORT_COUNT; sort++) {
        if (strcmp(top_sort_name(sort), name) == 0) {
            return sort;
        }
    }
    return -1;
}

/* ---- order */

struct order {
    int sort;
    bool reversed;
};

/* A row with the members behind it. */
struct family {
    size_t first;
    size_t count;
    const struct overview_line *lines; /* all of them, as they were */
};

static uint64_t finding_weight(const struct overview_line *line)
{
    if (line->list == NULL || line->list->count == 0) {
        return 0;
    }
    const struct finding *finding = &line->list->items[0];
    const uint64_t bytes = finding->predicts ? finding->predicted_high_bytes >> 4 : 0;
    return ((uint64_t)finding->severity + 1) * (UINT64_MAX / 8) +
           bytes % (UINT64_MAX / 8);
}

/* Negative when a stands before b. */
static int compare_numbers(const struct overview_line *a, const struct overview_line *b,
    const struct order *order)
{
    bool a_known = true;
    bool b_known = true;
    uint64_t a_value = finding_weight(a);
    uint64_t b_value = finding_weight(b);

    if (order->sort < OVERVIEW_COLUMNS) {
        a_value = overview_cell(a, order->sort, &a_known);
        b_value = overview_cell(b, order->sort, &b_known);
    }
    if (a_known != b_known) {
        return a_known ? -1 : 1;
    }
    const int larger_first = (a_value < b_value) - (a_value > b_value);
    return order->reversed ? -larger_first : larger_first;
}

static int compare_lines(const struct overview_line *a, const struct overview_line *b,
    const struct order *order)
{
    const int by_name = strcmp(a->name, b->name);
    const int by_pid = (a->pid > b->pid) - (a->pid < b->pid);
    int result = 0;

    if (order->sort == TOP_SORT_NAME) {
        result = order->reversed ? -by_name : by_name;
    } else if (order->sort == TOP_SORT_PID) {
        result = order->reversed ? -by_pid : by_pid;
    } else {
        result = compare_numbers(a, b, order);
    }
    if (result == 0) {
        result = by_name != 0 ? by_name : by_pid;
    }
    return result;
}

static int compare_member_lines(const void *left, const void *right, void *order)
{
    return compare_lines(left, right, order);
}

static int compare_families(const void *left, const void *right, void *order)
{
    const struct family *a = left;
    const struct family *b = right;

    return compare_lines(&a->lines[a->first], &b->lines[b->first], order);
}

static size_t find_families(
    const struct overview_line *lines, size_t count, struct family *families)
{
    size_t found = 0;

    for (size_t i = 0; i < count; i++) {
        if (i == 0 || !lines[i].member) {
            families[found++] = (struct family){.first = i, .lines = lines};
        }
        families[found - 1].count++;
    }
    return found;
}

void top_sort_lines(struct overview_line *lines, size_t count, int sort, bool reversed)
{
    struct order order = {.sort = sort, .reversed = reversed};
    struct overview_line *before = malloc((count + 1) * sizeof(*before));
    struct family *families = calloc(count + 1, sizeof(*families));
    size_t placed = 0;

    if (before != NULL && families != NULL && count > 0) {
        memcpy(before, lines, count * sizeof(*lines));
        const size_t found = find_families(before, count, families);
        qsort_r(families, found, sizeof(*families), compare_families, &order);
        for (size_t i = 0; i < found; i++) {
            memcpy(&lines[placed], &before[families[i].first],
                families[i].count * sizeof(*lines));
            if (families[i].count > 2) {
                qsort_r(&lines[placed + 1], families[i].count - 1, sizeof(*lines),
                    compare_member_lines, &order);
            }
            placed += families[i].count;
        }
    }
    free(before);
    free(families);
}

bool top_filter_matches(const char *name, const char *filter)
{
    return strcasestr(name, filter) != NULL;
}

/* ---- the screen */

size_t top_pane_height(const struct top_screen *screen)
{
    const int inside = screen->height - LINES_ABOVE - LINES_BELOW;

    if (screen->pane == TOP_PANE_NONE) {
        return 0;
    }
    /* One line of it is the rule above the pane. */
    const int list = inside / 3 > LIST_MINIMUM ? inside / 3 : LIST_MINIMUM;
    const int pane = inside - list - 1;
    return pane >= PANE_MINIMUM ? (size_t)pane : PANE_MINIMUM;
}

size_t top_list_height(const struct top_screen *screen)
{
    int inside = screen->height - LINES_ABOVE - LINES_BELOW;

    if (screen->pane != TOP_PANE_NONE) {
        inside -= (int)top_pane_height(screen) + 1;
    }
    return inside > 1 ? (size_t)inside : 1;
}

static void title_line(struct page *page, const struct top_screen *screen)
{
    if (screen->host == NULL) {
        page_put(page, screen->host_failed ? INK_CRITICAL : INK_DIM,
            screen->host_failed ? "cannot read the processes of the host; trying again"
                                : "reading the host");
    } else {
        overview_host_line(page, screen->host);
        if (screen->age_seconds >= 1) {
            page_put(page, INK_DIM, page_separator(page));
            page_printf(page, screen->age_seconds >= 10 ? INK_WARN : INK_DIM,
                "%.0f s old", screen->age_seconds);
        }
    }
    page_end_line(page);
}

static void state_line(struct page *page, const struct top_screen *screen)
{
    if (screen->paused) {
        page_put(page, INK_WARN, "paused");
        page_put(page, INK_DIM, page_separator(page));
    }
    page_printf(page, INK_DIM, "%s by %s%s", quantity_count(screen->count, "line").text,
        top_sort_name(screen->sort), screen->reversed ? ", reversed" : "");
    if (*screen->filter != '\0') {
        page_put(page, INK_DIM, page_separator(page));
        page_printf(page, INK_PLAIN, "names with %s", screen->filter);
    }
    page_end_line(page);
}

static void keys_line(struct page *page, const struct top_screen *screen)
{
    if (screen->filter_is_open) {
        page_printf(page, INK_STRONG, "names with: %s_", screen->filter);
        page_put(page, INK_DIM, "  enter keeps, escape drops");
    } else {
        page_put(page, INK_DIM,
            "q end  enter detail  arrows move, unfold  s sort  / filter  space pause  h "
            "help");
    }
    page_end_line(page);
}

/* The lines of text from first on, exactly as many as there is room for. */
static void pane_lines(struct page *page, const char *text, size_t first, size_t height)
{
    for (size_t i = 0; i < first && *text != '\0'; i++) {
        const char *end = strchr(text, '\n');
        text = end != NULL ? end + 1 : "";
    }
    for (size_t i = 0; i < height; i++) {
        const size_t bytes = strcspn(text, "\n");
        buffer_append(
            page->buffer, text, bytes); /* was made by a page: is safe, has inks */
        page_end_line(page);
        text += bytes + (text[bytes] == '\n' ? 1 : 0);
    }
}

static void rule_line(struct page *page, const struct top_screen *screen)
{
    const char *title = screen->pane == TOP_PANE_HELP ? "keys"
                        : screen->count > screen->selected
                            ? screen->lines[screen->selected].name
                            : "";

    page_put(page, INK_DIM, page->style->utf8 ? "\u2500\u2500 " : "-- ");
    page_fit(page, INK_STRONG, title, 40);
    page_end_line(page);
}

void present_top_text(const struct top_screen *screen, const struct present_style *style,
    struct buffer *buffer, int *selected_line)
{
    const size_t height = top_list_height(screen);
    struct page page;

    *selected_line = -1;
    page_init(&page, style, buffer);
    const struct overview_grid grid =
        overview_grid_plan(&page, screen->lines, screen->count);
    title_line(&page, screen);
    state_line(&page, screen);
    overview_table_head(
        &page, &grid, screen->sort < OVERVIEW_COLUMNS ? screen->sort : -1);
    for (size_t i = 0; i < height; i++) {
        const size_t index = screen->first + i;
        if (index < screen->count) {
            overview_table_line(&page, &grid, &screen->lines[index]);
        } else {
            page_end_line(&page);
        }
        if (index == screen->selected && screen->count > 0) {
            *selected_line = LINES_ABOVE + (int)i;
        }
    }
    if (screen->pane != TOP_PANE_NONE) {
        rule_line(&page, screen);
        pane_lines(&page, screen->pane_text, screen->pane_first, top_pane_height(screen));
    }
    keys_line(&page, screen);
}
