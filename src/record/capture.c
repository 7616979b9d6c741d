/*
 * capture.c - the document around the facts, and the order of the checks.
 *
 * Reading goes from cheap to dear, so that hostile text costs little: size, nesting and
 * memory of the values, JSON (jansson), format and schema, fields, rules between fields.
 * Every refusal is one sentence which begins with the name of the capture.
 */
#include "record/capture.h"

#include <errno.h>

#include "base/json_writer.h"
#include "record/capture_check.h"
#include "record/capture_parse.h"
#include "record/json_bounds.h"
#include "record/schema.h"
#include "record/schema_writer.h"

enum { INDENT = 1, ONE_LINE = 0 };

/* 0, or -EFBIG with error. */
static int check_bounds(const char *text, size_t bytes, struct error *error)
{
    struct json_bounds bounds;

    if (bytes > CAPTURE_MAX_BYTES) {
        return error_set(
            error, -EFBIG, "it is larger than %d MiB", CAPTURE_MAX_BYTES >> 20);
    }
    json_bounds_measure(text, bytes, &bounds);
    if (bounds.depth > CAPTURE_MAX_DEPTH) {
        return error_set(
            error, -EFBIG, "it is nested more than %d levels deep", CAPTURE_MAX_DEPTH);
    }
    if (bounds.tree_bytes > CAPTURE_MAX_TREE_BYTES) {
        return error_set(error, -EFBIG, "its values need more than %d MiB of memory",
            CAPTURE_MAX_TREE_BYTES >> 20);
    }
    return 0;
}

static int write_document(
    const struct facts *facts, int indent, struct buffer *buffer, struct error *error)
{
    size_t start = buffer->length_bytes;
    struct json_writer json;
    int rc = capture_check(facts, error);

    if (rc != 0) {
        return rc;
    }
    json_writer_init(&json, buffer, indent);
    json_object_begin(&json);
    json_key(&json, CAPTURE_FORMAT_KEY);
    json_quoted(&json, CAPTURE_FORMAT);
    schema_write(&json, &facts_schema, facts);
    json_object_end(&json);
    buffer_append_char(buffer, '\n');
    if (buffer_error(buffer) != 0) {
        return error_set(error, -ENOMEM, "memory is short");
    }
    return check_bounds(buffer->data + start, buffer->length_bytes - start, error);
}

static int write_indented(
    const struct facts *facts, int indent, struct buffer *buffer, struct error *error)
{
    struct error why;

    error_reset(&why);
    int rc = write_document(facts, indent, buffer, &why);
    return rc == 0 ? 0 : error_set(error, rc, "cannot write the capture: %s", why.text);
}

int capture_write(const struct facts *facts, struct buffer *buffer, struct error *error)
{
    return write_indented(facts, INDENT, buffer, error);
}

int capture_write_dense(
    const struct facts *facts, struct buffer *buffer, struct error *error)
{
    return write_indented(facts, ONE_LINE, buffer, error);
}

static int read_document(
    const char *text, size_t bytes, struct facts *facts, struct error *error)
{
    int rc;

    if (bytes == 0) {
        return error_set(error, -EINVAL, "it is empty");
    }
    rc = check_bounds(text, bytes, error);
    if (rc == 0) {
        rc = capture_parse(text, bytes, facts, error);
    }
    return rc == 0 ? capture_check(facts, error) : rc;
}

int capture_read(const char *name, const char *text, size_t bytes, struct facts *facts,
    struct error *error)
{
    struct error why;

    error_reset(&why);
    *facts = (struct facts){0};
    region_init(&facts->region, CAPTURE_MAX_REGION_BYTES);
    int rc = read_document(text, bytes, facts, &why);
    if (rc != 0) {
        region_release(&facts->region);
        return error_set(error, rc, "cannot read capture '%s': %s", name, why.text);
    }
    return 0;
}
