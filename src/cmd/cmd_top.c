/*
 * cmd_top.c - `strata top`: the overview, live.
 *
 * The watch reads in threads of its own; this one waits for keys, never for a target. A key
 * changes the state of the screen, then everything is drawn anew from the moment that is held;
 * a new moment is taken when the watch has something new.
 */
#include "cmd/cmd_top.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/terminal.h"
#include "cmd/top_rows.h"
#include "cmd/top_terminal.h"
#include "present/explain_text.h"
#include "present/overview_text.h"
#include "present/top_text.h"

enum { DEFAULT_EVERY_MS = 2000, MOST = 32, REST = 4, KEY_WAIT_MS = 200 };

#define NS_PER_MS UINT64_C(1000000)

struct top {
    struct watch *watch;
    struct present_style style; /* with the width of now */
    struct top_choice choice;
    struct top_rows rows;
    bool has_rows;
    struct top_screen screen;
    bool pane_has_keys;
    struct buffer pane;   /* the text of the pane */
    char *selected_key;   /* which row the selection is on; NULL: the first */
    int32_t selected_pid; /* 0: the row itself, else one of its members */
    bool done;
};

/* ---- the selection stays on its row when rows move */

static void remember_selection(struct top *top)
{
    const struct top_screen *screen = &top->screen;

    if (screen->selected >= top->rows.count) {
        return;
    }
    const struct overview_line *line = &top->rows.lines[screen->selected];
    char *key = strdup(top_rows_of(&top->rows, screen->selected)->key);
    if (key != NULL) {
        free(top->selected_key);
        top->selected_key = key;
        top->selected_pid = line->member ? line->pid : 0;
    }
}

static void find_selection(struct top *top)
{
    struct top_screen *screen = &top->screen;

    for (size_t i = 0; top->selected_key != NULL && i < top->rows.count; i++) {
        const struct overview_line *line = &top->rows.lines[i];
        if ((line->member ? line->pid : 0) == top->selected_pid &&
            strcmp(top_rows_of(&top->rows, i)->key, top->selected_key) == 0) {
            screen->selected = i;
            return;
        }
    }
    if (screen->selected >= top->rows.count) {
        screen->selected = top->rows.count > 0 ? top->rows.count - 1 : 0;
    }
}

static void scroll_to_selection(struct top_screen *screen)
{
    const size_t height = top_list_height(screen);

    if (screen->selected < screen->first) {
        screen->first = screen->selected;
    } else if (screen->selected >= screen->first + height) {
        screen->first = screen->selected - height + 1;
    }
    if (screen->first > 0 && screen->first + height > screen->count) {
        screen->first = screen->count > height ? screen->count - height : 0;
    }
}

static void select_line(struct top *top, int64_t line)
{
    const int64_t last = (int64_t)top->rows.count - 1;

    line = line > last ? last : line;
    top->screen.selected = line > 0 ? (size_t)line : 0;
    remember_selection(top);
    if (top->screen.pane == TOP_PANE_DETAIL) {
        top->screen.pane_first = 0;
        watch_focus(top->watch, top->selected_key);
    }
}

/* ---- the moment */

static void put_rows_on_screen(struct top *top)
{
    struct top_screen *screen = &top->screen;
    const struct watch_moment *moment = &top->rows.moment;

    screen->host = moment->overview != NULL ? moment->overview->host : NULL;
    screen->host_failed = moment->counts.host_failures > 0;
    screen->lines = top->rows.lines;
    screen->count = top->rows.count;
    screen->sort = top->choice.sort;
    screen->reversed = top->choice.reversed;
    screen->filter = top->choice.filter;
    find_selection(top);
}

/* 0 or -ENOMEM; then what was shown stays. */
static int take_moment(struct top *top)
{
    struct top_rows rows;
    int rc = top_rows_take(top->watch, &top->choice, &rows);

    if (rc == 0) {
        if (top->has_rows) {
            top_rows_release(&top->rows);
        }
        top->rows = rows;
        top->has_rows = true;
        put_rows_on_screen(top);
    }
    return rc;
}

static void arrange(struct top *top)
{
    (void)top_rows_arrange(&top->choice, &top->rows); /* else they stay as they were */
    put_rows_on_screen(top);
}

/* ---- the pane */

static void fill_pane(struct top *top)
{
    struct top_screen *screen = &top->screen;

    buffer_reset(&top->pane);
    if (screen->pane == TOP_PANE_HELP) {
        buffer_append_text(&top->pane, top_help_text());
    } else if (screen->pane == TOP_PANE_DETAIL && screen->selected < top->rows.count) {
        const struct watch_look *look = top_rows_of(&top->rows, screen->selected)->look;
        if (look != NULL && look->full) {
            present_explain_text(
                &look->account.snapshot, &look->account.list, &top->style, &top->pane);
        } else {
            buffer_append_text(&top->pane, "reading\n");
        }
    }
    screen->pane_text = buffer_text(&top->pane);
}

