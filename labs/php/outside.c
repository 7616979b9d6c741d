/*
 * Takes the JSON of the tool apart.
 */
#include "outside.h"

#include <jansson.h>
#include <string.h>

#include "lab.h"
#include "tool.h"

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
    json_t *report = tool_explain(pid, NULL);
    take_report(report, outside);
    json_decref(report);
}
