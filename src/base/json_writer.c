/*
 * json_writer.c - places separators, escapes strings, replaces what is not UTF-8.
 *
 * Names of processes, paths and error texts come from outside and may hold any byte;
 * a consumer must still be able to parse the line (RFC 8259).
 */
#include "base/json_writer.h"

#include <inttypes.h>

#include "base/bug.h"
#include "base/utf8.h"

void json_writer_init(struct json_writer *json, struct buffer *buffer, int indent)
{
    *json = (struct json_writer){.buffer = buffer, .indent = indent};
}

static void new_line(struct json_writer *json)
{
    if (json->indent > 0) {
        buffer_printf(json->buffer, "\n%*s", json->indent * json->depth, "");
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

static void append_quoted(struct buffer *buffer, const char *text)
{
    const char *at = text;

    buffer_append_char(buffer, '"');
    while (*at != '\0') {
        size_t length = utf8_length(at);
        if (length == 0) {
            buffer_append_text(buffer, "\xef\xbf\xbd");
            at++;
        } else if (length == 1) {
            append_escaped(buffer, (unsigned char)*at);
            at++;
        } else {
            buffer_append(buffer, at, length);
            at += length;
        }
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

void json_string(struct json_writer *json, const char *text)
{
    if (text == NULL) {
        json_null(json);
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

void json_unsigned(struct json_writer *json, uint64_t value)
{
    before_value(json);
    buffer_printf(json->buffer, "%" PRIu64, value);
}

void json_signed(struct json_writer *json, int64_t value)
{
    before_value(json);
    buffer_printf(json->buffer, "%" PRId64, value);
}

void json_bool(struct json_writer *json, bool value)
{
    before_value(json);
    buffer_append_text(json->buffer, value ? "true" : "false");
}

void json_null(struct json_writer *json)
{
    before_value(json);
    buffer_append_text(json->buffer, "null");
}
