/*
 * schema_check.c - the part of a capture's rules that the tables of schema.c can tell.
 *
 * It runs on facts that are about to be written, so that the writer can index the names of
 * enums without a doubt, and on facts that were read, as a second look at what the
 * reader has let pass.
 */
#include "record/schema_check.h"

#include <errno.h>
#include <string.h>

static int fail(const struct schema_place *place, struct error *error, const char *what)
{
    char text[SCHEMA_PLACE_BYTES];

    schema_place_print(place, text);
    return error_set(error, -EINVAL, "'%s' %s", text, what);
}

static int check_u32(const struct schema_field *field, const void *at,
    const struct schema_place *place, struct error *error)
{
    uint32_t value;
    bool is_enum = field->type == SCHEMA_ENUM;

    memcpy(&value, at, sizeof(value));
    if (is_enum ? value < field->maximum : value <= field->maximum) {
        return 0;
    }
    return fail(place, error, "is out of range");
}

static int check_i32(const void *at, int32_t minimum, const struct schema_place *place,
    struct error *error)
{
    int32_t value;

    memcpy(&value, at, sizeof(value));
    return value < minimum ? fail(place, error, "is out of range") : 0;
}

static int check_text(const struct schema_field *field, const void *at,
    const struct schema_place *place, struct error *error)
{
    const char *text;

    memcpy(&text, at, sizeof(text));
    return field->required && text == NULL ? fail(place, error, "is missing") : 0;
}

static int check_letter(
    const char *at, const struct schema_place *place, struct error *error)
{
    bool letter = (*at >= 'A' && *at <= 'Z') || (*at >= 'a' && *at <= 'z');

    return *at == '\0' || letter ? 0 : fail(place, error, "is not a letter");
}

static int check_facts(const struct fact *facts, size_t count,
    const struct schema_place *place, struct error *error)
{
    for (size_t i = 0; i < count; i++) {
        if (facts[i].state >= FACT_STATE_COUNT) {
            return fail(place, error, "holds a fact with an unknown state");
        }
    }
    return 0;
}

static int check_array(const struct schema_field *field, const void *data,
    const struct schema_place *parent, struct error *error)
{
    struct schema_place place = {parent, field->name, SCHEMA_NO_ITEM};
    size_t count;
    const char *items = schema_items(field, data, &count);

    if (count > field->maximum) {
        return fail(&place, error, "holds too many items");
    }
    if (count > 0 && items == NULL) {
        return fail(&place, error, "has a count and no items");
    }
    for (size_t i = 0; i < count; i++) {
        place.item = (long)i;
        int rc = schema_check(
            field->schema, items + i * field->schema->struct_bytes, &place, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

static int check_field(const struct schema_field *field, const void *data,
    const struct schema_place *parent, struct error *error)
{
    const void *at = (const char *)data + field->offset_bytes;
    struct schema_place place = {parent, field->name, SCHEMA_NO_ITEM};

    switch (field->type) {
    case SCHEMA_U32:
    case SCHEMA_ENUM:
        return check_u32(field, at, &place, error);
    case SCHEMA_INDEX:
        return check_i32(at, SCHEMA_NO_INDEX, &place, error);
    case SCHEMA_I32:
        return check_i32(at, 0, &place, error);
    case SCHEMA_TEXT:
        return check_text(field, at, &place, error);
    case SCHEMA_LETTER:
        return check_letter(at, &place, error);
    case SCHEMA_FACT:
        return check_facts(at, 1, &place, error);
    case SCHEMA_FACTS:
        return check_facts(at, field->maximum, &place, error);
    case SCHEMA_STRUCT:
        return schema_check(field->schema, at, &place, error);
    case SCHEMA_ARRAY:
        return check_array(field, data, parent, error);
    case SCHEMA_BOOL:
    case SCHEMA_U64:
    case SCHEMA_I64:
        break; /* every value is in range */
    }
    return 0;
}

int schema_check(const struct schema *schema, const void *data,
    const struct schema_place *place, struct error *error)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        int rc = check_field(&schema->fields[i], data, place, error);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}
