/*
 * schema_writer.c - walks the tables of schema.c and writes what is not default.
 *
 * The output depends on nothing but the struct: same facts, same bytes. Values are read
 * with memcpy through the offsets of the tables.
 */
#include "record/schema_writer.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"

enum { DIGITS_BYTES = 24 };

static void write_unsigned(struct json_writer *json, uint64_t value)
{
    char digits[DIGITS_BYTES];

    if (value <= INT64_MAX) {
        json_unsigned(json, value);
        return;
    }
    (void)snprintf(digits, sizeof(digits), "%" PRIu64, value);
    json_quoted(json, digits);
}

static void write_text(struct json_writer *json, const char *text)
{
    struct buffer hex;

    if (json_string_is_exact(text)) {
        json_quoted(json, text);
        return;
    }
    buffer_init(&hex);
    for (const char *at = text; *at != '\0'; at++) {
        buffer_printf(&hex, "%02x", (unsigned char)*at);
    }
    if (buffer_error(&hex) != 0) {
        json->buffer->failed = true;
    }
    json_object_begin(json);
    json_key(json, "hex");
    json_quoted(json, buffer_text(&hex));
    json_object_end(json);
    buffer_release(&hex);
}

static void write_fact(struct json_writer *json, const struct fact *fact)
{
    bool stale = fact->state == FACT_STALE;

    BUG_IF(fact->state >= FACT_STATE_COUNT);
    if (fact->state != FACT_OK && !stale) {
        json_quoted(json, fact_state_names[fact->state]);
        return;
    }
    if (fact->plus_minus == 0 && !stale) {
        write_unsigned(json, fact->value);
        return;
    }
    json_array_begin(json);
    write_unsigned(json, fact->value);
    write_unsigned(json, fact->plus_minus);
    if (stale) {
        json_quoted(json, fact_state_names[FACT_STALE]);
    }
    json_array_end(json);
}

static void write_facts(
    struct json_writer *json, const struct schema_field *field, const void *at)
{
    const struct fact *facts = at;

    json_object_begin(json);
    for (size_t i = 0; i < field->maximum; i++) {
        if (facts[i].state != FACT_ABSENT) {
            json_key(json, field->facts[i].name);
            write_fact(json, &facts[i]);
        }
    }
    json_object_end(json);
}

static void write_struct(
    struct json_writer *json, const struct schema *schema, const void *data)
{
    json_object_begin(json);
    schema_write(json, schema, data);
    json_object_end(json);
}

static void write_array(
    struct json_writer *json, const struct schema_field *field, const void *data)
{
    size_t count;
    const char *items = schema_items(field, data, &count);

    json_array_begin(json);
    for (size_t i = 0; i < count; i++) {
        write_struct(json, field->schema, items + i * field->schema->struct_bytes);
    }
    json_array_end(json);
}

/* A member of a plain type; the compiler turns these copies into loads. */
union plain {
    bool boolean;
    uint32_t u32;
    int32_t i32;
    uint64_t u64;
    int64_t i64;
    char letter;
    const char *text;
};

static void write_letter(struct json_writer *json, char letter)
{
    const char text[2] = {letter, '\0'};

    json_quoted(json, text);
}

static void write_field(
    struct json_writer *json, const struct schema_field *field, const void *data)
{
    const void *at = (const char *)data + field->offset_bytes;
    union plain plain = {0};

    if (field->bytes <= sizeof(plain)) {
        memcpy(&plain, at, field->bytes);
    }
    switch (field->type) {
    case SCHEMA_BOOL:
        json_bool(json, plain.boolean);
        return;
    case SCHEMA_U32:
        json_unsigned(json, plain.u32);
        return;
    case SCHEMA_I32:
    case SCHEMA_INDEX:
        json_signed(json, plain.i32);
        return;
    case SCHEMA_U64:
        write_unsigned(json, plain.u64);
        return;
    case SCHEMA_I64:
        json_signed(json, plain.i64);
        return;
    case SCHEMA_LETTER:
        write_letter(json, plain.letter);
        return;
    case SCHEMA_TEXT:
        write_text(json, plain.text);
        return;
    case SCHEMA_ENUM:
        BUG_IF(plain.u32 >= field->maximum);
        json_quoted(json, field->names[plain.u32]);
        return;
    case SCHEMA_FACT:
        write_fact(json, at);
        return;
    case SCHEMA_FACTS:
        write_facts(json, field, at);
        return;
    case SCHEMA_STRUCT:
        write_struct(json, field->schema, at);
        return;
    case SCHEMA_ARRAY:
        write_array(json, field, data);
        return;
    }
}

void schema_write(struct json_writer *json, const struct schema *schema, const void *data)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct schema_field *field = &schema->fields[i];
        if (!schema_field_is_default(field, data)) {
            json_key(json, field->name);
            write_field(json, field, data);
        }
    }
}
