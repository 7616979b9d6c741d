/*
 * result_json.c - every run with what it is worth, valid or not.
 *
 * Rates are thousandths of a request a second, latencies microseconds: integers, as everywhere.
 */
#include "trial/result_json.h"

#include "base/json_writer.h"
#include "model/known.h"

enum { INDENT = 1, SCHEMA = 1 };

static void put_unsigned(struct json_writer *json, const char *key, uint64_t value)
{
    json_key(json, key);
    json_unsigned(json, value);
}

static void put_thousandths(struct json_writer *json, const char *key, double value)
{
    put_unsigned(json, key, value > 0 ? (uint64_t)(value * 1000 + 0.5) : 0);
}

static void put_string(struct json_writer *json, const char *key, const char *text)
{
    json_key(json, key);
    json_quoted(json, text);
}

static void put_bool(struct json_writer *json, const char *key, bool value)
{
    json_key(json, key);
    json_bool(json, value);
}

static void put_figures(struct json_writer *json, const char *key,
    const struct fact figures[MEMORY_FIGURE_COUNT])
{
    json_key(json, key);
    json_object_begin(json);
    for (int i = 0; i < MEMORY_FIGURE_COUNT; i++) {
        if (fact_is_known(&figures[i])) {
            put_unsigned(json, memory_figure_names[i], figures[i].value);
        }
    }
    json_object_end(json);
}

static void put_load(struct json_writer *json, const struct load_result *load)
{
    put_bool(json, "complete", load->complete);
    put_string(json, "load", load_tool_names[load->tool]);
    put_unsigned(json, "requests", load->requests);
    put_unsigned(json, "bad_status", load->bad_status);
    put_unsigned(json, "bad_body", load->bad_body);
    put_unsigned(json, "failed", load->failed);
    put_unsigned(json, "unsent", load->unsent);
    put_thousandths(json, "duration_ms", load->seconds);
    put_thousandths(json, "rate_thousandths", load->rate);
    put_unsigned(json, "mean_us", (uint64_t)load->mean_us);
    put_unsigned(json, "p50_us", (uint64_t)load->p50_us);
    put_unsigned(json, "p90_us", (uint64_t)load->p90_us);
    put_unsigned(json, "p99_us", (uint64_t)load->p99_us);
    put_unsigned(json, "most_us", (uint64_t)load->most_us);
    put_thousandths(json, "generator_processor_ms", load->processor_seconds);
}

static void put_run(struct json_writer *json, const struct result_run *run)
{
    json_object_begin(json);
    put_bool(json, "valid", run->reasons.count == 0);
    json_key(json, "reasons");
    json_array_begin(json);
    for (size_t i = 0; i < run->reasons.count; i++) {
        json_quoted(json, run->reasons.text[i]);
    }
    json_array_end(json);
    put_load(json, &run->load);
    put_figures(json, "mean", run->memory.mean);
    put_figures(json, "peak", run->memory.peak);
    put_thousandths(json, "processors_thousandths", run->processors);
    put_thousandths(json, "probe_share_thousandths", run->probe_share);
    json_object_end(json);
}

static void put_medians(struct json_writer *json, const struct result_setup *setup,
    const struct result_row *row)
{
    const struct result_medians medians = result_medians_of(row);
    const double cost = result_cost(setup, &medians);

    json_key(json, "median");
    if (medians.counted == 0) {
        json_nothing(json);
        return;
    }
    json_object_begin(json);
    put_unsigned(json, "runs", medians.counted);
    put_thousandths(json, "rate_thousandths", medians.rate);
    put_thousandths(json, "rate_least_thousandths", medians.rate_least);
    put_thousandths(json, "rate_most_thousandths", medians.rate_most);
    put_unsigned(json, "p50_us", (uint64_t)medians.p50_us);
    put_unsigned(json, "p99_us", (uint64_t)medians.p99_us);
    put_thousandths(json, "processors_thousandths", medians.processors);
    put_figures(json, "mean", medians.mean);
    put_figures(json, "peak", medians.peak);
    put_thousandths(json, "rate_per_gib_thousandths",
        result_per_gib(medians.rate, &medians.mean[result_best_figure(medians.mean)]));
    if (cost > 0) {
        put_thousandths(json, "cost_month_thousandths", cost);
        put_thousandths(json, "rate_per_currency_thousandths", medians.rate / cost);
    }
    json_object_end(json);
}

