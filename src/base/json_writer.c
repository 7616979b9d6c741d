/*
 * json_writer.c - places separators, escapes strings, replaces what is not UTF-8.
 *
 * Names of processes, paths and error texts come from outside and may hold any byte;
 * a consumer must still be able to parse the line (RFC 8259).
 */
#include "base/json_writer.h"

#include <string.h>

#include "base/bug.h"
#include "base/utf8.h"

enum { NUMBER_BYTES = 20 }; /* "-9223372036854775808", "18446744073709551615" */

void json_writer_init(struct json_writer *json, struct buffer *buffer, int indent)
{
    *json = (struct json_writer){.buffer = buffer, .indent = indent};
}

static void new_line(struct json_writer *json)
{
    if (json->indent > 0) {
        size_t blanks = (size_t)json->indent * (size_t)json->depth;
        char *place = buffer_reserve(json->buffer, blanks + 1);
        if (place != NULL) {
            place[0] = '\n';
            memset(place + 1, ' ', blanks);
            buffer_commit(json->buffer, blanks + 1);
        }
    }
}

static void before_value(struct json_writer *json)
{
    if (json->after_key) {
        json->after_key = false;
        return;
    }
    if (json->has_items[json->depth]) {
        buffer_append_char(json->buffer, ',');
    }
    json->has_items[json->depth] = true;
    if (json->depth > 0) {
        new_line(json);
    }
}

static void open_level(struct json_writer *json, char bracket)
{
    before_value(json);
    buffer_append_char(json->buffer, bracket);
    BUG_IF(json->depth + 1 >= JSON_WRITER_DEPTH);
    json->depth++;
    json->has_items[json->depth] = false;
}

static void close_level(struct json_writer *json, char bracket)
{
    BUG_IF(json->depth == 0 || json->after_key);
    bool had_items = json->has_items[json->depth];
    json->depth--;
    if (had_items) {
        new_line(json);
    }
    buffer_append_char(json->buffer, bracket);
}

void json_object_begin(struct json_writer *json)
{
    open_level(json, '{');
}

void json_object_end(struct json_writer *json)
{
    close_level(json, '}');
}

void json_array_begin(struct json_writer *json)
{
    open_level(json, '[');
}

void json_array_end(struct json_writer *json)
{
    close_level(json, ']');
}

static void append_escaped(struct buffer *buffer, unsigned char character)
{
    switch (character) {
    case '"':
        buffer_append_text(buffer, "\\\"");
        break;
    case '\\':
        buffer_append_text(buffer, "\\\\");
        break;
    case '\n':
        buffer_append_text(buffer, "\\n");
        break;
    case '\t':
        buffer_append_text(buffer, "\\t");
        break;
    default:
        if (character < 0x20 || character == 0x7f) {
            buffer_printf(buffer, "\\u%04x", character);
        } else {
            buffer_append_char(buffer, (char)character);
        }
    }
}

/* How many bytes at text can be copied as they are. */
static size_t plain_bytes(const char *text)
{
    const char *at = text;

    for (;;) {
        unsigned char character = (unsigned char)*at;
        if (character < 0x20 || character == '"' || character == '\\' ||
            character == 0x7f) {
            return (size_t)(at - text);
        }
        size_t length = utf8_length(at);
        if (length == 0) {
            return (size_t)(at - text);
        }
        at += length;
    }
}

static void append_quoted(struct buffer *buffer, const char *text)
{
    buffer_append_char(buffer, '"');
    while (*text != '\0') {
        size_t plain = plain_bytes(text);
        buffer_append(buffer, text, plain);
        text += plain;
        if (*text == '\0') {
            break;
        }
        if (utf8_length(text) == 0) {
            buffer_append_text(buffer, "\xef\xbf\xbd");
        } else {
            append_escaped(buffer, (unsigned char)*text);
        }
        text++;
    }
    buffer_append_char(buffer, '"');
}

void json_key(struct json_writer *json, const char *key)
{
    BUG_IF(json->after_key || json->depth == 0);
    before_value(json);
    append_quoted(json->buffer, key);
    buffer_append_text(json->buffer, json->indent > 0 ? ": " : ":");
    json->after_key = true;
}

void json_quoted(struct json_writer *json, const char *text)
{
    if (text == NULL) {
        json_nothing(json);
        return;
    }
    before_value(json);
    append_quoted(json->buffer, text);
}

bool json_string_is_exact(const char *text)
{
    while (*text != '\0') {
        size_t length = utf8_length(text);
        if (length == 0) {
            return false;
        }
        text += length;
    }
    return true;
}

/* Captures hold millions of numbers: formatting one must not cost a printf. */
static void append_number(struct json_writer *json, uint64_t value, bool negative)
{
    char digits[NUMBER_BYTES];
    size_t at = sizeof(digits);

    do {
        digits[--at] = (char)('0' + value % 10);
        value /= 10;
    } while (value > 0);
    if (negative) {
        digits[--at] = '-';
    }
    buffer_append(json->buffer, digits + at, sizeof(digits) - at);
}

void json_unsigned(struct json_writer *json, uint64_t value)
{
    before_value(json);
    append_number(json, value, false);
}

void json_signed(struct json_writer *json, int64_t value)
{
    before_value(json);
    append_number(json, value < 0 ? -(uint64_t)value : (uint64_t)value, value < 0);
}

void json_bool(struct json_writer *json, bool value)
{
    before_value(json);
    buffer_append_text(json->buffer, value ? "true" : "false");
}

void json_nothing(struct json_writer *json)
{
    before_value(json);
    buffer_append_text(json->buffer, "null");
}
