/*
 * options.c - options by getopt_long(3), from one table that gives the help as well.
 *
 * getopt reports an unknown option and a missing value by codes; the texts are ours, so
 * that every message of the program looks alike. Options may stand before and behind the
 * arguments; "--" ends them.
 */
#include "cmd/options.h"

#include <getopt.h>
#include <stddef.h>
#include <string.h>

#include "base/bug.h"
#include "base/duration.h"
#include "base/number.h"
#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "findings/finding.h"
#include "present/page.h"

enum {
    WIDTH_LEAST = 60,
    WIDTH_MOST = 1000,
    EVERY_LEAST_MS = 200,
    TARGETS_MOST = 1000,
    /* values of getopt_long for options without a letter */
    VALUE_JSON = 256,
    VALUE_BYTES,
    VALUE_ALL,
    VALUE_COLOR,
    VALUE_WIDTH,
    VALUE_FAIL_ON,
    VALUE_ROOT,
    VALUE_CAPTURE,
    VALUE_DEFAULTS,
    VALUE_NO_ASK,
    VALUE_CHECK,
    VALUE_EVERY,
    VALUE_ONCE,
    VALUE_MOST,
    VALUE_PER_PID,
    VALUE_LISTEN,
    VALUE_TEXTFILE,
    VALUE_SORT,
    VALUE_FILTER,
    VALUE_TEXT = 1024, /* and enum option_text */
    OPTION_INDENT = 2,
    DESCRIPTION_COLUMN = 26,
};

#define EVERY_MOST_MS (UINT64_C(24) * 60 * 60 * 1000)

