/*
 * schema_reader.c - the counterpart of schema_writer.c for text that nobody vouches for.
 *
 * Each key of the tables is looked up, so unknown keys cost nothing, and the recursion is
 * as deep as the tables, whatever the text is. Memory is taken from one region with a
 * bound. jansson 2.14 has rejected invalid UTF-8, NUL in texts, numbers which are
 * not finite and integers beyond 64 bits before we come here.
 */
#include "record/schema_reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/number.h"

struct reader {
    struct region *region;
    struct error *error;
};

static int read_object(struct reader *reader, const struct schema_place *place,
    const struct schema *schema, const json_t *object, void *data);

static int fail(struct reader *reader, const struct schema_place *place, const char *what)
{
    char text[SCHEMA_PLACE_BYTES];

    schema_place_print(place, text);
    if (text[0] == '\0') {
        return error_set(reader->error, -EINVAL, "it %s", what);
    }
    return error_set(reader->error, -EINVAL, "'%s' %s", text, what);
}

static int out_of_memory(struct reader *reader)
{
    return error_set(reader->error, -ENOMEM, "its facts need more than %zu MiB of memory",
        reader->region->maximum_bytes >> 20);
}

static bool get_unsigned(const json_t *json, uint64_t maximum, uint64_t *value)
{
    uint64_t number;

    if (json_is_string(json)) {
        if (number_parse(json_string_value(json), &number) != 0) {
            return false;
        }
    } else if (json_is_integer(json) && json_integer_value(json) >= 0) {
        number = (uint64_t)json_integer_value(json);
    } else {
        return false;
    }
    *value = number;
    return number <= maximum;
}

static int read_unsigned(struct reader *reader, const struct schema_place *place,
    const json_t *json, uint64_t maximum, uint64_t *value)
{
    char what[80];

    if (get_unsigned(json, maximum, value)) {
        return 0;
    }
    (void)snprintf(
        what, sizeof(what), "is not a whole number from 0 to %" PRIu64, maximum);
    return fail(reader, place, what);
}

static int read_u32(struct reader *reader, const struct schema_place *place,
    const json_t *json, uint64_t maximum, void *at)
{
    uint64_t value = 0;
    int rc = read_unsigned(reader, place, json, maximum, &value);
    uint32_t narrow = (uint32_t)value;

    if (rc == 0) {
        memcpy(at, &narrow, sizeof(narrow));
    }
    return rc;
}

static int read_u64(
    struct reader *reader, const struct schema_place *place, const json_t *json, void *at)
{
    uint64_t value = 0;
    int rc = read_unsigned(reader, place, json, UINT64_MAX, &value);

    if (rc == 0) {
        memcpy(at, &value, sizeof(value));
    }
    return rc;
}

static int read_i64(
    struct reader *reader, const struct schema_place *place, const json_t *json, void *at)
{
    int64_t value = json_integer_value(json);

    if (!json_is_integer(json)) {
        return fail(reader, place, "is not a whole number");
    }
    memcpy(at, &value, sizeof(value));
    return 0;
}

/* No 32-bit member may be negative; the -1 of an index is written by leaving it out. */
static int read_i32(
    struct reader *reader, const struct schema_place *place, const json_t *json, void *at)
{
    return read_u32(reader, place, json, INT32_MAX, at);
}

static int read_bool(
    struct reader *reader, const struct schema_place *place, const json_t *json, bool *at)
{
    if (!json_is_boolean(json)) {
        return fail(reader, place, "is not true or false");
    }
    *at = json_is_true(json);
    return 0;
}

static int read_letter(
    struct reader *reader, const struct schema_place *place, const json_t *json, char *at)
{
    if (!json_is_string(json) || json_string_length(json) != 1) {
        return fail(reader, place, "is not one letter");
    }
    *at = json_string_value(json)[0];
    return 0;
}

static int hex_digit(char character)
{
    if (character >= '0' && character <= '9') {
        return character - '0';
    }
    return character >= 'a' && character <= 'f' ? character - 'a' + 10 : -1;
}

