/*
 * look.c - takes a report (docs/json.md) apart.
 */
#include "look.h"

#include <string.h>

#include "base.h"
#include "tool.h"

static int64_t integer_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_integer(value) ? (int64_t)json_integer_value(value) : LAB_UNKNOWN;
}

/* The member of an array whose key has this text, or NULL. */
static const json_t *member_with(const json_t *array, const char *key, const char *text)
{
    for (size_t i = 0; i < json_array_size(array); i++) {
        const json_t *one = json_array_get(array, i);
        const char *value = json_string_value(json_object_get(one, key));
        if (value != NULL && strcmp(value, text) == 0) {
            return one;
        }
    }
    return NULL;
}

static const json_t *layer_of(const json_t *report, const char *id)
{
    return member_with(json_object_get(report, "layers"), "id", id);
}

/* Facts may be plain integers or objects with bytes. */
static int64_t bytes_of(const json_t *object, const char *key)
{
    const json_t *value = json_object_get(object, key);

    return json_is_object(value) ? integer_of(value, "bytes") : integer_of(object, key);
}

static void take_arenas(struct look *look, const json_t *glibc)
{
    const json_t *arenas = json_object_get(glibc, "arenas");

    look->arenas = (int64_t)json_array_size(arenas);
    look->retained = 0;
    for (size_t i = 0; i < json_array_size(arenas); i++) {
        const json_t *arena = json_array_get(arenas, i);
        const int64_t beyond =
            lab_difference(bytes_of(arena, "resident"), bytes_of(arena, "in_use"));
        if (beyond != LAB_UNKNOWN && beyond > 0) {
            look->retained += beyond;
        }
    }
}

void look_take(struct look *look, json_t *report)
{
    const json_t *glibc =
        member_with(json_object_get(report, "allocators"), "name", "glibc");

    *look = (struct look){
        .report = report,
        .tracked = integer_of(layer_of(report, "tracked"), "bytes"),
        .in_use = integer_of(layer_of(report, "in_use"), "bytes"),
        .held = integer_of(layer_of(report, "held"), "bytes"),
        .resident = integer_of(layer_of(report, "resident"), "bytes"),
        .residual = integer_of(layer_of(report, "residual"), "bytes"),
        .free_resident = integer_of(layer_of(report, "free_resident"), "bytes"),
        .trim_gain = bytes_of(glibc, "trim_gain"),
        .arenas = LAB_UNKNOWN,
        .retained = LAB_UNKNOWN,
    };
    if (json_array_size(json_object_get(glibc, "arenas")) > 0) {
        take_arenas(look, glibc);
    }
    if (look->resident == LAB_UNKNOWN) {
        lab_die("strata does not see how much of the process is resident");
    }
}

void look_at(struct look *look, pid_t pid, const char *capture)
{
    look_take(look, tool_explain(pid, capture));
}

void look_release(struct look *look)
{
    json_decref(look->report);
    look->report = NULL;
}

static const json_t *finding_of(const struct look *look, const char *rule)
{
    return member_with(json_object_get(look->report, "findings"), "rule", rule);
}

struct look_range look_predicted(const struct look *look, const char *rule)
{
    const json_t *predicted = json_object_get(finding_of(look, rule), "predicted");

    return (struct look_range){.known = predicted != NULL,
        .low = integer_of(predicted, "low"),
        .high = integer_of(predicted, "high")};
}

bool look_found(const struct look *look, const char *rule)
{
    return finding_of(look, rule) != NULL;
}

int64_t look_cgroup(const struct look *look, const char *key)
{
    return bytes_of(json_object_get(look->report, "cgroup"), key);
}

int64_t look_resident_part(const struct look *look, const char *id)
{
    const json_t *parts = json_object_get(layer_of(look->report, "resident"), "parts");
    const int64_t bytes = integer_of(member_with(parts, "id", id), "bytes");

    return bytes != LAB_UNKNOWN ? bytes : 0;
}
