/* json_writer.h - a streaming JSON emitter; every machine format of the tool uses it. */
#ifndef STRATA_BASE_JSON_WRITER_H
#define STRATA_BASE_JSON_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"

enum { JSON_WRITER_DEPTH = 16 };

/*
 * Writes into buffer; commas and colons are placed by the writer. Inside an object each
 * value is preceded by json_key(). indent 0 writes one line, n > 0 writes n blanks for
 * each level. Integers are exact to 64 bits. Strings are taken as UTF-8; bytes that are
 * not are written as U+FFFD, so the output is always valid JSON.
 */
struct json_writer {
    struct buffer *buffer;
    int indent;
    int depth;
    bool after_key;
    bool has_items[JSON_WRITER_DEPTH];
};

void json_writer_init(struct json_writer *json, struct buffer *buffer, int indent);

void json_object_begin(struct json_writer *json);
void json_object_end(struct json_writer *json);
void json_array_begin(struct json_writer *json);
void json_array_end(struct json_writer *json);

void json_key(struct json_writer *json, const char *key);
void json_quoted(struct json_writer *json, const char *text); /* NULL writes null */

/* True when json_quoted() writes text as it is, since all of it is UTF-8. */
bool json_string_is_exact(const char *text);

void json_unsigned(struct json_writer *json, uint64_t value);
void json_signed(struct json_writer *json, int64_t value);
void json_bool(struct json_writer *json, bool value);
void json_nothing(struct json_writer *json);

#endif
