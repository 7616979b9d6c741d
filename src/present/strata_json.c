/*
 * strata_json.c - sums first, under the names that all allocators share; then the processes,
 * with classes, threads and tags, which mean nothing without their process.
 */
#include "present/strata_json.h"

#include "model/known.h"
#include "model/strata_total.h"
#include "present/json_parts.h"

static void write_classes(struct json_writer *json, const struct strata_facts *facts)
{
    json_key(json, "classes");
    json_array_begin(json);
    for (size_t i = 0; i < facts->class_count; i++) {
        const struct strata_class_facts *class = &facts->classes[i];
        if (class->slabs == 0 && class->peak_blocks == 0) {
            continue;
        }
        json_object_begin(json);
        json_count(json, "block_bytes", class->block_bytes);
        json_count(json, "slabs", class->slabs);
        json_count(json, "in_use_blocks", class->in_use_blocks);
        json_count(json, "cached_blocks", class->cached_blocks);
        json_count(json, "free_blocks", class->free_blocks);
        json_count(json, "touched", class->touched_bytes);
        json_count(json, "peak_blocks", class->peak_blocks);
        json_count(json, "given_back", class->purged_bytes);
        json_count(json, "sampled_requests", class->sampled_requests);
        json_count(json, "sampled_bytes", class->sampled_bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_threads(struct json_writer *json, const struct strata_facts *facts)
{
    json_key(json, "threads");
    json_array_begin(json);
    for (size_t i = 0; i < facts->thread_count; i++) {
        const struct strata_thread_facts *thread = &facts->threads[i];
        json_object_begin(json);
        json_signed_count(json, "thread", thread->thread_id);
        json_optional_text(json, "name", thread->name);
        json_count(json, "used", thread->used_bytes);
        json_count(json, "peak", thread->peak_bytes);
        if (thread->ceiling_bytes > 0) {
            json_count(json, "ceiling", thread->ceiling_bytes);
        }
        json_count(json, "refused", thread->refused);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_tags(struct json_writer *json, const struct strata_facts *facts)
{
    json_key(json, "tags");
    json_array_begin(json);
    for (size_t i = 0; i < facts->record_count; i++) {
        const struct strata_record_facts *record = &facts->records[i];
        json_object_begin(json);
        json_text(json, "tag", record->tag);
        if (record->thread < facts->thread_count) {
            json_signed_count(json, "thread", facts->threads[record->thread].thread_id);
        }
        json_count(json, "used", record->used_bytes);
        json_count(json, "used_blocks", record->used_blocks);
        json_count(json, "peak", record->peak_bytes);
        json_count(json, "allocations", record->allocations);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_limit(struct json_writer *json, const struct strata_facts *facts)
{
    const uint32_t hard = facts->limit_hard_bytes > 0 ? FACT_OK : FACT_ABSENT;
    const uint32_t soft = facts->limit_soft_bytes > 0 ? FACT_OK : FACT_ABSENT;
    const struct json_number numbers[] = {
        {"hard", json_fact(facts->limit_hard_bytes, hard)},
        {"soft", json_fact(facts->limit_soft_bytes, soft)},
    };

    json_key(json, "limit");
    json_object_begin(json);
    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
    json_count(json, "charged", facts->limit_charged_bytes);
    json_count(json, "charged_peak", facts->limit_peak_bytes);
    json_count(json, "refused", facts->limit_refused);
    json_count(json, "purges", facts->limit_purges);
    json_object_end(json);
}

static void write_heap(struct json_writer *json, const struct process_facts *process)
{
    const struct strata_facts *facts = &process->strata;

    json_object_begin(json);
    json_signed_count(json, "pid", process->pid);
    json_text(json, "state", fact_state_names[facts->state]);
    json_optional_text(json, "why", facts->why);
    if (state_is_known(facts->state)) {
        json_flag(json, "shared", facts->shared);
        json_count(json, "peak_spans", facts->peak_span_bytes);
        json_count(json, "peak_large", facts->peak_large_bytes);
        json_count(json, "forks", facts->generation);
        json_count(json, "trims", facts->trims);
        write_limit(json, facts);
        write_classes(json, facts);
        write_threads(json, facts);
        write_tags(json, facts);
    }
    json_object_end(json);
}

static void write_heaps(struct json_writer *json, const struct facts *facts)
{
    json_key(json, "heaps");
    json_array_begin(json);
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct strata_facts *strata = &facts->processes[i].strata;
        if (state_is_known(strata->state) || strata->why != NULL) {
            write_heap(json, &facts->processes[i]);
        }
    }
    json_array_end(json);
}

/* The state of a sum with some terms missing: a lower bound. */
static uint32_t sum_state(uint64_t terms, uint64_t missing)
{
    if (terms == 0) {
        return missing > 0 ? FACT_DENIED : FACT_ABSENT;
    }
    return missing > 0 ? FACT_STALE : FACT_OK;
}

void strata_json(struct json_writer *json, const struct facts *facts)
{
    struct strata_total total = {0};

    for (size_t i = 0; i < facts->process_count; i++) {
        strata_total_add(&total, &facts->processes[i].strata);
    }
    uint32_t state = sum_state(total.processes, total.unread);
    if (state == FACT_OK && total.plus_minus_bytes > 0) {
        state = FACT_STALE;
    }
    const uint32_t seen = sum_state(total.processes - total.unseen, total.unseen);
    const struct json_number numbers[] = {
        {"held", json_fact(total.all.held_bytes, state)},
        {"in_use", json_fact(total.all.in_use_bytes, state)},
        {"in_use_blocks", json_fact(total.in_use_blocks, state)},
        {"cached", json_fact(total.all.cached_bytes, state)},
        {"free", json_fact(total.all.free_bytes, state)},
        {"touched", json_fact(total.all.touched_bytes, state)},
        {"mmapped", json_fact(total.huge.in_use_bytes, state)},
        {"mmapped_blocks", json_fact(total.huge_blocks, state)},
        {"large", json_fact(total.large.in_use_bytes, state)},
        {"free_spans", json_fact(total.spans.held_bytes, state)},
        {"rounding_large", json_fact(total.rounding_large_bytes, state)},
        {"rounding_slab_ends", json_fact(total.slab_tail_bytes, state)},
        {"rounding_small_estimate",
            json_fact(total.rounding_small_bytes,
                total.sampled_requests > 0 ? state : FACT_ABSENT)},
        {"books", json_fact(total.descriptor_bytes + total.table_bytes, state)},
        {"given_back", json_fact(total.purged_bytes, state)},
        {"plus_minus", json_fact(total.plus_minus_bytes, state)},
        {"resident", json_fact(total.resident_bytes, seen)},
        {"free_resident", json_fact(total.free_resident_bytes, seen)},
    };
    json_text(json, "state", fact_state_names[state]);
    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
    write_heaps(json, facts);
}
