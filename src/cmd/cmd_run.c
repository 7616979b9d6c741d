/*
 * cmd_run.c - `strata run`: sets the environment, and reports.
 *
 * The library comes from run_library.c, what the command's program is from run_program.c, the
 * running from run_process.c, the figures from child_region.c.
 */
#include "cmd/cmd_run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/duration.h"
#include "base/number.h"
#include "base/quantity.h"
#include "cmd/exit_code.h"
#include "cmd/message.h"
#include "cmd/run_library.h"
#include "cmd/run_process.h"
#include "cmd/run_program.h"
#include "facts/child_region.h"
#include "present/safe_text.h"

/* The greeting when malloc is the library's (alloc/src/launcher.h). */
enum { MALLOC_PAGE_BYTES = 4096, MALLOC_IS_OURS = '+' };

enum { SIGNAL_BASE = 128, OUTPUT_MODE = 0666, NAME_COLUMNS = 12 };

/* What the library takes: it would ignore another size, and the command had no limit. */
static bool is_size(const char *text)
{
    const char *end = text;
    uint64_t number;

    if (number_read(&end, 10, &number) != 0 || number == 0) {
        return false;
    }
    if (strcmp(end, "%") == 0) {
        return number <= 100;
    }
    return (*end == '\0' || (strchr("KMGT", *end) != NULL && end[1] == '\0')) &&
           size_parse(text, &number) == 0;
}

static int set_size(const char *option, const char *variable, const char *size)
{
    if (size == NULL) {
        return 0;
    }
    if (!is_size(size)) {
        complain("%s takes a size such as 512M or 80%%, not '%s'", option, size);
        return EXIT_USAGE;
    }
    if (setenv(variable, size, 1) != 0) {
        complain("cannot set '%s': %s", variable, strerror(errno));
        return EXIT_FAILED;
    }
    return 0;
}

static int prepare(const struct options *options)
{
    int code = set_size("--limit", "STRATA_LIMIT", options->texts[TEXT_LIMIT]);
    if (code == 0) {
        code = set_size(
            "--soft-limit", "STRATA_SOFT_LIMIT", options->texts[TEXT_SOFT_LIMIT]);
    }
    if (code != 0) {
        return code;
    }
    if (sysconf(_SC_PAGESIZE) != MALLOC_PAGE_BYTES) {
        complain(
            "cannot use the malloc replacement: it is made for pages of %d bytes, and "
            "this kernel has pages of %ld",
            MALLOC_PAGE_BYTES, sysconf(_SC_PAGESIZE));
        return EXIT_NOT_ACTING;
    }
    return 0;
}

static void add_row(
    struct buffer *text, const char *name, uint64_t bytes, bool exact, const char *note)
{
    buffer_printf(text, "  %16s  %s", quantity_bytes(bytes, exact).text, name);
    if (*note != '\0') {
        buffer_printf(text, "%*s  %s", (int)(NAME_COLUMNS - strlen(name)), "", note);
    }
    buffer_append_text(text, "\n");
}

/* What the limit did, and what it could not. At its peak malloc had peak_charged_bytes at most. */
static void add_limit(struct buffer *text, const struct child_layers *layers,
    uint64_t rss_bytes, bool exact)
{
    buffer_printf(text, "  limit %s: %s refused, given back %s\n",
        quantity_bytes(layers->limit_bytes, exact).text,
        quantity_count(layers->refused, "request").text,
        quantity_count(layers->purges, "time").text);
    if (rss_bytes > layers->limit_bytes && rss_bytes > layers->peak_charged_bytes) {
        buffer_printf(text,
            "  peak RSS is above the limit, which bounds malloc alone: %s or more of it\n"
            "  is not malloc's, but mappings of the program (such as PHP's heaps), "
            "files,\n"
            "  stacks\n",
            quantity_bytes(rss_bytes - layers->peak_charged_bytes, exact).text);
    }
}

static void add_layers(
    struct buffer *text, const struct run_process *process, const struct options *options)
{
    const uint64_t rss_bytes = (uint64_t)process->usage.ru_maxrss * 1024;
    struct child_layers layers;
    bool exact = options->exact_bytes;

