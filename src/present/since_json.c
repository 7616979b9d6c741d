/*
 * since_json.c - an earlier look beside this one. Differences are now less then, so below
 * zero is what was given back; "fell" is the other way round, as promises are.
 */
#include "present/since_json.h"

#include "base/buffer.h"
#include "base/number.h"
#include "base/quantity.h"
#include "present/json_parts.h"
#include "present/since_text.h"

static void write_layers(struct json_writer *json, const struct since *since)
{
    json_key(json, "layers");
    json_array_begin(json);
    for (size_t i = 0; i < since->layer_count; i++) {
        const struct since_layer *layer = &since->layers[i];
        json_object_begin(json);
        json_text(json, "id", layer_names[layer->id]);
        json_signed_count(json, "before", layer->before_bytes);
        json_signed_count(json, "now", layer->now_bytes);
        json_signed_count(
            json, "difference", number_difference(layer->now_bytes, layer->before_bytes));
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_change(struct json_writer *json, const struct since_promise *promise)
{
    json_key(json, "change");
    json_object_begin(json);
    json_text(json, "state", since_force_names[promise->force]);
    json_optional_text(json, "text", promise->force_text);
    json_object_end(json);
}

static void write_promise(
    struct json_writer *json, const struct since *since, size_t index)
{
    const struct since_promise *promise = &since->promises[index];
    const struct finding *finding = promise->finding;
    struct buffer text;

    json_object_begin(json);
    json_text(json, "rule", finding->rule->id);
    if (finding->pid != 0) {
        json_signed_count(json, "pid", finding->pid);
    }
    json_text(json, "verdict", since_verdict_names[promise->verdict]);
    json_key(json, "promised");
    json_object_begin(json);
    json_signed_count(json, "low", promise->low_bytes);
    json_signed_count(json, "high", promise->high_bytes);
    json_text(json, "confidence", confidence_names[finding->confidence]);
    json_flag(json, "together", promise->together);
    json_object_end(json);
    write_change(json, promise);
    json_flag(json, "found_now", promise->found_now);
    if (promise->measure != NULL) {
        json_text(json, "measure", promise->measure);
        json_signed_count(json, "before", promise->before_bytes);
        json_signed_count(json, "now", promise->now_bytes);
        json_signed_count(json, "fell", since_fell_bytes(promise));
    }
    json_optional_text(json, "why", promise->why);
    buffer_init(&text);
    buffer_printf(&text, "%s: ", since_verdict_words[promise->verdict]);
    since_promise_words(since, index, false, &text);
    json_text(json, "text", buffer_text(&text));
    json->buffer->failed = json->buffer->failed || text.failed;
    buffer_release(&text);
    json_object_end(json);
}

void since_json(struct json_writer *json, const struct since *since)
{
    json_object_begin(json);
    json_text(json, "taken_at", quantity_time(since->before->taken_at_unix_ns).text);
    json_text(json, "source", since->source);
    json_flag(json, "restarted", since->restarted);
    json_flag(json, "comparable", since->unlike == NULL);
    json_optional_text(json, "unlike", since->unlike);
    write_layers(json, since);
    json_key(json, "promises");
    json_array_begin(json);
    for (size_t i = 0; i < since->promise_count; i++) {
        write_promise(json, since, i);
    }
    json_array_end(json);
    json_object_end(json);
}
