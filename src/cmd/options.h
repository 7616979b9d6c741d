/* options.h - the command line: options that commands share, and their arguments. */
#ifndef STRATA_CMD_OPTIONS_H
#define STRATA_CMD_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "cmd/command.h"

enum option_bit {
    OPTION_JSON = 1,
    OPTION_BYTES = 2,
    OPTION_ALL = 4,
    OPTION_COLOR = 8,
    OPTION_WIDTH = 16,
    OPTION_FAIL_ON = 32,
    OPTION_ROOT = 64,
    OPTION_CAPTURE = 128,
    OPTION_OUTPUT = 256,
    OPTION_CHECK = 512,
    OPTION_SINCE = 1024,
    OPTION_PLAN = 1 << 16,
    OPTION_BENCH = 1 << 17,
    OPTION_EVERY = 1 << 15,
    OPTION_ONCE = 1 << 18,
    OPTION_MOST = 1 << 19,
    OPTION_PER_PID = 1 << 20,
    OPTION_LISTEN = 1 << 21,
    OPTION_TEXTFILE = 1 << 22,
    OPTION_SORT = 1 << 23,
    OPTION_FILTER = 1 << 24,
    OPTION_DEFAULTS = 1 << 25,
    OPTION_RECORD = 1 << 26,
    OPTION_AT = 1 << 27,
    OPTION_SPAN = 1 << 28,
    OPTION_ASK = 1 << 30,
    OPTION_RUN = 1 << 29, /* the arguments are a command with options of its own */
};

/* What is told of one option, in help, manual pages and completions. */
struct option_row {
    const char *name;     /* without the dashes */
    int value;            /* of getopt_long: the letter, or above all letters */
    const char *argument; /* a word for help, such as FILE; NULL: the option takes none */
    unsigned bit;         /* enum option_bit; 0: every command takes it */
    const char *help;
};

/* Ends with a row without a name. */
extern const struct option_row option_table[];

/* The letter of that option, or 0. */
char option_letter(const struct option_row *row);

bool command_takes(const struct command *command, const struct option_row *row);

enum color_choice { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER };

/* Options whose text the command itself understands. */
enum option_text {
    TEXT_LIMIT,
    TEXT_SOFT_LIMIT,
    TEXT_MEMORY_LIMIT,
    TEXT_OTHERS,
    TEXT_RESERVE,
    TEXT_CASE,
    TEXT_SERVER,
    TEXT_PROMETHEUS,
    TEXT_DAYS,
    TEXT_POOL,
    TEXT_FOR,
    TEXT_DEEP_EVERY,
    TEXT_KEEP,
    TEXT_MAX_SIZE,
    TEXT_AT,
    TEXT_FROM,
    TEXT_TO,
    TEXT_COMPARE,
    TEXT_MODELS,
    TEXT_LIST,
    TEXT_WORKERS,
    TEXT_CONNECTIONS,
    TEXT_SECONDS,
    TEXT_RUNS,
    TEXT_QUIET,
    TEXT_WARM,
    TEXT_WORK,
    TEXT_LOAD,
    TEXT_RATE,
    TEXT_KEEP_ALIVE,
    TEXT_URL,
    TEXT_ATTACH,
    TEXT_EXPECT,
    TEXT_PRICE_MEMORY,
    TEXT_PRICE_CPU,
    TEXT_CURRENCY,
    TEXT_MARKDOWN,
    TEXT_HTML,
    TEXT_SILENT,
    TEXT_SINCE,
    TEXT_NO_KEEP,
    TEXT_COUNT,
};

/* Strings are borrowed from argv. */
struct options {
    const struct command *command;
    bool help;
    bool json;
    bool exact_bytes;
    bool all;
    bool check; /* lab: figures that must agree decide the exit code; run: see there */
    enum color_choice color;
    int width;                     /* 0: ask the terminal */
    int fail_on;                   /* enum severity, -1: never */
    const char *root;              /* NULL: the live system */
    const char *defaults;          /* option file for databases; NULL: the usual ones */
    bool ask_nobody;               /* no server is asked over SQL or FastCGI */
    const char *capture;           /* explain: also store the facts here; NULL: no */
    const char *output;            /* capture: the file; NULL: not given */
    const char *texts[TEXT_COUNT]; /* NULL: not given; "" when it takes no value */
    uint64_t every_ms;             /* the clock of what repeats; 0: the command's own */
    bool once;                     /* top, export: one look, then end */
    size_t most;          /* export: targets that are looked into; 0: the default */
    bool per_pid;         /* export: each process has series of its own */
    const char *listen;   /* export: the address; NULL: the default */
    const char *textfile; /* export: the file; NULL: none */
    const char *sort;     /* top: title of a column; NULL: resident */
    const char *filter;   /* top: what names must contain; NULL: all */
    char *const *arguments;
    int argument_count;
};

/*
 * Reads argv[1..] as options and arguments of command; argv[0] is skipped. 0, or EXIT_USAGE
 * after a message on standard error.
 */
int options_parse(
    const struct command *command, int argc, char **argv, struct options *options);

/* One line for each option that command takes, for its help. */
void options_describe(const struct command *command, struct buffer *buffer);

#endif
