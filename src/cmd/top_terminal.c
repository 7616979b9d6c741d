/*
 * top_terminal.c - the only file that knows ncurses.
 *
 * The terminal is given back on every way out: by top_terminal_close() when the loop ends, which
 * SIGTERM, SIGINT and SIGHUP make it do; by ncurses itself around SIGTSTP; and when the program
 * aborts or crashes by a handler that only writes bytes and sets the modes which were saved.
 * All text comes from pages, which let no control character of a process's name through.
 */
#include "cmd/top_terminal.h"

#include <curses.h>
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <termios.h>
#include <unistd.h>

#include "cmd/terminal.h"
#include "present/page.h"
#include "present/safe_text.h"

enum {
    ESCAPE_MS = 25,
    PAIR_BAR = 1,
    PAIR_INFO,
    PAIR_WARN,
    PAIR_CRITICAL,
    LEAVE_BYTES = 256
};

static volatile sig_atomic_t ending;
static SCREEN *screen;
static bool colored;
static struct termios modes_before;
static char leave_text[LEAVE_BYTES]; /* what a crash writes: main screen, cursor shown */
static size_t leave_bytes;

/* ---- signals */

static void ask_to_end(int number)
{
    (void)number;
    ending = 1;
}

static void leave_by_crash(int number)
{
    if (leave_bytes > 0 && write(STDOUT_FILENO, leave_text, leave_bytes) < 0) {
        (void)raise(number); /* there is no terminal any more */
    }
    (void)tcsetattr(STDOUT_FILENO, TCSANOW, &modes_before);
    (void)raise(number); /* SA_RESETHAND: now for real */
}

static void handle(int number, void (*handler)(int), int flags)
{
    struct sigaction action = {.sa_handler = handler, .sa_flags = flags};

    (void)sigemptyset(&action.sa_mask);
    (void)sigaction(number, &action, NULL);
}

static void add_leave_text(const char *text)
{
    if (text == NULL || text == (const char *)-1) { /* the terminal has no such text */
        return;
    }
    for (; *text != '\0' && leave_bytes < LEAVE_BYTES; text++) {
        leave_text[leave_bytes++] = *text;
    }
}

static void prepare_exits(void)
{
    static const int crashes[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};

    leave_bytes = 0;
    add_leave_text(tigetstr("sgr0"));
    add_leave_text(tigetstr("cnorm"));
    add_leave_text(tigetstr("rmkx"));
    add_leave_text(tigetstr("rmcup"));
    for (size_t i = 0; i < sizeof(crashes) / sizeof(crashes[0]); i++) {
        handle(crashes[i], leave_by_crash, (int)SA_RESETHAND | SA_NODEFER);
    }
    handle(SIGTERM, ask_to_end, 0);
    handle(SIGINT, ask_to_end, 0);
    handle(SIGHUP, ask_to_end, 0);
}

/* ---- begin and end */

static void begin_colors(bool color)
{
    colored = color && has_colors();
    if (colored) {
        (void)start_color();
        (void)use_default_colors();
        (void)init_pair(PAIR_BAR, COLOR_CYAN, -1);
        (void)init_pair(PAIR_INFO, COLOR_BLUE, -1);
        (void)init_pair(PAIR_WARN, COLOR_YELLOW, -1);
        (void)init_pair(PAIR_CRITICAL, COLOR_RED, -1);
    }
}

static int refuse(const char *term, struct error *error)
{
    return error_set(error, -ENOTSUP,
        "cannot draw on this terminal: TERM is '%s'; strata top --once prints one look",
        term != NULL ? term : "");
}

int top_terminal_open(bool color, struct error *error)
{
    const char *term = getenv("TERM");

    if (isatty(STDIN_FILENO) != 1 || isatty(STDOUT_FILENO) != 1) {
        return error_set(error, -ENOTTY,
            "cannot draw: standard input and output are no terminal; strata top --once "
            "prints one look");
    }
    if (term == NULL || *term == '\0' || strcmp(term, "dumb") == 0 ||
        tcgetattr(STDOUT_FILENO, &modes_before) != 0) {
        return refuse(term, error);
    }
    screen = newterm(NULL, stdout, stdin);
    if (screen == NULL || tigetstr("cup") == NULL) {
        top_terminal_close();
        return refuse(term, error);
    }
    (void)cbreak();
    (void)noecho();
    (void)nonl();
    (void)keypad(stdscr, TRUE);
    (void)curs_set(0);
    (void)set_escdelay(ESCAPE_MS);
    begin_colors(color);
    prepare_exits();
    return 0;
}

