/*
 * plan_json.c - the whole plan, the input included, so that it can be checked.
 *
 * Integers are bytes or counts; ratios are thousandths, since the writer has no fractions. What
 * is not known has no key.
 */
#include "cmd/plan_json.h"

#include "base/json_writer.h"
#include "plan/plan_config.h"
#include "plan/plan_processors.h"

enum { INDENT = 2, SCHEMA = 1 };

static void put_unsigned(struct json_writer *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_unsigned(json, value);
}

static void put_string(struct json_writer *json, const char *key, const char *text)
{
    json_key(json, key);
    json_quoted(json, text);
}

static void put_fact(struct json_writer *json, const char *key, const struct fact *fact)
{
    if (fact->state == FACT_OK || fact->state == FACT_STALE) {
        put_unsigned(json, key, fact->value);
    }
}

static void put_budget(
    struct json_writer *json, const struct plan_input *input, const struct plan *plan)
{
    json_key(json, "limit");
    json_object_begin(json);
    put_unsigned(json, "bytes", input->limit_bytes);
    put_string(json, "source", input->limit_source);
    json_object_end(json);
    json_key(json, "fixed");
    json_array_begin(json);
    for (size_t i = 0; i < input->fixed_count; i++) {
        json_object_begin(json);
        put_string(json, "id", input->fixed[i].id);
        put_unsigned(json, "bytes", input->fixed[i].bytes);
        json_object_end(json);
    }
    json_array_end(json);
    put_unsigned(json, "budget", plan->budget_bytes);
}

static void put_worker(
    struct json_writer *json, const struct plan_input *input, const struct plan *plan)
{
    const struct distribution *each = &plan->each;

    json_key(json, "worker");
    json_object_begin(json);
    put_unsigned(json, "samples", each->count);
    put_string(json, "samples_are", input->samples_are_peaks ? "peaks" : "moments");
    put_unsigned(json, "mean", (uint64_t)each->mean_bytes);
    put_unsigned(json, "median", each->median_bytes);
    put_unsigned(json, "p95", each->p95_bytes);
    put_unsigned(json, "largest", each->most_bytes);
    put_unsigned(json, "kernel", input->kernel_bytes);
    put_unsigned(json, "base", input->base_bytes);
    put_unsigned(json, "worst", plan->worst_each_bytes);
    json_key(json, "worst_by_limit");
    json_bool(json, plan->worst_by_limit);
    put_unsigned(
        json, "concurrency_thousandths", (uint64_t)(input->concurrency * 1000 + 0.5));
    put_fact(json, "memory_limit", &input->heap.limit_bytes);
    if (input->heap.known) {
        put_unsigned(json, "peak_real", input->heap.peak_real_bytes);
        put_unsigned(json, "peak_used", input->heap.peak_used_bytes);
        put_unsigned(json, "half_chunks", input->heap.half_chunks);
        put_unsigned(json, "kernel_peak", input->heap.kernel_peak_bytes);
    }
    json_object_end(json);
}

static void put_cases(
    struct json_writer *json, const struct plan_input *input, const struct plan *plan)
{
    json_key(json, "idle");
    json_bool(json, input->idle);
    put_unsigned(json, "workers_now", input->workers_now);
    put_unsigned(json, "workers_allowed", input->workers_allowed);
    put_unsigned(json, "workers_of_other_pools", input->other_pools_children);
    json_key(json, "cases");
    json_array_begin(json);
    for (int id = 0; id < PLAN_CASE_COUNT; id++) {
        const struct plan_case *one = &plan->cases[id];
        json_object_begin(json);
        put_string(json, "id", plan_case_names[id]);
        put_unsigned(json, "workers", one->workers);
        put_unsigned(json, "each", one->each_bytes);
        put_unsigned(json, "need", one->need_bytes);
        if (one->need_now_bytes != 0) {
            put_unsigned(json, "need_now", one->need_now_bytes);
            json_key(json, "fits_now");
            json_bool(json, one->fits_now);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

static void put_limit(struct json_writer *json, const struct plan *plan)
{
    json_key(json, "memory_limit");
    if (!plan->limit.known) {
        json_nothing(json);
        return;
    }
    json_object_begin(json);
    put_unsigned(json, "advised", plan->limit.advised_bytes);
    put_unsigned(json, "to_set", plan->limit.set_bytes);
    put_unsigned(json, "cliff", plan->limit.cliff_bytes);
    put_unsigned(json, "without_cliff", plan->limit.without_cliff_bytes);
    put_unsigned(json, "worst_workers", plan->limit.worst_workers);
    json_object_end(json);
}

static void put_savings(struct json_writer *json, const struct plan_input *input)
{
    json_key(json, "savings");
    json_array_begin(json);
    for (size_t i = 0; i < input->saving_count; i++) {
        const struct plan_saving *saving = &input->savings[i];
        json_object_begin(json);
        put_string(json, "id", saving->id);
        put_string(json, "how", saving->how);
        put_string(json, "confidence", saving->confidence);
        put_unsigned(json, "low", saving->low_bytes);
        put_unsigned(json, "high", saving->high_bytes);
        put_unsigned(json, "workers_low", saving->workers_low);
        put_unsigned(json, "workers_high", saving->workers_high);
        json_object_end(json);
    }
    json_array_end(json);
}

void plan_json(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id planned, struct buffer *buffer)
{
    struct json_writer json;
    struct buffer config;

    buffer_init(&config);
    plan_config(input, plan, planned, &config);
    json_writer_init(&json, buffer, INDENT);
    json_object_begin(&json);
    put_unsigned(&json, "schema", SCHEMA);
    put_string(&json, "name", input->name);
    put_string(&json, "source", input->source);
    put_string(&json, "server", plan_server_names[input->server]);
    put_budget(&json, input, plan);
    put_worker(&json, input, plan);
    put_cases(&json, input, plan);
    put_limit(&json, plan);
    put_unsigned(&json, "max_requests", plan->max_requests);
    put_string(&json, "planned", plan_case_names[planned]);
    if (input->processors > 0) {
        put_unsigned(
            &json, "processors_thousandths", (uint64_t)(input->processors * 1000 + 0.5));
        put_string(&json, "processors_source", input->processors_source);
    }
    put_unsigned(&json, "workers_to_set", plan_workers_to_set(input, plan, planned));
    put_string(&json, "config", buffer_text(&config));
    put_savings(&json, input);
    json_object_end(&json);
    buffer_append_char(buffer, '\n');
    if (buffer_error(&config) != 0) {
        buffer->failed = true;
    }
    buffer_release(&config);
}
