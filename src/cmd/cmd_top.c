/*
 * cmd_top.c - `strata top`: the overview, live.
 *
 * The watch reads in threads of its own; this one waits for keys, never for a target. A key
 * changes the state of the screen, then everything is drawn anew from the moment that is held;
 * a new moment is taken when the watch has something new.
 */
#include "cmd/cmd_top.h"

#include <string.h>

#include "cmd/account.h"
#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/terminal.h"
#include "cmd/top_keys.h"
#include "cmd/top_state.h"
#include "cmd/top_terminal.h"
#include "present/overview_text.h"

enum { DEFAULT_EVERY_MS = 2000, MOST = 32, REST = 4, KEY_WAIT_MS = 200 };

#define NS_PER_MS UINT64_C(1000000)

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
    top_fill_pane(top);
    top_scroll_pane(top, 0);
    top_scroll_to_selection(screen);
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
            (void)top_take_moment(top);
        }
        draw(top);
        top_handle_key(top, top_terminal_key(KEY_WAIT_MS));
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
    const struct finding_list none = {.count = 0};
    struct buffer buffer;

    (void)watch_update(top->watch);
    int rc = top_take_moment(top);
    if (rc != 0 || top->rows.moment.overview == NULL) {
        complain("cannot read the host");
        return EXIT_FAILED;
    }
    buffer_init(&buffer);
    present_overview_lines(top->rows.moment.overview->host, top->rows.lines,
        top->rows.count, &top->style, &buffer);
    rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? account_exit_code(top->rows.moment.overview->host, &none, -1)
                   : EXIT_FAILED;
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
        .ask_nobody = options->ask_nobody,
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
    top_release(&top);
    const bool ended = watch_stop(top.watch);
    if (!ended) {
        exit_beside_threads(code);
    }
    return code;
}
