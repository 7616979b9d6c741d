/* json_parts.h - pieces that several JSON documents have in common; docs/json.md. */
#ifndef STRATA_PRESENT_JSON_PARTS_H
#define STRATA_PRESENT_JSON_PARTS_H

#include "base/json_writer.h"
#include "model/snapshot.h"

/* A number with its name; one that is not known is told by missing instead. */
struct json_number {
    const char *name;
    struct fact fact;
};

/*
 * Into the open object: each known number under its name, then "missing": an object
 * with the state of every other one, so that a consumer never takes absence for zero.
 */
void json_numbers(
    struct json_writer *json, const struct json_number *numbers, size_t count);

/* "facts": {name: value} of the known facts of a table. */
void json_fact_table(struct json_writer *json, const struct fact_info *table,
    const struct fact *values, size_t count);

/* key and text, or nothing when text is NULL. */
void json_optional_text(struct json_writer *json, const char *key, const char *text);

void json_text(struct json_writer *json, const char *key, const char *text);
void json_count(struct json_writer *json, const char *key, uint64_t value);
void json_signed_count(struct json_writer *json, const char *key, int64_t value);
void json_flag(struct json_writer *json, const char *key, bool value);

/* A number that is known or not by the state of what it was read with. */
struct fact json_fact(uint64_t value, uint32_t state);

/* "taken_at": RFC 3339 */
void json_taken_at(struct json_writer *json, const struct facts *facts);

/* "layers": every layer, also those without a number. */
void json_layers(struct json_writer *json, const struct layer layers[LAYER_COUNT]);

/* "gaps" and "cost", with which every document closes. */
void json_gaps_and_cost(struct json_writer *json, const struct facts *facts);

/* The layer as a number for json_numbers(); negative layers are not numbers of bytes. */
struct json_number json_layer_number(const char *name, const struct layer *layer);

#endif