static size_t count_text_lines(const char *text)
{
    size_t lines = 0;

    for (; *text != '\0'; text++) {
        lines += *text == '\n';
    }
    return lines;
}

static void scroll_pane(struct top *top, int64_t lines)
{
    struct top_screen *screen = &top->screen;
    const size_t height = top_pane_height(screen);
    const size_t total = count_text_lines(screen->pane_text);
    const int64_t last = total > height ? (int64_t)(total - height) : 0;
    int64_t first = (int64_t)screen->pane_first + lines;

    first = first > last ? last : first;
    screen->pane_first = first > 0 ? (size_t)first : 0;
}

static void open_pane(struct top *top, enum top_pane pane)
{
    top->screen.pane = top->screen.pane == pane ? TOP_PANE_NONE : pane;
    top->screen.pane_first = 0;
    top->pane_has_keys = top->screen.pane == TOP_PANE_HELP;
    remember_selection(top);
    watch_focus(
        top->watch, top->screen.pane == TOP_PANE_DETAIL ? top->selected_key : NULL);
}

static void close_pane(struct top *top)
{
    if (top->screen.pane != TOP_PANE_NONE) {
        open_pane(top, top->screen.pane);
    }
}

/* ---- keys */

static void move(struct top *top, int64_t lines)
{
    if (top->pane_has_keys) {
        scroll_pane(top, lines);
    } else {
        select_line(top, (int64_t)top->screen.selected + lines);
    }
}

static bool move_by_key(struct top *top, int key)
{
    const int64_t screenful =
        (int64_t)(top->pane_has_keys ? top_pane_height(&top->screen)
                                     : top_list_height(&top->screen));

    switch (key) {
    case KEY_OF_UP:
    case 'k':
        move(top, -1);
        return true;
    case KEY_OF_DOWN:
    case 'j':
        move(top, 1);
        return true;
    case KEY_OF_PAGE_UP:
        move(top, -screenful);
        return true;
    case KEY_OF_PAGE_DOWN:
        move(top, screenful);
        return true;
    case KEY_OF_HOME:
    case 'g':
        move(top, -INT32_MAX);
        return true;
    case KEY_OF_END:
    case 'G':
        move(top, INT32_MAX);
        return true;
    default:
        return false;
    }
}

static void fold(struct top *top, bool unfold)
{
    if (top->screen.selected < top->rows.count) {
        top->selected_pid = 0; /* of a member that is hidden, its row is selected */
        top_choice_fold(
            &top->choice, top_rows_of(&top->rows, top->screen.selected)->key, unfold);
        arrange(top);
        remember_selection(top);
    }
}

static void sort_by(struct top *top, int step)
{
    top->choice.sort = (top->choice.sort + step + TOP_SORT_COUNT) % TOP_SORT_COUNT;
    arrange(top);
}

static void arrange_by_key(struct top *top, int key)
{
    switch (key) {
    case 's':
        sort_by(top, 1);
        break;
    case 'S':
        sort_by(top, -1);
        break;
    case 'r':
        top->choice.reversed = !top->choice.reversed;
        arrange(top);
        break;
    case KEY_OF_RIGHT:
    case '+':
        fold(top, true);
        break;
    case KEY_OF_LEFT:
    case '-':
        fold(top, false);
        break;
    default:
        break;
    }
}

static void type_filter(struct top *top, int key)
{
    char *filter = top->choice.filter;
    const size_t bytes = strlen(filter);

    if (key == KEY_OF_ENTER) {
        top->screen.filter_is_open = false;
    } else if (key == KEY_OF_ESCAPE) {
        top->screen.filter_is_open = false;
        filter[0] = '\0';
    } else if (key == KEY_OF_ERASE && bytes > 0) {
        filter[bytes - 1] = '\0';
    } else if (key >= ' ' && key <= 0xff && bytes + 1 < TOP_FILTER_BYTES) {
        filter[bytes] = (char)key;
        filter[bytes + 1] = '\0';
    }
    arrange(top);
}

static void act_on_key(struct top *top, int key)
{
    switch (key) {
    case 'q':
        top->done = true;
        break;
    case KEY_OF_ENTER:
        open_pane(top, TOP_PANE_DETAIL);
        break;
    case 'h':
    case '?':
        open_pane(top, TOP_PANE_HELP);
        break;
    case KEY_OF_ESCAPE:
        close_pane(top);
        break;
    case KEY_OF_TAB:
        top->pane_has_keys = top->screen.pane != TOP_PANE_NONE && !top->pane_has_keys;
        break;
    case '/':
        top->screen.filter_is_open = true;
        break;
    case ' ':
    case 'p':
        top->screen.paused = !top->screen.paused;
        watch_pause(top->watch, top->screen.paused);
        break;
    case 'u':
        watch_hurry(top->watch);
        break;
    default:
        arrange_by_key(top, key);
        break;
    }
}