void top_terminal_close(void)
{
    if (screen != NULL) {
        (void)endwin();
        delscreen(screen);
        screen = NULL;
    }
}

bool top_terminal_is_ending(void)
{
    return ending != 0;
}

/* ---- keys */

static int key_of(int code)
{
    static const struct {
        int code;
        int key;
    } keys[] = {{ERR, KEY_OF_NOTHING}, {KEY_UP, KEY_OF_UP}, {KEY_DOWN, KEY_OF_DOWN},
        {KEY_LEFT, KEY_OF_LEFT}, {KEY_RIGHT, KEY_OF_RIGHT}, {KEY_PPAGE, KEY_OF_PAGE_UP},
        {KEY_NPAGE, KEY_OF_PAGE_DOWN}, {KEY_HOME, KEY_OF_HOME}, {KEY_END, KEY_OF_END},
        {KEY_ENTER, KEY_OF_ENTER}, {'\r', KEY_OF_ENTER}, {'\n', KEY_OF_ENTER},
        {'\033', KEY_OF_ESCAPE}, {'\t', KEY_OF_TAB}, {KEY_BACKSPACE, KEY_OF_ERASE},
        {'\b', KEY_OF_ERASE}, {0x7f, KEY_OF_ERASE}, {KEY_RESIZE, KEY_OF_SIZE}};

    for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++) {
        if (keys[i].code == code) {
            return keys[i].key;
        }
    }
    return code >= ' ' && code <= 0xff ? code : KEY_OF_OTHER;
}

int top_terminal_key(int milliseconds)
{
    timeout(milliseconds);
    return key_of(getch());
}

int top_terminal_width(void)
{
    return getmaxx(stdscr);
}

int top_terminal_height(void)
{
    return getmaxy(stdscr);
}

/* ---- painting */

static attr_t attributes_of(enum ink ink)
{
    switch (ink) {
    case INK_STRONG:
        return A_BOLD;
    case INK_DIM:
        return A_DIM;
    case INK_BAR:
        return colored ? (attr_t)COLOR_PAIR(PAIR_BAR) : A_NORMAL;
    case INK_INFO:
        return colored ? (attr_t)COLOR_PAIR(PAIR_INFO) : A_NORMAL;
    case INK_WARN:
        return colored ? (attr_t)COLOR_PAIR(PAIR_WARN) : A_BOLD;
    case INK_CRITICAL:
        return (colored ? (attr_t)COLOR_PAIR(PAIR_CRITICAL) : A_NORMAL) | A_BOLD;
    case INK_PLAIN:
    case INK_COUNT:
        break;
    }
    return A_NORMAL;
}

/* One line from text on; returns what stands behind it. */
static const char *paint_line(const char *text, int row, bool selected)
{
    const attr_t base = selected ? A_REVERSE : A_NORMAL;
    const bool utf8 = terminal_is_utf8();
    const int width = top_terminal_width();
    int column = 0;

    (void)move(row, 0);
    (void)attrset((int)base);
    while (*text != '\0' && *text != '\n') {
        struct safe_character character;
        enum ink ink;
        size_t bytes;
        if (page_ink_at(text, &ink, &bytes)) {
            (void)attrset((int)(base | attributes_of(ink)));
            text += bytes;
            continue;
        }
        text = safe_text_next(text, utf8, &character);
        if (column + character.columns <= width) {
            (void)addnstr(character.text, (int)character.bytes);
        }
        column += character.columns;
    }
    (void)attrset((int)base);
    for (; selected && column < width; column++) {
        (void)addch(' ');
    }
    (void)attrset(A_NORMAL);
    return *text == '\n' ? text + 1 : text;
}

void top_terminal_paint(const char *lines, int selected_line)
{
    const int height = top_terminal_height();

    (void)erase();
    for (int row = 0; row < height && *lines != '\0'; row++) {
        lines = paint_line(lines, row, row == selected_line);
    }
    (void)refresh();
}
