/*
 * cmd_bench.c - `strata bench`: recipes one after the other, one table.
 *
 * Exit codes: 0 all rows have figures; 5 some have not (not installed, invalid, not whole), which the
 * table says; 130 is not used: a stop by a signal is 5 as well, after everything was ended.
 */
#include "cmd/cmd_bench.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/quantity.h"
#include "cmd/bench_options.h"
#include "cmd/bench_plan.h"
#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/terminal.h"
#include "facts/collect.h"
#include "present/page.h"
#include "trial/box.h"
#include "trial/folder.h"
#include "trial/result_json.h"
#include "trial/service.h"
#include "trial/table.h"

enum { REGION_BYTES = 8 << 20, TITLE_COLUMN = 19 };

static const char *const model_recipes[] = {
    "model-prefork", "model-event", "model-supervisor"};

static enum exit_code list_recipes(
    const struct options *options, const struct bench_request *request)
{
    const struct present_style style = terminal_style(options);
    const char *names[RECIPES_MOST];
    struct region region;
    struct buffer buffer;
    struct page page;

    region_init(&region, REGION_BYTES);
    buffer_init(&buffer);
    page_init(&page, &style, &buffer);
    const size_t count = recipe_names(&region, request->recipes, names);
    for (size_t i = 0; i < count; i++) {
        struct recipe recipe;
        struct error error;
        error_reset(&error);
        const int rc = recipe_load(&region, request->recipes, names[i], &recipe, &error);
        page_put(&page, INK_PLAIN, names[i]);
        page_at(&page, TITLE_COLUMN);
        if (rc != 0) {
            page_put(&page, INK_PLAIN, "broken: ");
            page_paragraph(&page, INK_PLAIN, error_text(&error, rc), TITLE_COLUMN);
            continue;
        }
        const struct recipe_program *missing = recipe_find_programs(&region, &recipe);
        const char *text = region_printf(&region, "%s%s%s", recipe.title,
            missing != NULL ? "; not installed: " : "",
            missing != NULL && recipe.install != NULL ? recipe.install : "");
        page_paragraph(
            &page, INK_PLAIN, text != NULL ? text : recipe.title, TITLE_COLUMN);
    }
    const int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    region_release(&region);
    return rc == 0 ? EXIT_FINE : EXIT_FAILED;
}

/* A recipe made of the command behind "--", or of nothing for --attach. */
static void recipe_of_command(
    struct region *region, const struct options *options, struct recipe *recipe)
{
    struct buffer command;

    buffer_init(&command);
    for (int i = 0; i < options->argument_count; i++) {
        buffer_printf(&command, i == 0 ? "%s" : " %s", options->arguments[i]);
    }
    *recipe = (struct recipe){
        .name = options->texts[TEXT_ATTACH] != NULL ? "attached" : "command",
        .folder = "/",
        .title = "as given on the command line",
        .url = options->texts[TEXT_URL],
        .settings = "other",
        .stop_signal = SIGTERM};
    if (options->argument_count > 0 && options->texts[TEXT_ATTACH] == NULL) {
        recipe->starts[0] = (struct recipe_start){
            .role = "pool", .command = region_copy_text(region, buffer_text(&command))};
        recipe->start_count = recipe->starts[0].command != NULL ? 1 : 0;
    }
    buffer_release(&command);
}

/* What is missing to run recipe, into row->why; true when nothing is. */
static bool is_installed(
    struct region *region, struct recipe *recipe, struct result_row *row, const char *log)
{
    const struct recipe_program *missing = recipe_find_programs(region, recipe);
    struct error error;