/* An option that means something else to another command has a row for each of them. */
const struct option_row option_table[] = {
    {"json", VALUE_JSON, NULL, OPTION_JSON,
        "for machines; share/doc/strata/json.md tells all"},
    {"bytes", VALUE_BYTES, NULL, OPTION_BYTES, "exact bytes instead of MiB and GiB"},
    {"all", VALUE_ALL, NULL, OPTION_ALL,
        "all there is, beyond one screen: parts, evidence"},
    {"color", VALUE_COLOR, "WHEN", OPTION_COLOR,
        "auto (default), always or never; NO_COLOR is obeyed"},
    {"width", VALUE_WIDTH, "N", OPTION_WIDTH, "columns, instead of the terminal's"},
    {"fail-on", VALUE_FAIL_ON, "LEVEL", OPTION_FAIL_ON,
        "exit with 1 when a finding is info, warn or critical"},
    {"root", VALUE_ROOT, "DIR", OPTION_ROOT,
        "read DIR/proc and DIR/sys instead of the host"},
    {"defaults-file", VALUE_DEFAULTS, "FILE", OPTION_DEFAULTS,
        "user and password for databases, instead of my.cnf"},
    {"no-ask", VALUE_NO_ASK, NULL, OPTION_ASK,
        "ask no server what it counts: no SQL, no status page"},
    {"capture", VALUE_CAPTURE, "FILE", OPTION_CAPTURE, "also store the facts in FILE"},
    {"since", VALUE_TEXT + TEXT_SINCE, "FILE", OPTION_SINCE,
        "compare with an earlier look: a capture or recording"},
    {"no-keep", VALUE_TEXT + TEXT_NO_KEEP, NULL, OPTION_SINCE,
        "keep no look for the next explain (STRATA_STATE=off)"},
    {"output", 'o', "FILE", OPTION_OUTPUT, "where to write; - is standard output"},
    {"check", VALUE_CHECK, NULL, OPTION_CHECK, "exit with 1 when a figure differs"},
    {"check", VALUE_CHECK, NULL, OPTION_RUN, "exit with 125 unless the preload acts"},
    {"limit", VALUE_TEXT + TEXT_LIMIT, "SIZE", OPTION_PLAN,
        "memory that there will be: 512M, 2G"},
    {"limit", VALUE_TEXT + TEXT_LIMIT, "SIZE", OPTION_BENCH,
        "run the server in a cgroup of so much memory: 512M, 2G"},
    {"limit", VALUE_TEXT + TEXT_LIMIT, "SIZE", OPTION_RUN,
        "never hold more than this: 512M, 2G, 80%"},
    {"soft-limit", VALUE_TEXT + TEXT_SOFT_LIMIT, "SIZE", OPTION_RUN,
        "above this, give back what is free at once"},
    {"memory-limit", VALUE_TEXT + TEXT_MEMORY_LIMIT, "SIZE", OPTION_PLAN,
        "memory_limit of a request, when the heaps do not tell it"},
    {"others", VALUE_TEXT + TEXT_OTHERS, "SIZE", OPTION_PLAN,
        "what other services there need, not what they use now"},
    {"reserve", VALUE_TEXT + TEXT_RESERVE, "PERCENT", OPTION_PLAN,
        "share of the memory to leave free, 10 when not given"},
    {"case", VALUE_TEXT + TEXT_CASE, "CASE", OPTION_PLAN,
        "configure for expected, p95 (default) or worst"},
    {"server", VALUE_TEXT + TEXT_SERVER, "NAME", OPTION_PLAN,
        "php-fpm, swoole, roadrunner, gunicorn, nginx, other"},
    {"prometheus", VALUE_TEXT + TEXT_PROMETHEUS, "URL", OPTION_PLAN,
        "plan a fleet from what the exporter has recorded"},
    {"days", VALUE_TEXT + TEXT_DAYS, "N", OPTION_PLAN,
        "how far back to ask Prometheus, 7"},
    {"pool", VALUE_TEXT + TEXT_POOL, "NAME", OPTION_PLAN,
        "which of the pools in Prometheus, or recipes in a result"},
    {"every", VALUE_EVERY, "TIME", OPTION_EVERY, "how often: 2s, 1m; from 200ms to 1d"},
    {"once", VALUE_ONCE, NULL, OPTION_ONCE, "look once, print, end"},
    {"most", VALUE_MOST, "N", OPTION_MOST, "targets to look into, largest first; 32"},
    {"per-pid", VALUE_PER_PID, NULL, OPTION_PER_PID,
        "series for each process, with a label pid"},
    {"listen", VALUE_LISTEN, "ADDRESS", OPTION_LISTEN,
        "ADDRESS:PORT or PORT; default 127.0.0.1:9812"},
    {"textfile", VALUE_TEXTFILE, "FILE", OPTION_TEXTFILE,
        "write FILE anew each time instead of serving"},
    {"sort", VALUE_SORT, "COLUMN", OPTION_SORT, "name, pid, or a column by its title"},
    {"filter", VALUE_FILTER, "TEXT", OPTION_FILTER, "only names with TEXT in them"},
    {"for", VALUE_TEXT + TEXT_FOR, "TIME", OPTION_RECORD,
        "how long: 1h, 7d; without it until Ctrl-C"},
    {"deep-every", VALUE_TEXT + TEXT_DEEP_EVERY, "TIME", OPTION_RECORD,
        "between full captures: 5m (default)"},
    {"keep", VALUE_TEXT + TEXT_KEEP, "TIME", OPTION_RECORD,
        "remove what is older: so much recorded time stays"},
    {"max-size", VALUE_TEXT + TEXT_MAX_SIZE, "SIZE", OPTION_RECORD,
        "thin out a larger file: 512M (default), 0: no bound"},
    {"at", VALUE_TEXT + TEXT_AT, "TIME", OPTION_AT,
        "a moment: 14:05, 2026-11-30T14:05Z, -10m"},
    {"from", VALUE_TEXT + TEXT_FROM, "TIME", OPTION_SPAN, "start of what is shown"},
    {"to", VALUE_TEXT + TEXT_TO, "TIME", OPTION_SPAN, "its end"},
    {"compare", VALUE_TEXT + TEXT_COMPARE, "FILE.db", OPTION_SPAN,
        "set beside the recording before a change"},
    {"models", VALUE_TEXT + TEXT_MODELS, NULL, OPTION_BENCH,
        "three small models of servers, in a minute; nothing to install"},
    {"list", VALUE_TEXT + TEXT_LIST, NULL, OPTION_BENCH,
        "the recipes, and how to get what is missing"},
    {"workers", VALUE_TEXT + TEXT_WORKERS, "N", OPTION_BENCH, "of the server, 20"},
    {"connections", VALUE_TEXT + TEXT_CONNECTIONS, "N", OPTION_BENCH,
        "that load it at once, 50"},
    {"seconds", VALUE_TEXT + TEXT_SECONDS, "N", OPTION_BENCH, "of each run, 10"},
    {"runs", VALUE_TEXT + TEXT_RUNS, "N", OPTION_BENCH, "3"},
    {"quiet", VALUE_TEXT + TEXT_QUIET, "SECONDS", OPTION_BENCH,
        "rest before the last look at memory, 60"},
    {"warm", VALUE_TEXT + TEXT_WARM, "SECONDS", OPTION_BENCH,
        "at most, until memory stands still, 15"},
    {"work", VALUE_TEXT + TEXT_WORK, "NAME", OPTION_BENCH,
        "query (default), hello, large, mix or heavy"},
    {"load", VALUE_TEXT + TEXT_LOAD, "TOOL", OPTION_BENCH, "wrk, ab or own"},
    {"rate", VALUE_TEXT + TEXT_RATE, "N", OPTION_BENCH,
        "open loop: so many requests a second, whatever is answered"},
    {"keep-alive", VALUE_TEXT + TEXT_KEEP_ALIVE, NULL, OPTION_BENCH,
        "several requests on a connection (wrk, ab)"},
    {"url", VALUE_TEXT + TEXT_URL, "URL", OPTION_BENCH,
        "what to load: of a command behind --, or with --attach"},
    {"attach", VALUE_TEXT + TEXT_ATTACH, "TARGET", OPTION_BENCH,
        "measure a running pool, unit or cgroup; start nothing"},
    {"expect", VALUE_TEXT + TEXT_EXPECT, "TEXT", OPTION_BENCH,
        "how an answer from --url must begin"},
    {"price-memory", VALUE_TEXT + TEXT_PRICE_MEMORY, "X", OPTION_BENCH,
        "of a GiB and month"},
    {"price-cpu", VALUE_TEXT + TEXT_PRICE_CPU, "X", OPTION_BENCH,
        "of a processor and month"},
    {"currency", VALUE_TEXT + TEXT_CURRENCY, "NAME", OPTION_BENCH, "of the prices"},
    {"markdown", VALUE_TEXT + TEXT_MARKDOWN, NULL, OPTION_BENCH, "the table as Markdown"},
    {"html", VALUE_TEXT + TEXT_HTML, NULL, OPTION_BENCH, "one page with plots"},
    {"silent", VALUE_TEXT + TEXT_SILENT, NULL, OPTION_BENCH,
        "no progress on standard error"},
    {"help", 'h', NULL, 0, "this text"},
    {.name = NULL},
};
enum { ROW_COUNT = sizeof(option_table) / sizeof(option_table[0]) - 1 };

