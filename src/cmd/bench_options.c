/*
 * bench_options.c - defaults, bounds, and where recipes and generators are.
 *
 * Recipes lie in ../share/strata/recipes from the tool when installed and in
 * bench/recipes of the source when not; STRATA_RECIPES names another folder. Defaults are those of
 * the published table: 20 workers, 50 connections, three runs; --models is shorter.
 */
#include "cmd/bench_options.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "facts/fpm_config.h"
#include "facts/web_value.h"
#include "trial/generator.h"

enum {
    DEFAULT_WORKERS = 20,
    DEFAULT_CONNECTIONS = 50,
    DEFAULT_SECONDS = 10,
    DEFAULT_RUNS = 3,
    DEFAULT_QUIET = 60,
    DEFAULT_WARM = 15,
    MODELS_SECONDS = 4,
    MODELS_QUIET = 2,
    MODELS_WARM = 4,
    WORKERS_MOST = 1024,
    SECONDS_MOST = 3600,
};

struct number_row {
    enum option_text which;
    const char *name;
    uint64_t least;
    uint64_t most;
    unsigned *place;
};

static int take_number(const struct options *options, const struct number_row *row)
{
    const char *text = options->texts[row->which];
    uint64_t value;

    if (text == NULL) {
        return 0;
    }
    if (number_parse(text, &value) != 0 || value < row->least || value > row->most) {
        complain("%s takes a number from %u to %u, not '%s'", row->name,
            (unsigned)row->least, (unsigned)row->most, text);
        return EXIT_USAGE;
    }
    *row->place = (unsigned)value;
    return 0;
}

static int take_numbers(const struct options *options, struct bench_request *request)
{
    struct result_setup *setup = &request->setup;
    const struct number_row rows[] = {
        {TEXT_WORKERS, "--workers", 1, WORKERS_MOST, &setup->workers},
        {TEXT_CONNECTIONS, "--connections", 1, LOAD_MAX_CONNECTIONS, &setup->connections},
        {TEXT_SECONDS, "--seconds", 1, SECONDS_MOST, &setup->seconds},
        {TEXT_RUNS, "--runs", 1, RESULT_MAX_RUNS, &setup->runs},
        {TEXT_QUIET, "--quiet", 0, SECONDS_MOST, &setup->quiet_seconds},
        {TEXT_WARM, "--warm", 1, SECONDS_MOST, &request->trial.warm_seconds},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(rows) / sizeof(rows[0]); i++) {
        rc = take_number(options, &rows[i]);
    }
    return rc;
}

static int take_decimal(const struct options *options, enum option_text which,
    const char *name, double *value)
{
    const char *text = options->texts[which];
    char *end;

    if (text == NULL) {
        return 0;
    }
    *value = strtod(text, &end);
    if (end == text || *end != '\0' || !(*value > 0) || *value > 1e9) {
        complain("%s takes a number above 0, not '%s'", name, text);
        return EXIT_USAGE;
    }
    return 0;
}

static const char *program(const char *const *paths)
{
    for (; *paths != NULL; paths++) {
        if (access(*paths, X_OK) == 0) {
            return *paths;
        }
    }
    return NULL;
}

/* wrk when it is installed, else our own; what was asked for must be there. */
static int take_tool(const struct options *options, struct bench_request *request)
{
    static const char *const wrk[] = {"/usr/bin/wrk", "/usr/local/bin/wrk", NULL};
    static const char *const ab[] = {"/usr/bin/ab", "/usr/local/bin/ab", NULL};
    const char *name = options->texts[TEXT_LOAD];

    request->trial.wrk = program(wrk);
    request->trial.ab = program(ab);
    request->setup.tool = request->trial.wrk != NULL ? LOAD_WRK : LOAD_OWN;
    for (int i = 0; name != NULL && i < LOAD_TOOL_COUNT; i++) {
        if (strcmp(name, load_tool_names[i]) == 0) {
            request->setup.tool = (enum load_tool)i;
            name = NULL;
        }
    }
    if (name != NULL) {
        complain("--load takes wrk, ab or own, not '%s'", name);
        return EXIT_USAGE;
    }
    if ((request->setup.tool == LOAD_WRK && request->trial.wrk == NULL) ||
        (request->setup.tool == LOAD_AB && request->trial.ab == NULL)) {
        complain("'%s' is not installed: apt-get install %s, or --load own",
            load_tool_names[request->setup.tool],
            request->setup.tool == LOAD_AB ? "apache2-utils" : "wrk");
        return EXIT_PARTIAL;
    }
    if (request->setup.rate > 0) {
        request->setup.tool = LOAD_OWN;
    }
    return 0;
}

