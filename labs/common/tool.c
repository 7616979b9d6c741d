/*
 * tool.c - finds the tool, runs it, reads its JSON.
 */
#include "tool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "child.h"

enum { PATH_BYTES = 4096, JSON_BYTES = 16 << 20, PID_BYTES = 16 };

/* From the folder of the labs: as installed, and in the folder of a build. */
static const char *const places[] = {
    "/../../../bin/strata",
    "/../../../src/cmd/strata",
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

static void find_tool(char *path, size_t bytes)
{
    const char *named = getenv("STRATA_PROGRAM");
    char folder[PATH_BYTES / 2];

    if (named != NULL && named[0] != '\0') {
        (void)snprintf(path, bytes, "%s", named);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    for (size_t i = 0; i < PLACES; i++) {
        (void)snprintf(path, bytes, "%s%s", folder, places[i]);
        if (access(path, X_OK) == 0) {
            return;
        }
    }
    lab_die("there is no program 'strata' beside the labs; name it in STRATA_PROGRAM");
}

static json_t *run(char *const *arguments)
{
    struct child_job job = {.arguments = arguments,
        .input = "",
        .output = malloc(JSON_BYTES),
        .output_capacity = JSON_BYTES};

    if (job.output == NULL) {
        lab_die("no memory for a report");
    }
    int error = child_run(&job);
    if (error != 0) {
        lab_die_of("cannot run", arguments[0], -error);
    }
    json_t *report = json_loadb(job.output, job.output_bytes, 0, NULL);
    free(job.output);
    if (report == NULL) {
        lab_die("strata explains nothing here");
    }
    return report;
}

json_t *tool_explain(pid_t pid, const char *capture)
{
    char path[PATH_BYTES];
    char number[PID_BYTES];
    char explain[] = "explain", json[] = "--json", option[] = "--capture";
    char no_keep[] = "--no-keep"; /* a lab is no target that comes again */

    find_tool(path, sizeof(path));
    (void)snprintf(number, sizeof(number), "%d", (int)pid);
    char *arguments[] = {path, explain, number, json, no_keep,
        capture != NULL ? option : NULL, (char *)capture, NULL};
    return run(arguments);
}

json_t *tool_explain_capture(const char *capture)
{
    char path[PATH_BYTES];
    char explain[] = "explain", json[] = "--json";

    find_tool(path, sizeof(path));
    char *arguments[] = {path, explain, (char *)capture, json, NULL};
    return run(arguments);
}