static int wrong(const struct options *options, const char *text, const char *subject)
{
    const char *name = options->command->name;

    complain(
        "%s '%s'; see 'strata help%s%s'", text, subject, *name != '\0' ? " " : "", name);
    return EXIT_USAGE;
}

static int set_color(struct options *options, const char *text)
{
    static const char *const names[] = {
        [COLOR_AUTO] = "auto", [COLOR_ALWAYS] = "always", [COLOR_NEVER] = "never"};

    for (int i = COLOR_AUTO; i <= COLOR_NEVER; i++) {
        if (strcmp(text, names[i]) == 0) {
            options->color = (enum color_choice)i;
            return 0;
        }
    }
    return wrong(options, "--color takes auto, always or never, not", text);
}

static int set_fail_on(struct options *options, const char *text)
{
    for (int i = 0; i < SEVERITY_COUNT; i++) {
        if (strcmp(text, severity_names[i]) == 0) {
            options->fail_on = i;
            return 0;
        }
    }
    return wrong(options, "--fail-on takes info, warn or critical, not", text);
}

static int set_width(struct options *options, const char *text)
{
    uint64_t width;

    if (number_parse(text, &width) != 0 || width < WIDTH_LEAST || width > WIDTH_MOST) {
        return wrong(options, "--width takes a number from 60 to 1000, not", text);
    }
    options->width = (int)width;
    return 0;
}

static int set_every(struct options *options, const char *text)
{
    if (duration_parse(text, &options->every_ms) != 0 ||
        options->every_ms < EVERY_LEAST_MS || options->every_ms > EVERY_MOST_MS) {
        return wrong(options, "--every takes a time from 200ms to 1d, not", text);
    }
    return 0;
}

static int set_most(struct options *options, const char *text)
{
    uint64_t most;

    if (number_parse(text, &most) != 0 || most < 1 || most > TARGETS_MOST) {
        return wrong(options, "--most takes a number from 1 to 1000, not", text);
    }
    options->most = (size_t)most;
    return 0;
}

static int set_path(struct options *options, const char **place, const char *name)
{
    if (*optarg == '\0') {
        return wrong(options, "a file needs a name, also for option", name);
    }
    *place = optarg;
    return 0;
}

static int apply(struct options *options, int value)
{
    if (value >= VALUE_TEXT) {
        options->texts[value - VALUE_TEXT] = optarg != NULL ? optarg : "";
        return 0;
    }
    switch (value) {
    case VALUE_JSON:
        options->json = true;
        return 0;
    case VALUE_BYTES:
        options->exact_bytes = true;
        return 0;
    case VALUE_ALL:
        options->all = true;
        return 0;
    case VALUE_CHECK:
        options->check = true;
        return 0;
    case VALUE_COLOR:
        return set_color(options, optarg);
    case VALUE_WIDTH:
        return set_width(options, optarg);
    case VALUE_FAIL_ON:
        return set_fail_on(options, optarg);
    case VALUE_ROOT:
        return set_path(options, &options->root, "--root");
    case VALUE_DEFAULTS:
        return set_path(options, &options->defaults, "--defaults-file");
    case VALUE_NO_ASK:
        options->ask_nobody = true;
        return 0;
    case VALUE_CAPTURE:
        return set_path(options, &options->capture, "--capture");
    case VALUE_EVERY:
        return set_every(options, optarg);
    case VALUE_ONCE:
        options->once = true;
        return 0;
    case VALUE_MOST:
        return set_most(options, optarg);
    case VALUE_PER_PID:
        options->per_pid = true;
        return 0;
    case VALUE_LISTEN:
        options->listen = optarg;
        return 0;
    case VALUE_TEXTFILE:
        return set_path(options, &options->textfile, "--textfile");
    case VALUE_SORT:
        options->sort = optarg;
        return 0;
    case VALUE_FILTER:
        options->filter = optarg;
        return 0;
    case 'o':
        return set_path(options, &options->output, "-o");
    default:
        options->help = true;
        return 0;
    }
}