/* The bytes that hex stands for; false when it is not pairs of digits or holds a NUL. */
static bool decode_hex(const char *hex, size_t pairs, char *text)
{
    for (size_t i = 0; i < pairs; i++) {
        int high = hex_digit(hex[2 * i]);
        int low = hex_digit(hex[2 * i + 1]);
        if (high < 0 || low < 0 || (high == 0 && low == 0)) {
            return false;
        }
        text[i] = (char)(high << 4 | low);
    }
    return true;
}

static int read_hex(struct reader *reader, const struct schema_place *place,
    const json_t *json, char **text)
{
    const char *hex = json_string_value(json);
    size_t length = json_string_length(json);

    if (hex == NULL || length % 2 != 0) {
        return fail(reader, place, "is not a text");
    }
    *text = region_alloc(reader->region, length / 2 + 1);
    if (*text == NULL) {
        return out_of_memory(reader);
    }
    return decode_hex(hex, length / 2, *text) ? 0 : fail(reader, place, "is not a text");
}

static int read_text(
    struct reader *reader, const struct schema_place *place, const json_t *json, void *at)
{
    char *text = NULL;
    int rc = 0;

    if (json_is_string(json)) {
        text = region_copy(
            reader->region, json_string_value(json), json_string_length(json));
        rc = text == NULL ? out_of_memory(reader) : 0;
    } else {
        rc = read_hex(reader, place, json_object_get(json, "hex"), &text);
    }
    memcpy(at, &text, sizeof(text));
    return rc;
}

/* The index of json among the count names, or -1. */
static long find_name(const json_t *json, const char *const *names, size_t count)
{
    const char *text = json_string_value(json);

    for (size_t i = 0; text != NULL && i < count; i++) {
        if (strcmp(text, names[i]) == 0) {
            return (long)i;
        }
    }
    return -1;
}

static int read_enum(struct reader *reader, const struct schema_place *place,
    const struct schema_field *field, const json_t *json, void *at)
{
    long found = find_name(json, field->names, field->maximum);
    uint32_t value = (uint32_t)found;

    if (found < 0) {
        return fail(reader, place, "has a value that this strata does not know");
    }
    memcpy(at, &value, sizeof(value));
    return 0;
}

static int read_uncertain_fact(struct reader *reader, const struct schema_place *place,
    const json_t *json, struct fact *fact)
{
    const json_t *state = json_array_get(json, 2);

    if (!get_unsigned(json_array_get(json, 0), UINT64_MAX, &fact->value) ||
        !get_unsigned(json_array_get(json, 1), UINT64_MAX, &fact->plus_minus) ||
        json_array_size(json) > 3) {
        return fail(reader, place, "is not a fact");
    }
    fact->state = FACT_OK;
    if (state != NULL) {
        fact->state = FACT_STALE;
        if (!json_is_string(state) ||
            strcmp(json_string_value(state), fact_state_names[FACT_STALE]) != 0) {
            return fail(reader, place, "is not a fact");
        }
    }
    return 0;
}

static int read_fact(struct reader *reader, const struct schema_place *place,
    const json_t *json, struct fact *fact)
{
    long state = find_name(json, fact_state_names, FACT_STATE_COUNT);

    if (json_is_array(json)) {
        return read_uncertain_fact(reader, place, json, fact);
    }
    if (get_unsigned(json, UINT64_MAX, &fact->value)) {
        fact->state = FACT_OK;
        return 0;
    }
    if (state < 0 || state == FACT_OK || state == FACT_STALE) {
        return fail(reader, place, "is not a fact");
    }
    fact->state = (enum fact_state)state;
    return 0;
}