    (void)snprintf(row->recipe, sizeof(row->recipe), "%s", recipe->name);
    (void)snprintf(row->title, sizeof(row->title), "%s", recipe->title);
    if (missing == NULL && recipe->check != NULL) {
        struct buffer command;
        buffer_init(&command);
        error_reset(&error);
        recipe_expand(recipe, NULL, 0, recipe->check, &command);
        const int rc = service_run(buffer_text(&command), log, 10, &error);
        buffer_release(&command);
        if (rc == 0) {
            return true;
        }
        (void)snprintf(row->why, sizeof(row->why), "%s is missing: %s",
            recipe->needs != NULL ? recipe->needs : "something",
            recipe->install != NULL ? recipe->install : "the recipe does not say how");
        return false;
    }
    if (missing != NULL) {
        (void)snprintf(row->why, sizeof(row->why), "no program '%s': %s",
            missing->candidates,
            recipe->install != NULL ? recipe->install : "the recipe does not say how");
    }
    return missing == NULL;
}

/* One recipe, one row. 0, -EINTR, or -errno when the bench cannot go on. */
static int run_recipe(const struct bench_request *request, struct facts_root *root,
    struct recipe *recipe, struct result *result)
{
    struct result_row *row = &result->rows[result->row_count++];
    struct region region;
    struct trial_look look;
    struct error error;

    error_reset(&error);
    region_init(&region, REGION_BYTES);
    int rc = 0;
    if (is_installed(&region, recipe, row, "/dev/null")) {
        rc = trial_run(&request->trial, root, recipe, row, &look, &error);
        if (rc == 0) {
            rc = bench_plan_keep(&look, row);
        }
        if (look.taken) {
            region_release(&look.facts.region);
        }
        memory_end(&look.series);
    }
    region_release(&region);
    return rc;
}

static int run_named(const struct bench_request *request, struct facts_root *root,
    const char *name, struct result *result)
{
    struct region region;
    struct recipe recipe;
    struct error error;

    error_reset(&error);
    region_init(&region, REGION_BYTES);
    int rc = recipe_load(&region, request->recipes, name, &recipe, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
    } else {
        rc = run_recipe(request, root, &recipe, result);
    }
    region_release(&region);
    return rc;
}

static int run_command(const struct bench_request *request, struct facts_root *root,
    const struct options *options, struct result *result)
{
    struct region region;
    struct recipe recipe;

    region_init(&region, REGION_BYTES);
    recipe_of_command(&region, options, &recipe);
    const int rc = run_recipe(request, root, &recipe, result);
    region_release(&region);
    return rc;
}

static int run_all(const struct bench_request *request, struct facts_root *root,
    const struct options *options, struct result *result)
{
    const char *const *names =
        request->models ? model_recipes : (const char *const *)options->arguments;
    int count = request->models ? (int)(sizeof(model_recipes) / sizeof(model_recipes[0]))
                                : options->argument_count;
    int rc = 0;

    if (request->trial.attach != NULL || request->trial.url != NULL) {
        return run_command(request, root, options, result);
    }
    for (int i = 0; rc == 0 && i < count && i < RESULT_MAX_ROWS; i++) {
        rc = run_named(request, root, names[i], result);
    }
    return rc;
}

/* Titles and reasons come from recipes and servers: the page makes them safe to show. */
static void put_text(
    const struct options *options, const struct result *result, struct buffer *buffer)
{
    const struct present_style style = terminal_style(options);
    struct page page;
    struct buffer raw;

    buffer_init(&raw);
    page_init(&page, &style, buffer);
    result_tables(result, page.width, &raw);
    page_verbatim(&page, INK_PLAIN, buffer_text(&raw), 0);
    buffer->failed = buffer->failed || raw.failed;
    buffer_reset(&raw);
    page_end_line(&page);
    table_notes(result, &raw);
    for (char *line = raw.data; line != NULL && *line != '\0';) {
        const size_t bytes = strcspn(line, "\n");
        const size_t behind = line[bytes] != '\0' ? 1 : 0;
        line[bytes] = '\0';
        page_paragraph(&page, INK_PLAIN, line, 0);
        line += bytes + behind;
    }
    buffer->failed = buffer->failed || raw.failed;
    buffer_release(&raw);
}