static void put_plan(struct json_writer *json, const struct result_plan *plan)
{
    json_key(json, "plan");
    if (!plan->known) {
        json_nothing(json);
        return;
    }
    json_object_begin(json);
    put_string(json, "server", plan->server);
    put_thousandths(json, "concurrency_thousandths", plan->concurrency);
    put_unsigned(json, "master", plan->master_bytes);
    put_unsigned(json, "shared_once", plan->shared_once_bytes);
    put_unsigned(json, "fixed_kernel", plan->fixed_kernel_bytes);
    put_unsigned(json, "kernel", plan->kernel_bytes);
    put_unsigned(json, "base", plan->base_bytes);
    put_unsigned(json, "shared", plan->shared_bytes);
    put_unsigned(json, "retained", plan->retained_bytes);
    if (plan->heap_known) {
        put_unsigned(json, "peak_real", plan->peak_real_bytes);
        put_unsigned(json, "peak_used", plan->peak_used_bytes);
        put_unsigned(json, "half_chunks", plan->half_chunks);
    }
    if (plan->memory_limit_bytes != 0) {
        put_unsigned(json, "memory_limit", plan->memory_limit_bytes);
    }
    if (plan->growth_known) {
        put_unsigned(json, "growth_per_request", plan->growth_bytes_per_request);
    }
    json_key(json, "private");
    json_array_begin(json);
    for (size_t i = 0; i < plan->private_count; i++) {
        json_unsigned(json, plan->private_bytes[i]);
    }
    json_array_end(json);
    json_object_end(json);
}

static void put_row(struct json_writer *json, const struct result_setup *setup,
    const struct result_row *row)
{
    json_object_begin(json);
    put_string(json, "recipe", row->recipe);
    put_string(json, "title", row->title);
    put_bool(json, "model", row->model);
    put_bool(json, "blocking", row->blocking);
    put_bool(json, "front", row->front);
    put_bool(json, "started", row->started);
    put_bool(json, "whole", row->whole);
    put_string(json, "why", row->why);
    put_unsigned(json, "workers", row->workers);
    put_bool(json, "warm", row->warm);
    put_unsigned(json, "warm_seconds", row->warm_seconds);
    put_unsigned(json, "warm_requests", row->warm_requests);
    put_figures(json, "cold", row->cold);
    put_figures(json, "idle", row->idle);
    put_figures(json, "quiet", row->quiet);
    if (fact_is_known(&row->trim_gain)) {
        put_unsigned(json, "trim_gain", row->trim_gain.value);
    }
    if (row->box_known) {
        put_unsigned(json, "limit_hits", row->box_hits);
        put_unsigned(json, "kills", row->box_kills);
        put_unsigned(json, "charged_peak", row->box_peak_bytes);
    }
    json_key(json, "runs");
    json_array_begin(json);
    for (size_t i = 0; i < row->run_count; i++) {
        put_run(json, &row->runs[i]);
    }
    json_array_end(json);
    put_medians(json, setup, row);
    put_plan(json, &row->plan);
    json_object_end(json);
}

void result_json(const struct result *result, struct buffer *buffer)
{
    const struct result_setup *setup = &result->setup;
    struct json_writer json;

    json_writer_init(&json, buffer, INDENT);
    json_object_begin(&json);
    put_unsigned(&json, "schema", SCHEMA);
    put_string(&json, "kind", "strata-bench");
    json_key(&json, "setup");
    json_object_begin(&json);
    if (setup->attached != NULL) {
        put_string(&json, "attached", setup->attached);
    } else {
        put_unsigned(&json, "workers", setup->workers);
    }
    put_unsigned(&json, "connections", setup->connections);
    put_unsigned(&json, "seconds", setup->seconds);
    put_unsigned(&json, "quiet_seconds", setup->quiet_seconds);
    if (setup->url != NULL) {
        put_string(&json, "url", setup->url);
    } else {
        put_string(&json, "work", setup->work);
    }
    put_string(&json, "load", load_tool_names[setup->tool]);
    put_thousandths(&json, "wanted_rate_thousandths", setup->rate);
    put_unsigned(&json, "memory_limit", setup->memory_limit_bytes);
    put_unsigned(&json, "processors", setup->processors);
    json_object_end(&json);
    json_key(&json, "rows");
    json_array_begin(&json);
    for (size_t i = 0; i < result->row_count; i++) {
        put_row(&json, setup, &result->rows[i]);
    }
    json_array_end(&json);
    json_object_end(&json);
    buffer_append_char(buffer, '\n');
}