    if (child_region_read(&process->figures, &layers)) {
        add_row(
            text, "in use", layers.in_use_bytes, exact, "blocks not freed at the end");
        add_row(text, "kept", layers.cached_bytes, exact, "free blocks, ready on a CPU");
        add_row(text, "free", layers.free_bytes, exact, "pages that may be resident");
        add_row(text, "books", layers.descriptor_bytes, exact, "descriptors and tables");
        add_row(text, "charged", layers.charged_bytes, exact,
            "the sum, when it ended: what a limit bounds");
        add_row(text, "peak charged", layers.peak_charged_bytes, exact, "");
        add_row(text, "held", layers.held_bytes, exact,
            "address space, when it ended, as in strata explain");
    } else {
        buffer_append_text(text,
            "                 -  charged       no figures: the malloc "
            "replacement was not at work\n");
    }
    add_row(text, "peak RSS", rss_bytes, exact,
        "of the whole process, or of the largest it waited for");
    if (layers.limit_bytes != 0) {
        add_limit(text, &layers, rss_bytes, exact);
    }
    if (layers.pressure_purges != 0) {
        buffer_printf(text, "  under pressure: given back %s\n",
            quantity_count(layers.pressure_purges, "time").text);
    }
}

static int report(const struct run_process *process, const struct options *options)
{
    struct buffer text;
    int rc = 0;

    buffer_init(&text);
    buffer_append_text(&text, "strata run: ");
    safe_text_append(&text, options->arguments[0], false);
    if (WIFSIGNALED(process->status)) {
        buffer_printf(&text, " ended by signal %d", WTERMSIG(process->status));
    } else {
        buffer_printf(&text, " ended with %d", WEXITSTATUS(process->status));
    }
    buffer_printf(
        &text, " after %s\n", quantity_microseconds(process->microseconds).text);
    add_layers(&text, process, options);
    int file = STDERR_FILENO;
    if (options->output != NULL) {
        file =
            open(options->output, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, OUTPUT_MODE);
        rc = file < 0 ? -errno : 0;
    }
    if (rc == 0) {
        rc = descriptor_write_all(file, text.data, text.length_bytes);
    }
    if (options->output != NULL && file >= 0) {
        (void)close(file);
    }
    if (rc != 0) {
        complain("cannot write '%s': %s",
            options->output != NULL ? options->output : "standard error", strerror(-rc));
    }
    buffer_release(&text);
    return rc;
}

/* Why the preload did not act, as far as can be told from outside; NULL: it did. */
static const char *why_not(const struct run_process *process)
{
    struct child_layers layers;

    if (process->greeting == 0) {
        return "the library did not start in it";
    }
    if (process->greeting != MALLOC_IS_OURS) {
        return "the program brings its own malloc, which the loader finds first";
    }
    if (!process->figures.preloaded || !child_region_read(&process->figures, &layers)) {
        return "the library is not among its mappings, or has no figures";
    }
    return NULL;
}

static int check(const struct run_process *process, const char *name)
{
    const char *why = why_not(process);

    if (why == NULL) {
        complain("the preload acted on '%s'", name);
        return 0;
    }
    complain("the preload did not act on '%s': %s", name, why);
    return EXIT_NOT_ACTING;
}

static int exit_code_from(int status)
{
    return WIFSIGNALED(status) ? SIGNAL_BASE + WTERMSIG(status) : WEXITSTATUS(status);
}

static int run(const struct options *options)
{
    const char *name = options->arguments[0];
    struct run_program program;
    struct run_process process;

    run_program_look(name, &program);
    bool acts = program.reason[0] == '\0';
    if (!acts) {
        complain("the preload will not act: %s", program.reason);
        if (options->check) {
            return EXIT_NOT_ACTING;
        }
    }
    int rc = run_process(options->arguments, acts, &process);
    if (rc != 0) {
        complain("cannot run '%s': %s", name, strerror(-rc));
        return rc == -ENOENT ? EXIT_NO_COMMAND : EXIT_CANNOT_RUN;
    }
    (void)report(&process, options);
    int code = exit_code_from(process.status);
    if (options->check && check(&process, name) != 0) {
        code = EXIT_NOT_ACTING;
    }
    child_region_release(&process.figures);
    return code;
}

int cmd_run(const struct options *options)
{
    struct run_library library;

    int code = prepare(options);
    if (code != 0) {
        return code;
    }
    code = run_library_preload(&library);
    if (code == 0) {
        code = run(options);
    }
    run_library_release(&library);
    return code;
}