static int take_work(const struct options *options, struct bench_request *request)
{
    const char *name = options->texts[TEXT_WORK];
    const char *limit = options->texts[TEXT_LIMIT];

    request->trial.work = trial_work_find(name != NULL ? name : "query");
    if (request->trial.work == NULL) {
        complain("--work takes query, hello, large, mix or heavy, not '%s'", name);
        return EXIT_USAGE;
    }
    request->setup.work = request->trial.work->name;
    if (limit != NULL &&
        fpm_config_size(limit, &request->setup.memory_limit_bytes) != 0) {
        complain("--limit takes a size such as 512M or 2G, not '%s'", limit);
        return EXIT_USAGE;
    }
    request->trial.url = options->texts[TEXT_URL];
    request->trial.attach = options->texts[TEXT_ATTACH];
    if (request->trial.attach != NULL && request->trial.url == NULL) {
        complain("--attach needs --url: what to load");
        return EXIT_USAGE;
    }
    /* one with {port} is known once the server is started */
    if (request->trial.url != NULL && strchr(request->trial.url, '{') == NULL &&
        !generator_accepts(request->trial.url)) {
        complain(
            "--url takes http://127.0.0.1:PORT/PATH, fastcgi://127.0.0.1:PORT/SCRIPT or "
            "fastcgi://unix:/PATH.sock:/SCRIPT, no names of hosts and no path above 511 "
            "bytes, not '%s'",
            web_shown(request->trial.url).text);
        return EXIT_USAGE;
    }
    request->setup.url = request->trial.url;
    request->setup.attached = request->trial.attach;
    if (options->texts[TEXT_EXPECT] != NULL) {
        request->trial.expected.prefix = options->texts[TEXT_EXPECT];
    }
    return 0;
}

/* The first of the places below the tool's own folder that exists. */
static bool find_folder(const char *variable, const char *const *below, char *path)
{
    const char *named = getenv(variable);
    char own[BENCH_PATH_BYTES];

    if (named != NULL && *named != '\0') {
        (void)snprintf(path, BENCH_PATH_BYTES, "%s", named);
        return access(path, R_OK) == 0;
    }
    const ssize_t length = readlink("/proc/self/exe", own, sizeof(own) - 1);
    own[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(own, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    for (; *below != NULL; below++) {
        char *whole = NULL;
        if (asprintf(&whole, "%s/%s", own, *below) < 0) {
            return false;
        }
        (void)snprintf(path, BENCH_PATH_BYTES, "%s", whole);
        free(whole);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

static int find_folders(struct bench_request *request)
{
    static const char *const recipes[] = {
        "../share/strata/recipes", "../../../../bench/recipes", NULL};
    static const char *const libexec[] = {
        "../libexec/strata", "../../libexec/strata", NULL};

    if (!find_folder("STRATA_RECIPES", recipes, request->recipes)) {
        complain("cannot find the recipes; name their folder in STRATA_RECIPES");
        return EXIT_PARTIAL;
    }
    (void)find_folder("STRATA_LIBEXEC", libexec, request->libexec);
    request->trial.recipes = request->recipes;
    request->trial.libexec = request->libexec;
    return 0;
}

int bench_options_take(const struct options *options, struct bench_request *request)
{
    const bool models = options->texts[TEXT_MODELS] != NULL;
    int rc;

    *request = (struct bench_request){.models = models,
        .list = options->texts[TEXT_LIST] != NULL,
        .setup = {.workers = DEFAULT_WORKERS,
            .connections = DEFAULT_CONNECTIONS,
            .seconds = models ? MODELS_SECONDS : DEFAULT_SECONDS,
            .runs = DEFAULT_RUNS,
            .quiet_seconds = models ? MODELS_QUIET : DEFAULT_QUIET,
            .keep_alive = options->texts[TEXT_KEEP_ALIVE] != NULL,
            .currency = "units"},
        .trial = {.warm_seconds = models ? MODELS_WARM : DEFAULT_WARM,
            .expected = {.prefix = ""},
            .progress = options->texts[TEXT_SILENT] == NULL}};
    request->trial.setup = &request->setup;
    const long processors = sysconf(_SC_NPROCESSORS_ONLN);
    request->setup.processors = processors > 0 ? (unsigned)processors : 1;
    if (options->texts[TEXT_CURRENCY] != NULL) {
        request->setup.currency = options->texts[TEXT_CURRENCY];
    }
    rc = take_numbers(options, request);
    rc = rc == 0 ? take_decimal(options, TEXT_RATE, "--rate", &request->setup.rate) : rc;
    rc = rc == 0 ? take_decimal(options, TEXT_PRICE_MEMORY, "--price-memory",
                       &request->setup.price_memory)
                 : rc;
    rc = rc == 0 ? take_decimal(options, TEXT_PRICE_CPU, "--price-cpu",
                       &request->setup.price_processor)
                 : rc;
    rc = rc == 0 ? take_tool(options, request) : rc;
    rc = rc == 0 ? take_work(options, request) : rc;
    return rc == 0 ? find_folders(request) : rc;
}