static int write_out(const struct options *options, const struct buffer *buffer)
{
    if (options->output == NULL || strcmp(options->output, "-") == 0) {
        return print_buffer(buffer);
    }
    if (buffer_error(buffer) != 0) {
        return buffer_error(buffer);
    }
    const int fd = open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    int rc = fd < 0 ? -errno
                    : descriptor_write_all(fd, buffer_text(buffer), buffer->length_bytes);
    if (fd >= 0 && close(fd) != 0 && rc == 0) {
        rc = -errno;
    }
    if (rc != 0) {
        complain("cannot write '%s': %s", options->output, strerror(-rc));
    }
    return rc;
}

static enum exit_code show(const struct options *options, const struct result *result)
{
    struct buffer buffer;
    enum exit_code code = EXIT_FINE;

    buffer_init(&buffer);
    if (options->json) {
        result_json(result, &buffer);
    } else if (options->texts[TEXT_MARKDOWN] != NULL) {
        result_markdown(result, &buffer);
    } else if (options->texts[TEXT_HTML] != NULL) {
        result_html(result, &buffer);
    } else {
        put_text(options, result, &buffer);
    }
    if (write_out(options, &buffer) != 0) {
        code = EXIT_FAILED;
    }
    buffer_release(&buffer);
    for (size_t i = 0; code == EXIT_FINE && i < result->row_count; i++) {
        const struct result_row *row = &result->rows[i];
        if (!row->whole || result_medians_of(row).counted < row->run_count) {
            code = EXIT_PARTIAL;
        }
    }
    return code;
}

static void release_result(struct result *result)
{
    for (size_t i = 0; i < result->row_count; i++) {
        free(result->rows[i].plan.private_bytes);
    }
    free(result);
}

/* What a bench that was killed could not remove itself. */
static void sweep(const struct options *options)
{
    const size_t folders = folder_sweep();
    const size_t boxes = box_sweep();

    if (folders + boxes > 0 && options->texts[TEXT_SILENT] == NULL) {
        complain("removed what a killed bench had left: %s, %s",
            quantity_count(folders, "folder").text, quantity_count(boxes, "cgroup").text);
    }
}

/* A pool that is not there is told before anything is started or measured. */
static int find_attached(struct facts_root *root, const char *attach, struct error *error)
{
    struct facts facts;

    if (attach == NULL) {
        return 0;
    }
    const int rc = facts_collect(root, attach, COLLECT_STATUS, &facts, error);
    if (rc == 0) {
        region_release(&facts.region);
    }
    return rc;
}

static enum exit_code bench(
    const struct options *options, const struct bench_request *request)
{
    struct result *result = calloc(1, sizeof(*result));
    struct facts_root root;
    struct error error;
    enum exit_code code = EXIT_FAILED;

    error_reset(&error);
    int rc = result != NULL ? facts_root_open(&root, NULL, &error) : -ENOMEM;
    if (rc != 0) {
        complain("cannot begin: %s", error_text(&error, rc));
        free(result);
        return EXIT_FAILED;
    }
    rc = find_attached(&root, request->trial.attach, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        facts_root_close(&root);
        free(result);
        return exit_code_of(rc);
    }
    result->setup = request->setup;
    service_catch_signals();
    sweep(options);
    rc = run_all(request, &root, options, result);
    facts_root_close(&root);
    if (result->row_count > 0) {
        code = show(options, result);
    }
    if (rc == -EINTR) {
        complain("stopped: what was started has ended, and the table is not whole");
        code = EXIT_PARTIAL;
    } else if (rc == -ENOENT && result->row_count == 0) {
        code = EXIT_NO_TARGET;
    } else if (rc != 0 && code == EXIT_FINE) {
        code = EXIT_FAILED;
    }
    release_result(result);
    return code;
}

int cmd_bench(const struct options *options)
{
    struct bench_request request;

    const int rc = bench_options_take(options, &request);
    if (rc != 0) {
        return rc;
    }
    if (request.list) {
        return list_recipes(options, &request);
    }
    if (!request.models && options->argument_count == 0 && request.trial.attach == NULL) {
        complain(
            "name a recipe ('strata bench --list'), --models, or --url URL -- COMMAND");
        return EXIT_USAGE;
    }
    return bench(options, &request);
}