static void handle_key(struct top *top, int key)
{
    if (key == KEY_OF_NOTHING || key == KEY_OF_SIZE) {
        return;
    }
    if (top->screen.filter_is_open) {
        type_filter(top, key);
    } else if (!move_by_key(top, key)) {
        act_on_key(top, key);
    }
}

/* ---- drawing */

static void draw(struct top *top)
{
    struct top_screen *screen = &top->screen;
    struct buffer buffer;
    int selected_line;

    top->style.width = top_terminal_width();
    screen->height = top_terminal_height();
    screen->age_seconds =
        screen->host != NULL
            ? (double)(watch_now_ns() - top->rows.moment.host_taken_ns) / 1e9
            : 0;
    fill_pane(top);
    scroll_pane(top, 0);
    scroll_to_selection(screen);
    buffer_init(&buffer);
    present_top_text(screen, &top->style, &buffer, &selected_line);
    if (buffer_error(&buffer) == 0) {
        top_terminal_paint(buffer_text(&buffer), selected_line);
    }
    buffer_release(&buffer);
}

static void run_loop(struct top *top)
{
    while (!top->done && !top_terminal_is_ending()) {
        const uint64_t shown = top->rows.moment.sequence;
        if (!top->has_rows || watch_sequence(top->watch) != shown) {
            (void)take_moment(top);
        }
        draw(top);
        handle_key(top, top_terminal_key(KEY_WAIT_MS));
    }
}

static enum exit_code run_on_terminal(struct top *top, bool color)
{
    struct error error;

    error_reset(&error);
    const int rc = top_terminal_open(color, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        return EXIT_USAGE;
    }
    run_loop(top);
    top_terminal_close();
    return EXIT_FINE;
}

/* ---- once */

static enum exit_code print_once(struct top *top)
{
    struct buffer buffer;

    (void)watch_update(top->watch);
    int rc = take_moment(top);
    if (rc != 0 || top->rows.moment.overview == NULL) {
        complain("cannot read the host");
        return EXIT_FAILED;
    }
    buffer_init(&buffer);
    present_overview_lines(top->rows.moment.overview->host, top->rows.lines,
        top->rows.count, &top->style, &buffer);
    rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? EXIT_FINE : EXIT_FAILED;
}

/* ---- begin */

static int choose(const struct options *options, struct top_choice *choice)
{
    choice->sort = top_sort_find(options->sort != NULL ? options->sort : "resident");
    if (choice->sort < 0) {
        struct buffer names;
        buffer_init(&names);
        for (int sort = 0; sort < TOP_SORT_COUNT; sort++) {
            buffer_printf(&names, "%s%s", sort > 0 ? ", " : "", top_sort_name(sort));
        }
        complain("--sort takes one of %s, not '%s'", buffer_text(&names), options->sort);
        buffer_release(&names);
        return EXIT_USAGE;
    }
    if (options->filter != NULL && strlen(options->filter) >= TOP_FILTER_BYTES) {
        complain("--filter takes at most %d bytes", TOP_FILTER_BYTES - 1);
        return EXIT_USAGE;
    }
    if (options->filter != NULL) {
        memcpy(choice->filter, options->filter, strlen(options->filter) + 1);
    }
    return 0;
}

static enum exit_code run(struct top *top, const struct options *options)
{
    const bool color = top->style.color;

    if (options->once) {
        return print_once(top);
    }
    top->style.color = true; /* inks, which the terminal shows as it can */
    return run_on_terminal(top, color);
}

int cmd_top(const struct options *options)
{
    const uint64_t every_ms =
        options->every_ms > 0 ? options->every_ms : DEFAULT_EVERY_MS;
    const struct watch_options watching = {.root = options->root,
        .rows = WATCH_SERVICES,
        .every_ns = every_ms * NS_PER_MS,
        .most = MOST,
        .rest = REST};
    struct top top = {
        .style = terminal_style(options), .screen = {.filter = "", .pane_text = ""}};
    struct error error;

    error_reset(&error);
    if (choose(options, &top.choice) != 0) {
        return EXIT_USAGE;
    }
    int rc = options->once ? watch_open(&watching, &top.watch, &error)
                           : watch_start(&watching, &top.watch, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        return exit_code_of(rc);
    }
    buffer_init(&top.pane);
    enum exit_code code = run(&top, options);
    if (top.has_rows) {
        top_rows_release(&top.rows);
    }
    const bool ended = watch_stop(top.watch);
    buffer_release(&top.pane);
    top_choice_release(&top.choice);
    free(top.selected_key);
    if (!ended) {
        exit_beside_threads(code);
    }
    return code;
}
