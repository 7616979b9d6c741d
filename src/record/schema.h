/* schema.h - the fields of every struct that a capture holds, as data. */
#ifndef STRATA_RECORD_SCHEMA_H
#define STRATA_RECORD_SCHEMA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts_types/fact.h"

/*
 * How a member is stored, and what it is in JSON. A member which holds its default is
 * not written, and a key that is missing reads as the default: 0, false, NULL, absent,
 * no items, SCHEMA_NO_INDEX.
 *
 * Numbers above INT64_MAX are written as strings of digits, since the integers of
 * many JSON readers (jansson's too) are signed and 64 bits wide; both spellings are read.
 *
 * A fact is a number when it is exact and ok; [value, plus_minus] or
 * [value, plus_minus, "stale"] when it is uncertain; the name of its state otherwise.
 *
 * A text that is not UTF-8 is written as {"hex": "..."}: names of processes and files
 * may hold any byte, and must come back as they were.
 */
enum schema_type {
    SCHEMA_BOOL,
    SCHEMA_U32,
    SCHEMA_I32, /* int32_t that is never negative: a process id */
    SCHEMA_U64,
    SCHEMA_I64,
    SCHEMA_INDEX,  /* int32_t, SCHEMA_NO_INDEX: none */
    SCHEMA_LETTER, /* char, 0: none; a letter of the alphabet */
    SCHEMA_TEXT,   /* char * */
    SCHEMA_ENUM,   /* uint32_t; in JSON one of names */
    SCHEMA_FACT,   /* struct fact */
    SCHEMA_FACTS,  /* struct fact [maximum]; an object with the names of facts */
    SCHEMA_STRUCT, /* described by schema */
    SCHEMA_ARRAY,  /* pointer to items described by schema, and a size_t count */
};

enum { SCHEMA_NO_INDEX = -1 };

struct schema;

struct schema_field {
    const char *name; /* of the member, and of the key */
    enum schema_type type;
    bool required; /* a text that is never NULL */
    size_t bytes;  /* of the member */
    size_t offset_bytes;
    size_t count_offset_bytes; /* of the count of an array */
    uint64_t maximum; /* largest value (U32); how many facts or names; most items */
    const char *const *names;
    const struct fact_info *facts;
    const struct schema *schema;
};

struct schema {
    size_t struct_bytes;
    const struct schema_field *fields;
    size_t field_count;
};

/* struct facts, without its region. */
extern const struct schema facts_schema;

/* True when every field of the struct at data holds its default: it is written as {}. */
bool schema_is_default(const struct schema *schema, const void *data);

/* True when the field of the struct at data holds its default, so that it is not written. */
bool schema_field_is_default(const struct schema_field *field, const void *data);

/* The items of an array field of the struct at data, and their number. */
void *schema_items(const struct schema_field *field, const void *data, size_t *count);

#endif