/* The row for the command; one of another command when it does not take the option. */
static const struct option_row *row_of(const struct command *command, int value)
{
    const struct option_row *other = NULL;

    for (int i = 0; i < ROW_COUNT; i++) {
        const struct option_row *row = &option_table[i];
        if (row->value == value) {
            if (command_takes(command, row)) {
                return row;
            }
            other = row;
        }
    }
    return other;
}

/* getopt says which option it means by optopt for letters, else by the word it was at. */
static int refuse(const struct options *options, int answer, char *const *argv)
{
    const char letter[] = {'-', (char)optopt, '\0'};
    const char *word = argv[optind - 1];
    bool is_long = strncmp(word, "--", 2) == 0;
    const struct option_row *row = row_of(options->command, optopt);

    if (answer == ':') {
        return wrong(options, "a value must follow option", is_long ? word : letter);
    }
    if (is_long && row != NULL && row->argument == NULL) {
        return wrong(options, "no value may follow option", word);
    }
    return wrong(options, "unknown option", is_long ? word : letter);
}

static void fill_long_options(struct option long_options[ROW_COUNT + 1])
{
    for (int i = 0; i < ROW_COUNT; i++) {
        long_options[i] = (struct option){.name = option_table[i].name,
            .has_arg = option_table[i].argument != NULL ? required_argument : no_argument,
            .val = option_table[i].value};
    }
    long_options[ROW_COUNT] = (struct option){0};
}

static int check_arguments(struct options *options)
{
    const struct command *command = options->command;

    if (options->argument_count > command->most_arguments) {
        return wrong(options,
            "one argument too many:", options->arguments[command->most_arguments]);
    }
    if (options->argument_count < command->least_arguments) {
        complain(
            "an argument is missing: strata %s %s", command->name, command->arguments);
        return EXIT_USAGE;
    }
    return 0;
}

int options_parse(
    const struct command *command, int argc, char **argv, struct options *options)
{
    struct option long_options[ROW_COUNT + 1];
    int value;

    *options = (struct options){.command = command, .fail_on = -1};
    fill_long_options(long_options);
    opterr = 0;
    optind = 1;
    /* The options behind a command's name are the command's. */
    const char *letters = (command->options & OPTION_RUN) != 0 ? "+:ho:" : ":ho:";
    while ((value = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
        if (value == '?' || value == ':') {
            return refuse(options, value, argv);
        }
        const struct option_row *row = row_of(command, value);
        BUG_IF(row == NULL);
        if (!command_takes(command, row)) {
            return wrong(options, "this command does not take option", argv[optind - 1]);
        }
        int rc = apply(options, value);
        if (rc != 0) {
            return rc;
        }
    }
    options->arguments = argv + optind;
    options->argument_count = argc - optind;
    return options->help ? 0 : check_arguments(options);
}

char option_letter(const struct option_row *row)
{
    return row->value < VALUE_JSON ? (char)row->value : '\0';
}

bool command_takes(const struct command *command, const struct option_row *row)
{
    return row->bit == 0 || (command->options & row->bit) != 0;
}

void options_describe(const struct command *command, struct buffer *buffer)
{
    const struct present_style style = {.utf8 = true, .width = STYLE_DEFAULT_WIDTH};
    struct page page;

    page_init(&page, &style, buffer);
    for (int i = 0; i < ROW_COUNT; i++) {
        const struct option_row *row = &option_table[i];
        if (!command_takes(command, row)) {
            continue;
        }
        page_at(&page, OPTION_INDENT);
        if (option_letter(row) != '\0') {
            page_printf(&page, INK_PLAIN, "-%c, ", option_letter(row));
        }
        page_printf(&page, INK_PLAIN, "--%s%s%s", row->name,
            row->argument != NULL ? " " : "", row->argument != NULL ? row->argument : "");
        page_at(&page, DESCRIPTION_COLUMN);
        page_paragraph(&page, INK_PLAIN, row->help, DESCRIPTION_COLUMN);
    }
}
