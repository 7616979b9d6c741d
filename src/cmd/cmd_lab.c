/*
 * cmd_lab.c - finds the program of an experiment and becomes it.
 *
 * A lab is a program of its own (labs/), so that it can allocate, fail and be killed
 * without the tool; its exit code is ours. It lies in ../libexec/strata/labs from
 * the tool when installed, and at the same place from the build's top when not; STRATA_LABS
 * names another folder.
 */
#include "cmd/cmd_lab.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd/exit_code.h"
#include "cmd/lab_memory.h"
#include "cmd/message.h"
#include "cmd/own_folder.h"
#include "cmd/terminal.h"
#include "present/page.h"

enum { PATH_BYTES = 4096, NAME_COLUMN = 16, MOST_ARGUMENTS = 64 };

const struct lab_row lab_table[] = {
    {"layers", "three numbers for one PHP process: which contains which",
        {.base_mib = 40}},
    {"steps", "why real moves in steps of 2 MiB", {.base_mib = 16}},
    {"limit", "what memory_limit compares, and what the headroom is worth",
        {.base_mib = 24}},
    {"cliff", "why 1 MiB is the worst size to ask PHP for", {.base_mib = 136}},
    {"sweep", "over all sizes: how much more than used is real", {.base_mib = 40}},
    {"survivors", "small blocks are freed: what goes back", {.base_mib = 240}},
    {"chunks-return", "how a worker gives memory back after a heavy request",
        {.base_mib = 140}},
    {"php-layers", "real PHP: its three numbers, read from outside", {.base_mib = 40}},
    {"php-steps", "real PHP: the steps of real, read from outside", {.base_mib = 16}},
    {"php-limit", "real PHP: the moment before its limit, read from outside",
        {.base_mib = 24}},
    {"php-cliff", "real PHP: the cliff at half a chunk, read from outside",
        {.base_mib = 140}},
    {"fpm-staircase", "real PHP-FPM: a staircase, one step, and what separates them",
        {.base_mib = 120}},
    {"arena-churn", "arenas against resident memory: a pool of threads, fresh threads",
        {200, "threads", 32, 1024}},
    {"alloc-test", "small blocks are freed: can another process have the memory?",
        {24, "mib", 1024, 5376}},
    {"docker-number", "four figures for one container, and what each of them is",
        {352, "anon", 128, 1024}},
    {"mysql-churn", "MariaDB under churn: what is tracked, resident, and saved by a fix",
        {400, "clients", 64, 2048}},
    {.name = NULL},
};

static int list_labs(const struct options *options)
{
    const struct present_style style = terminal_style(options);
    struct buffer buffer;
    struct page page;

    buffer_init(&buffer);
    page_init(&page, &style, &buffer);
    for (const struct lab_row *row = lab_table; row->name != NULL; row++) {
        page_put(&page, INK_PLAIN, row->name);
        page_at(&page, NAME_COLUMN);
        page_paragraph(&page, INK_PLAIN, row->summary, NAME_COLUMN);
    }
    int rc = print_buffer(&buffer);
    buffer_release(&buffer);
    return rc == 0 ? EXIT_FINE : EXIT_FAILED;
}

/* path becomes the program of lab below folder, and whether it can be run is returned. */
static bool find_in(const char *folder, const char *below, const char *lab, char *path)
{
    int length = snprintf(path, PATH_BYTES, "%s%s/lab-%s", folder, below, lab);

    return length > 0 && length < PATH_BYTES && access(path, X_OK) == 0;
}

static bool find_program(const char *lab, char *path)
{
    const char *named = getenv("STRATA_LABS");
    char folder[PATH_BYTES];

    if (named != NULL && *named != '\0') {
        return find_in(named, "", lab, path);
    }
    own_folder(folder, sizeof(folder));
    return find_in(folder, "/../libexec/strata/labs", lab, path) ||
           find_in(folder, "/../../libexec/strata/labs", lab, path);
}

static const struct lab_row *find_row(const char *name)
{
    for (const struct lab_row *row = lab_table; row->name != NULL; row++) {
        if (strcmp(row->name, name) == 0) {
            return row;
        }
    }
    return NULL;
}

/* The program's own settings are passed on; it knows which it has. */
static int become(const char *path, const struct options *options)
{
    char check[] = "--check";
    char *arguments[MOST_ARGUMENTS + 3] = {(char *)path};
    int count = 1;

    if (options->check) {
        arguments[count++] = check;
    }
    for (int i = 1; i < options->argument_count && i <= MOST_ARGUMENTS; i++) {
        arguments[count++] = options->arguments[i];
    }
    (void)execv(path, arguments);
    complain("cannot run '%s': %s", path, strerror(errno));
    return EXIT_FAILED;
}

int cmd_lab(const struct options *options)
{
    char path[PATH_BYTES];

    if (options->argument_count == 0) {
        return list_labs(options);
    }
    const struct lab_row *row = find_row(options->arguments[0]);
    if (row == NULL) {
        complain("no lab '%s'; 'strata lab' lists them", options->arguments[0]);
        return EXIT_NO_TARGET;
    }
    if (!find_program(row->name, path)) {
        complain(
            "cannot run lab '%s': its program 'lab-%s' is not installed; build the labs "
            "or name their folder in STRATA_LABS",
            row->name, row->name);
        return EXIT_PARTIAL;
    }
    const enum exit_code code = lab_memory_check(row, options);
    return code == EXIT_FINE ? (enum exit_code)become(path, options) : code;
}
