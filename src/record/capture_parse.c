/*
 * capture_parse.c - the only file besides schema_reader.c that knows jansson.
 *
 * jansson 2.14 checks the grammar, UTF-8, duplicate keys and the range of numbers. It has
 * functions of the same names as base/json_writer.h (json_string, json_null), so no file
 * may include both: that is why reading and writing are apart.
 */
#include "record/capture_parse.h"

#include <errno.h>
#include <jansson.h>
#include <string.h>

#include "record/schema_reader.h"

/* NULL with error set, or the parsed document. */
static json_t *parse(const char *text, size_t bytes, struct error *error)
{
    json_error_t why;
    json_t *document = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &why);

    if (document != NULL) {
        return document;
    }
    if (json_error_code(&why) == json_error_out_of_memory) {
        (void)error_set(error, -ENOMEM, "memory is short");
    } else if (json_error_code(&why) == json_error_premature_end_of_input) {
        (void)error_set(error, -EINVAL, "it is cut off behind line %d", why.line);
    } else {
        (void)error_set(
            error, -EINVAL, "line %d, column %d: %s", why.line, why.column, why.text);
    }
    return NULL;
}

static int check_format(const json_t *document, struct error *error)
{
    const char *format = json_string_value(json_object_get(document, CAPTURE_FORMAT_KEY));
    const json_t *schema = json_object_get(document, "schema");

    if (format == NULL || strcmp(format, CAPTURE_FORMAT) != 0) {
        return error_set(error, -EINVAL, "it was not written by 'strata capture'");
    }
    if (json_is_integer(schema) && json_integer_value(schema) > FACTS_SCHEMA) {
        return error_set(error, -EPROTO,
            "a newer strata wrote it (schema %lld, this one reads up to %d); use that "
            "one",
            (long long)json_integer_value(schema), FACTS_SCHEMA);
    }
    return 0;
}

int capture_parse(
    const char *text, size_t bytes, struct facts *facts, struct error *error)
{
    json_t *document = parse(text, bytes, error);

    if (document == NULL) {
        return error->code;
    }
    int rc = check_format(document, error);
    if (rc == 0) {
        rc = schema_read(&facts_schema, document, facts, &facts->region, error);
    }
    json_decref(document);
    return rc;
}
