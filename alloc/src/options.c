/*
 * One table makes the parser, the help and the messages. An option is one of two words, or
 * a size.
 *
 * Runs in the constructor, single-threaded, and allocates nothing. An unknown name is
 * reported and not fatal: the program is not ours to stop. STRATA_TEST_ names belong to
 * tests and are left alone.
 */
#include "options.h"

#include <stddef.h>
#include <string.h>
#include <sys/auxv.h>

#include "launcher.h"
#include "size.h"
#include "text.h"

#define PREFIX "STRATA_"
#define HELP "STRATA_HELP="
#define LINE_MAX 512

/* Not ours: of tests, of `strata run`, and what the tool beside us takes, which one exports for it. */
static const char *const others[] = {"STRATA_TEST_", STRATA__LAUNCHER_VARIABLE,
    "STRATA_STATE=", "STRATA_LABS=", "STRATA_RECIPES=", "STRATA_MALLOC_LIBRARY="};

static const struct option {
    const char *name;
    const char *words[2]; /* for 0 and 1; NULL: a size, in a size_t */
    int otherwise;
    size_t offset;
    const char *help;
} table[] = {
    {"STRATA_BACKGROUND", {"no", "yes"}, 1, offsetof(struct strata__options, background),
        "a thread gives memory back while the program is quiet"},
    {"STRATA_CPU_TABLES", {"no", "yes"}, 1, offsetof(struct strata__options, cpu_tables),
        "each CPU keeps some blocks; no: every call takes a lock"},
    {"STRATA_DEEPBIND", {"drop", "keep"}, 0,
        offsetof(struct strata__options, keep_deepbind),
        "drop: dlopen ignores RTLD_DEEPBIND, which would mix two allocators"},
    {"STRATA_REGION", {"private", "shared"}, 1, offsetof(struct strata__options, region),
        "shared: strata reads the figures without the right to trace the process"},
    {"STRATA_REGION_FOR", {"owner", "all"}, 0,
        offsetof(struct strata__options, region_for),
        "who may read a shared region: all lets every user see the figures"},
    {"STRATA_PRESSURE", {"no", "yes"}, 0, offsetof(struct strata__options, pressure),
        "what is free goes back at once when the kernel or the cgroup is short of "
        "memory"},
    {"STRATA_HARDENED", {"no", "yes"}, 0, offsetof(struct strata__options, hardened),
        "guard pages, random placement, a quarantine whose blocks are checked; slower"},
    {"STRATA_LIMIT", {NULL, NULL}, 0, offsetof(struct strata__options, limit_bytes),
        "more than this is never held: what is free goes back first, then malloc fails"},
    {"STRATA_SOFT_LIMIT", {NULL, NULL}, 0,
        offsetof(struct strata__options, soft_limit_bytes),
        "above this what is free goes back at once; malloc does not fail"},
};
#define OPTIONS (sizeof(table) / sizeof(table[0]))

static void *field(struct strata__options *options, const struct option *option)
{
    return (char *)options + option->offset;
}

static int is_size(const struct option *option)
{
    return option->words[0] == NULL;
}

static void add_all(struct strata__text *text, const char *const *parts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        strata__text_add(text, parts[i]);
    }
}

static void complain(const char *const *parts, size_t count)
{
    char buffer[LINE_MAX];
    struct strata__text text;
    strata__text_init(&text, buffer, sizeof(buffer) - 1);
    add_all(&text, parts, count);
    text.size = sizeof(buffer); /* room for the end of a line that was cut off */
    strata__text_add(&text, "\n");
    strata__text_complain(&text);
}

static void print_help(void)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        const struct option *option = &table[i];
        const char *const words[] = {option->name, "=", option->words[0], "|",
            option->words[1], " (", option->words[option->otherwise],
            "): ", option->help};
        const char *const size[] = {option->name, "=SIZE (none): ", option->help};
        if (is_size(option)) {
            complain(size, sizeof(size) / sizeof(size[0]));
        } else {
            complain(words, sizeof(words) / sizeof(words[0]));
        }
    }
    const char *const sizes[] = {
        "SIZE: bytes, or with K, M, G or T behind; or a share of the cgroup's limit, of "
        "all memory without one, as 80%"};
    complain(sizes, 1);
}

static void set_word(
    struct strata__options *options, const struct option *option, const char *value)
{
    int *place = field(options, option);
    for (int i = 0; i < 2; i++) {
        const char digit[] = {(char)('0' + i), '\0'};
        int is_yes_or_no = strcmp(option->words[1], "yes") == 0;
        if (strcmp(value, option->words[i]) == 0 ||
            (is_yes_or_no && strcmp(value, digit) == 0)) {
            *place = i;
            return;
        }
    }
    const char *const parts[] = {"strata: option '", option->name, "' ignored: '", value,
        "' is neither ", option->words[0], " nor ", option->words[1]};
    complain(parts, sizeof(parts) / sizeof(parts[0]));
}

static void set_size(
    struct strata__options *options, const struct option *option, const char *value)
{
    size_t *place = field(options, option);
    if (strata__size_parse(value, "", place) != 0) {
        const char *const parts[] = {"strata: option '", option->name, "' ignored: '",
            value, "' is no size such as 512M or 80%"};
        complain(parts, sizeof(parts) / sizeof(parts[0]));
    }
}

static void set(
    struct strata__options *options, const struct option *option, const char *value)
{
    if (is_size(option)) {
        set_size(options, option, value);
    } else {
        set_word(options, option, value);
    }
}

static int is_others(const char *variable)
{
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++) {
        if (strncmp(variable, others[i], strlen(others[i])) == 0) {
            return 1;
        }
    }
    return 0;
}

/* `variable` is NAME=VALUE and begins with the prefix. */
static void read_variable(struct strata__options *options, const char *variable)
{
    for (size_t i = 0; i < OPTIONS; i++) {
        size_t length = strlen(table[i].name);
        if (strncmp(variable, table[i].name, length) == 0 && variable[length] == '=') {
            set(options, &table[i], variable + length + 1);
            return;
        }
    }
    if (strncmp(variable, HELP, sizeof(HELP) - 1) == 0) {
        const char *value = variable + sizeof(HELP) - 1;
        if (strcmp(value, "no") != 0 && strcmp(value, "0") != 0) {
            print_help();
        }
    } else if (!is_others(variable)) {
        const char *const parts[] = {"strata: unknown option '", variable,
            "': STRATA_HELP=1 lists the options of the malloc replacement"};
        complain(parts, sizeof(parts) / sizeof(parts[0]));
    }
}

void strata__options_read(struct strata__options *options, char *const *environment)
{
    *options = (struct strata__options){0};
    for (size_t i = 0; i < OPTIONS; i++) {
        if (!is_size(&table[i])) {
            *(int *)field(options, &table[i]) = table[i].otherwise;
        }
    }
    if (environment == NULL || getauxval(AT_SECURE) != 0) {
        return;
    }
    for (; *environment != NULL; environment++) {
        if (strncmp(*environment, PREFIX, sizeof(PREFIX) - 1) == 0) {
            read_variable(options, *environment);
        }
    }
}