static int read_facts(struct reader *reader, const struct schema_place *place,
    const struct schema_field *field, const json_t *json, struct fact *facts)
{
    if (!json_is_object(json)) {
        return fail(reader, place, "is not an object");
    }
    for (size_t i = 0; i < field->maximum; i++) {
        const json_t *value = json_object_get(json, field->facts[i].name);
        struct schema_place inner = {place, field->facts[i].name, SCHEMA_NO_ITEM};
        int rc = value == NULL ? 0 : read_fact(reader, &inner, value, &facts[i]);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int read_array(struct reader *reader, const struct schema_place *parent,
    const struct schema_field *field, const json_t *json, void *data)
{
    struct schema_place place = {parent, field->name, SCHEMA_NO_ITEM};
    size_t item_bytes = field->schema->struct_bytes;
    size_t count = json_array_size(json);
    char *items;

    if (!json_is_array(json)) {
        return fail(reader, &place, "is not an array");
    }
    if (count > field->maximum) {
        return error_set(reader->error, -EFBIG,
            "'%s' holds %zu items, at most %" PRIu64 " are read", field->name, count,
            field->maximum);
    }
    items = region_alloc(reader->region, count * item_bytes);
    if (items == NULL) {
        return out_of_memory(reader);
    }
    for (size_t i = 0; i < count; i++) {
        place.item = (long)i;
        int rc = read_object(reader, &place, field->schema, json_array_get(json, i),
            items + i * item_bytes);
        if (rc != 0) {
            return rc;
        }
    }
    memcpy((char *)data + field->offset_bytes, &items, sizeof(items));
    memcpy((char *)data + field->count_offset_bytes, &count, sizeof(count));
    return 0;
}

static int read_value(struct reader *reader, const struct schema_place *parent,
    const struct schema_field *field, const json_t *json, void *data)
{
    struct schema_place place = {parent, field->name, SCHEMA_NO_ITEM};
    void *at = (char *)data + field->offset_bytes;

    switch (field->type) {
    case SCHEMA_BOOL:
        return read_bool(reader, &place, json, at);
    case SCHEMA_U32:
        return read_u32(reader, &place, json, field->maximum, at);
    case SCHEMA_I32:
    case SCHEMA_INDEX:
        return read_i32(reader, &place, json, at);
    case SCHEMA_U64:
        return read_u64(reader, &place, json, at);
    case SCHEMA_I64:
        return read_i64(reader, &place, json, at);
    case SCHEMA_LETTER:
        return read_letter(reader, &place, json, at);
    case SCHEMA_TEXT:
        return read_text(reader, &place, json, at);
    case SCHEMA_ENUM:
        return read_enum(reader, &place, field, json, at);
    case SCHEMA_FACT:
        return read_fact(reader, &place, json, at);
    case SCHEMA_FACTS:
        return read_facts(reader, &place, field, json, at);
    case SCHEMA_STRUCT:
        return read_object(reader, &place, field->schema, json, at);
    case SCHEMA_ARRAY:
        return read_array(reader, parent, field, json, data);
    }
    return 0;
}

/* The key of field is missing: the struct is zeroed, so only an index needs a value. */
static int use_default(struct reader *reader, const struct schema_place *parent,
    const struct schema_field *field, void *data)
{
    struct schema_place place = {parent, field->name, SCHEMA_NO_ITEM};
    char *at = (char *)data + field->offset_bytes;
    const int32_t none = SCHEMA_NO_INDEX;
    int rc = 0;

    if (field->required) {
        return fail(reader, &place, "is missing");
    }
    if (field->type == SCHEMA_INDEX) {
        memcpy(at, &none, sizeof(none));
    }
    if (field->type == SCHEMA_STRUCT) {
        for (size_t i = 0; rc == 0 && i < field->schema->field_count; i++) {
            rc = use_default(reader, &place, &field->schema->fields[i], at);
        }
    }
    return rc;
}

static int read_object(struct reader *reader, const struct schema_place *place,
    const struct schema *schema, const json_t *object, void *data)
{
    if (!json_is_object(object)) {
        return fail(reader, place, "is not an object");
    }
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct schema_field *field = &schema->fields[i];
        const json_t *value = json_object_get(object, field->name);
        int rc = value == NULL ? use_default(reader, place, field, data)
                               : read_value(reader, place, field, value, data);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int schema_read(const struct schema *schema, const json_t *object, void *data,
    struct region *region, struct error *error)
{
    struct reader reader = {region, error};

    return read_object(&reader, NULL, schema, object, data);
}
