/*
 * json_parts.c - the house rules of the JSON: integers are bytes, a number which is not
 * known has no key, and its state stands beside it. docs/json.md is the contract.
 */
#include "present/json_parts.h"

#include "base/quantity.h"

static bool has_value(enum fact_state state)
{
    return state == FACT_OK || state == FACT_STALE;
}

void json_text(struct json_writer *json, const char *key, const char *text)
{
    json_key(json, key);
    json_quoted(json, text);
}

void json_optional_text(struct json_writer *json, const char *key, const char *text)
{
    if (text != NULL) {
        json_text(json, key, text);
    }
}

void json_count(struct json_writer *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_unsigned(json, value);
}

void json_signed_count(struct json_writer *json, const char *key, int64_t value)
{
    json_key(json, key);
    json_signed(json, value);
}

void json_flag(struct json_writer *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

struct fact json_fact(uint64_t value, uint32_t state)
{
    return (struct fact){.value = value, .state = (enum fact_state)state};
}

void json_numbers(
    struct json_writer *json, const struct json_number *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (has_value(numbers[i].fact.state)) {
            json_count(json, numbers[i].name, numbers[i].fact.value);
        }
    }
    json_key(json, "missing");
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (!has_value(numbers[i].fact.state)) {
            json_text(json, numbers[i].name, fact_state_names[numbers[i].fact.state]);
        }
    }
    json_object_end(json);
}

void json_fact_table(struct json_writer *json, const struct fact_info *table,
    const struct fact *values, size_t count)
{
    json_key(json, "facts");
    json_object_begin(json);
    for (size_t i = 0; i < count; i++) {
        if (has_value(values[i].state)) {
            json_count(json, table[i].name, values[i].value);
        }
    }
    json_object_end(json);
}

void json_taken_at(struct json_writer *json, const struct facts *facts)
{
    json_text(json, "taken_at", quantity_time(facts->taken_at_unix_ns).text);
}

static void write_part(struct json_writer *json, const struct part *part)
{
    json_object_begin(json);
    json_text(json, "id", part->id);
    json_text(json, "title", part->title);
    json_count(json, "bytes", part->bytes);
    json_key(json, "estimate");
    json_bool(json, part->estimate);
    json_object_end(json);
}

static void write_layer(
    struct json_writer *json, const struct layer *layer, const char *name)
{
    json_object_begin(json);
    json_text(json, "id", name);
    json_text(json, "state", fact_state_names[layer->state]);
    if (!has_value(layer->state)) {
        json_optional_text(json, "why", layer->source);
        json_object_end(json);
        return;
    }
    json_key(json, "bytes");
    json_signed(json, layer->bytes);
    json_count(json, "plus_minus", layer->plus_minus_bytes);
    if (layer->bound != BOUND_NONE) {
        json_text(json, "bound", layer->bound == BOUND_AT_LEAST ? "at_least" : "at_most");
    }
    json_optional_text(json, "source", layer->source);
    json_key(json, "parts");
    json_array_begin(json);
    for (size_t i = 0; i < layer->part_count; i++) {
        write_part(json, &layer->parts[i]);
    }
    json_array_end(json);
    json_object_end(json);
}

void json_layers(struct json_writer *json, const struct layer layers[LAYER_COUNT])
{
    json_key(json, "layers");
    json_array_begin(json);
    for (int i = 0; i < LAYER_COUNT; i++) {
        write_layer(json, &layers[i], layer_names[i]);
    }
    json_array_end(json);
}

void json_gaps_and_cost(struct json_writer *json, const struct facts *facts)
{
    json_key(json, "gaps");
    json_array_begin(json);
    for (size_t i = 0; i < facts->gap_count; i++) {
        const struct gap *gap = &facts->gaps[i];
        json_object_begin(json);
        json_text(json, "fact", gap->fact);
        if (gap->pid != 0) {
            json_signed_count(json, "pid", gap->pid);
        }
        json_text(json, "state", fact_state_names[gap->state]);
        json_optional_text(json, "why", gap->why);
        json_object_end(json);
    }
    json_array_end(json);
    json_key(json, "cost");
    json_object_begin(json);
    json_count(json, "wall_us", facts->cost_wall_us);
    json_count(json, "bytes_read", facts->cost_bytes_read);
    json_object_end(json);
}

struct json_number json_layer_number(const char *name, const struct layer *layer)
{
    struct json_number number = {.name = name, .fact = {.state = layer->state}};

    if (has_value(layer->state) && layer->bytes < 0) {
        number.fact.state = FACT_MALFORMED;
    } else {
        number.fact.value = (uint64_t)layer->bytes;
    }
    return number;
}
