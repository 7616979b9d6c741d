/*
 * result_read.c - a file that anyone may have written: each number is checked.
 *
 * jansson keeps integers of 64 bits with a sign; a negative one is refused, since no figure
 * here can be.
 */
#include "trial/result_read.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/descriptor.h"
#include "base/input_file.h"

struct reader {
    const json_t *object;
    const char *wrong; /* the first key that is not what it should be */
};

static uint64_t take(struct reader *reader, const char *key, bool required)
{
    const json_t *value = json_object_get(reader->object, key);

    if (value == NULL && !required) {
        return 0;
    }
    if (!json_is_integer(value) || json_integer_value(value) < 0) {
        reader->wrong = reader->wrong == NULL ? key : reader->wrong;
        return 0;
    }
    return (uint64_t)json_integer_value(value);
}

static int take_samples(
    struct region *region, struct reader *reader, struct result_plan *plan)
{
    const json_t *list = json_object_get(reader->object, "private");
    const size_t count = json_array_size(list);

    if (count == 0 || count > MEMORY_MAX_PRIVATE) {
        reader->wrong = "private";
        return 0;
    }
    plan->private_bytes = region_alloc(region, count * sizeof(uint64_t));
    if (plan->private_bytes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *value = json_array_get(list, i);
        if (!json_is_integer(value) || json_integer_value(value) < 0) {
            reader->wrong = "private";
            return 0;
        }
        plan->private_bytes[plan->private_count++] = (uint64_t)json_integer_value(value);
    }
    return 0;
}

static int take_plan(struct region *region, const json_t *object,
    struct result_plan *plan, struct error *error)
{
    struct reader reader = {.object = object};
    const char *server = json_string_value(json_object_get(object, "server"));

    *plan = (struct result_plan){.known = true};
    (void)snprintf(
        plan->server, sizeof(plan->server), "%s", server != NULL ? server : "");
    plan->concurrency = (double)take(&reader, "concurrency_thousandths", true) / 1000;
    plan->master_bytes = take(&reader, "master", true);
    plan->shared_once_bytes = take(&reader, "shared_once", true);
    plan->fixed_kernel_bytes = take(&reader, "fixed_kernel", true);
    plan->kernel_bytes = take(&reader, "kernel", true);
    plan->base_bytes = take(&reader, "base", true);
    plan->shared_bytes = take(&reader, "shared", true);
    plan->retained_bytes = take(&reader, "retained", true);
    plan->heap_known = json_object_get(object, "peak_real") != NULL;
    plan->peak_real_bytes = take(&reader, "peak_real", false);
    plan->peak_used_bytes = take(&reader, "peak_used", false);
    plan->half_chunks = take(&reader, "half_chunks", false);
    plan->memory_limit_bytes = take(&reader, "memory_limit", false);
    plan->growth_known = json_object_get(object, "growth_per_request") != NULL;
    plan->growth_bytes_per_request = take(&reader, "growth_per_request", false);
    const int rc = take_samples(region, &reader, plan);
    if (rc == 0 && reader.wrong != NULL) {
        return error_set(error, -EINVAL,
            "cannot plan from this result: '%s' is missing or no size", reader.wrong);
    }
    return rc;
}

static int take_setup(const json_t *object, struct result_plan *plan, struct error *error)
{
    struct reader reader = {.object = object};

    plan->processors = take(&reader, "processors", false);
    return reader.wrong == NULL
               ? 0
               : error_set(error, -EINVAL,
                     "cannot plan from this result: 'processors' is no number");
}

/* The recipe of a row that a plan can be made from; NULL: it is not. */
static const char *planned_recipe(const json_t *row)
{
    return json_is_object(json_object_get(row, "plan"))
               ? json_string_value(json_object_get(row, "recipe"))
               : NULL;
}

static int name_one(const json_t *rows, struct error *error)
{
    struct buffer names;
    int rc = -EINVAL;

    buffer_init(&names);
    for (size_t i = 0; i < json_array_size(rows); i++) {
        const char *text = planned_recipe(json_array_get(rows, i));
        if (text != NULL) {
            buffer_printf(&names, "%s'%s'", names.length_bytes > 0 ? ", " : "", text);
        }
    }
    rc = error_set(error, rc, "this result has several rows; name one behind it: %s",
        buffer_text(&names));
    buffer_release(&names);
    return rc;
}

static int find_row(struct region *region, const json_t *document, const char *recipe,
    struct result_plan *plan, const char **name, struct error *error)
{
    const json_t *rows = json_object_get(document, "rows");
    const json_t *found = NULL;

    for (size_t i = 0; i < json_array_size(rows); i++) {
        const json_t *row = json_array_get(rows, i);
        const char *text = planned_recipe(row);
        if (text == NULL || (recipe != NULL && strcmp(recipe, text) != 0)) {
            continue;
        }
        if (found != NULL && recipe == NULL) {
            return name_one(rows, error);
        }
        found = found != NULL ? found : row;
    }
    if (found == NULL) {
        return error_set(error, -ENOENT,
            "no row%s%s%s in this result has what a plan needs",
            recipe != NULL ? " '" : "", recipe != NULL ? recipe : "",
            recipe != NULL ? "'" : "");
    }
    *name = region_copy_text(region, planned_recipe(found));
    int rc = *name == NULL
                 ? -ENOMEM
                 : take_plan(region, json_object_get(found, "plan"), plan, error);
    return rc == 0 ? take_setup(json_object_get(document, "setup"), plan, error) : rc;
}

int result_read_plan(struct region *region, const char *path, const char *recipe,
    struct result_plan *plan, const char **name, struct error *error)
{
    struct buffer text;
    const char *why;
    int rc = input_file_check(path, &why);
    /* What is read of a pipe is gone for whoever wants it. */
    if (rc != 0) {
        return rc == -ENOENT || rc == -EACCES ? rc : -ENOMSG;
    }
    const int fd = open(path, INPUT_FILE_FLAGS);
    if (fd < 0) {
        return -errno;
    }
    buffer_init(&text);
    rc = descriptor_read_all(fd, RESULT_READ_MAX_BYTES, &text);
    (void)close(fd);
    json_t *document = rc == 0 ? json_loadb(buffer_text(&text), text.length_bytes,
                                     JSON_REJECT_DUPLICATES, NULL)
                               : NULL;
    const char *kind = json_string_value(json_object_get(document, "kind"));
    if (rc == 0 && (kind == NULL || strcmp(kind, "strata-bench") != 0)) {
        rc = -ENOMSG;
    }
    if (rc == 0) {
        rc = find_row(region, document, recipe, plan, name, error);
    }
    json_decref(document);
    buffer_release(&text);
    return rc;
}
