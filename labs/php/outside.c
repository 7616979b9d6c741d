/*
 * Runs the tool as a program and takes its JSON apart: the only way in which a lab knows
 * what the tool sees, so that what it shows is what a user gets.
 */
#include "outside.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "child.h"
#include "lab.h"

enum { JSON_BYTES = 4 << 20, PID_BYTES = 16 };

/* From the folder of the labs: as installed, and in the folder of a build. */
static const char *const places[] = {
    "/../../../bin/strata",
    "/../../../src/cmd/strata",
};
enum { PLACES = sizeof(places) / sizeof(places[0]) };

static void find_tool(char *path, size_t bytes)
{
    const char *named = getenv("STRATA_PROGRAM");
    char folder[LAB_PATH_BYTES * 4];
    if (named != NULL && named[0] != '\0') {
        snprintf(path, bytes, "%s", named);
        return;
    }
    ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);
    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    for (size_t i = 0; i < PLACES; i++) {
        snprintf(path, bytes, "%s%s", folder, places[i]);
        if (access(path, X_OK) == 0) {
            return;
        }
    }
    lab_die("there is no program 'strata' beside the labs; name it in STRATA_PROGRAM");
}

static int64_t number_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);
    return json_is_integer(value) ? (int64_t)json_integer_value(value) : LAB_UNKNOWN;
}

static int64_t layer_bytes(const json_t *report, const char *id)
{
    const json_t *layers = json_object_get(report, "layers");
    for (size_t i = 0; i < json_array_size(layers); i++) {
        const json_t *layer = json_array_get(layers, i);
        const char *name = json_string_value(json_object_get(layer, "id"));
        if (name != NULL && strcmp(name, id) == 0) {
            return number_of(layer, "bytes");
        }
    }
    return LAB_UNKNOWN;
}

static void take_report(const json_t *report, struct outside *outside)
{
    const json_t *heaps = json_object_get(report, "zend_heaps");
    const json_t *heap = json_array_get(heaps, 0);
    const char *state = json_string_value(json_object_get(heap, "state"));
    if (json_array_size(heaps) != 1 || state == NULL || strcmp(state, "ok") != 0) {
        lab_die("strata does not read one PHP heap of that process");
    }
    *outside = (struct outside){
        .used = number_of(heap, "used"),
        .real = number_of(heap, "real"),
        .peak_used = number_of(heap, "peak_used"),
        .peak_real = number_of(heap, "peak_real"),
        .limit = number_of(heap, "limit"),
        .chunks = number_of(heap, "chunks"),
        .cached_chunks = number_of(heap, "cached_chunks"),
        .half_chunks = number_of(heap, "half_chunks"),
        .rss = layer_bytes(report, "resident"),
    };
}

void outside_read(pid_t pid, struct outside *outside)
{
    char path[LAB_PATH_BYTES * 5];
    char number[PID_BYTES];
    char explain[] = "explain";
    char json[] = "--json";
    find_tool(path, sizeof(path));
    snprintf(number, sizeof(number), "%d", (int)pid);
    char *arguments[] = {path, explain, number, json, NULL};
    struct child_job job = {.arguments = arguments,
        .input = "",
        .output = malloc(JSON_BYTES),
        .output_capacity = JSON_BYTES};
    if (job.output == NULL) {
        lab_die("no memory for the report");
    }
    int error = child_run(&job);
    if (error != 0) {
        fprintf(stderr, "lab: cannot run '%s': %s\n", path, strerror(-error));
        lab_die("no figures from outside");
    }
    json_t *report = json_loadb(job.output, job.output_bytes, 0, NULL);
    take_report(report, outside);
    json_decref(report);
    free(job.output);
}
