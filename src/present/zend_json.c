/*
 * zend_json.c - heaps with the process they belong to, pools with their settings and status.
 *
 * What a state makes unknown is listed under "missing", as for every number: a page map
 * that could not be read takes its parts with it, and so do free lists and residency.
 */
#include "present/zend_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "present/json_parts.h"

enum { ADDRESS_BYTES = 24, PAGE_BYTES = 4096 };

static void write_bins(struct json_writer *json, const struct zend_heap_facts *heap)
{
    json_key(json, "bins");
    json_array_begin(json);
    for (size_t i = 0; i < heap->bin_count; i++) {
        const struct zend_bin *bin = &heap->bins[i];
        if (bin->runs == 0) {
            continue;
        }
        json_object_begin(json);
        json_count(json, "block", bin->block_bytes);
        json_count(json, "runs", bin->runs);
        json_count(json, "pages", bin->pages);
        json_count(json, "blocks", bin->blocks);
        if (heap->deep_state == FACT_OK) {
            json_count(json, "free_blocks", bin->free_blocks);
        }
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_numbers(struct json_writer *json, const struct zend_heap_facts *heap)
{
    const uint32_t counters = heap->state;
    /* The page map counts only when a whole walk fitted. */
    const uint32_t map = heap->state == FACT_STALE ? FACT_ABSENT : heap->state;
    const uint32_t resident = map == FACT_OK ? heap->resident_state : map;
    const uint32_t deep = map == FACT_OK ? heap->deep_state : map;
    const struct json_number numbers[] = {
        {"used", json_fact(heap->used_bytes, counters)},
        {"real", json_fact(heap->real_bytes, counters)},
        {"peak_used", json_fact(heap->peak_used_bytes, counters)},
        {"peak_real", json_fact(heap->peak_real_bytes, counters)},
        {"plus_minus", json_fact(heap->plus_minus_bytes, counters)},
        {"limit", heap->limit_bytes},
        {"hard_limit", heap->hard_limit_bytes},
        {"chunks", json_fact(heap->chunks, counters)},
        {"peak_chunks", json_fact(heap->peak_chunks, counters)},
        {"cached_chunks", json_fact(heap->cached_chunks, counters)},
        {"average_chunks_thousandths",
            json_fact(heap->average_chunks_thousandths, counters)},
        {"small_live", json_fact(heap->small_live_bytes, map)},
        {"small_free", json_fact(heap->small_free_bytes, map)},
        {"run_tail", json_fact(heap->run_tail_bytes, map)},
        {"large", json_fact(heap->large_pages * PAGE_BYTES, map)},
        {"free_pages", json_fact(heap->free_pages, map)},
        {"largest_free_pages", json_fact(heap->largest_free_pages, map)},
        {"huge", json_fact(heap->huge_bytes, map)},
        {"huge_blocks", json_fact(heap->huge_blocks, map)},
        {"half_chunks", json_fact(heap->half_chunks, map)},
        {"third_chunks", json_fact(heap->third_chunks, map)},
        {"quarter_chunks", json_fact(heap->quarter_chunks, map)},
        {"resident", json_fact(heap->resident_bytes, resident)},
        {"free_resident", json_fact(heap->free_resident_bytes, resident)},
        {"cached_resident", json_fact(heap->cached_resident_bytes, resident)},
        {"huge_resident", json_fact(heap->huge_resident_bytes, resident)},
        {"gc_gain", json_fact(heap->gc_bytes, deep)},
        {"gc_real", json_fact(heap->gc_real_bytes, deep)},
        {"gc_resident", json_fact(heap->gc_resident_bytes, deep)},
    };

    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
}

static void write_heap(
    struct json_writer *json, const struct zend_heap_facts *heap, int32_t pid)
{
    char address[ADDRESS_BYTES];

    (void)snprintf(address, sizeof(address), "0x%" PRIx64, heap->address);
    json_object_begin(json);
    json_signed_count(json, "pid", pid);
    json_text(json, "address", address);
    json_text(json, "state", fact_state_names[heap->state]);
    json_optional_text(json, "why", heap->why);
    json_flag(json, "custom", heap->custom);
    json_flag(json, "found_by_symbol", heap->found_by_symbol);
    write_numbers(json, heap);
    json_optional_text(json, "deep_why", heap->deep_why);
    write_bins(json, heap);
    json_object_end(json);
}

static void write_workers(struct json_writer *json, const struct fpm_pool_facts *pool)
{
    json_key(json, "workers");
    json_array_begin(json);
    for (size_t i = 0; i < pool->worker_count; i++) {
        const struct fpm_worker_facts *worker = &pool->workers[i];
        const struct json_number memory = {
            "last_request_memory", worker->last_request_memory};
        json_object_begin(json);
        json_signed_count(json, "pid", worker->pid);
        json_text(json, "state", worker->state);
        json_count(json, "requests", worker->requests);
        json_numbers(json, &memory, 1);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_status(struct json_writer *json, const struct fpm_pool_facts *pool)
{
    const struct json_number numbers[] = {
        {"accepted_connections", pool->accepted_connections},
        {"listen_queue", pool->listen_queue},
        {"idle", pool->idle},
        {"active", pool->active},
        {"total", pool->total},
        {"max_active", pool->max_active},
        {"max_children_reached", pool->max_children_reached},
        {"slow_requests", pool->slow_requests},
        {"memory_peak", pool->memory_peak},
    };

    json_key(json, "status");
    json_object_begin(json);
    json_text(json, "state", fact_state_names[pool->status_state]);
    json_optional_text(json, "why", pool->status_why);
    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
    write_workers(json, pool);
    json_object_end(json);
}

static void write_pool(struct json_writer *json, const struct fpm_pool_facts *pool)
{
    const struct json_number numbers[] = {
        {"max_children", pool->max_children},
        {"start_servers", pool->start_servers},
        {"min_spare", pool->min_spare},
        {"max_spare", pool->max_spare},
        {"max_requests", pool->max_requests},
        {"idle_timeout_seconds", pool->idle_timeout_seconds},
        {"memory_limit", pool->memory_limit_bytes},
    };

    json_object_begin(json);
    json_text(json, "name", pool->name);
    json_optional_text(json, "file", pool->file);
    json_text(json, "state", fact_state_names[pool->config_state]);
    json_optional_text(json, "why", pool->config_why);
    json_text(json, "manager", fpm_manager_names[pool->manager]);
    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
    json_flag(json, "memory_limit_admin", pool->memory_limit_admin);
    json_flag(json, "opcache_size_in_pool", pool->opcache_size_in_pool);
    json_optional_text(json, "listen", pool->listen);
    json_optional_text(json, "status_path", pool->status_path);
    json_optional_text(json, "status_listen", pool->status_listen);
    write_status(json, pool);
    json_object_end(json);
}

void zend_json(struct json_writer *json, const struct facts *facts)
{
    json_key(json, "zend_heaps");
    json_array_begin(json);
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        for (size_t j = 0; j < process->zend.heap_count; j++) {
            write_heap(json, &process->zend.heaps[j], process->pid);
        }
    }
    json_array_end(json);
    if (facts->fpm_pool_count == 0) {
        return;
    }
    json_key(json, "fpm_pools");
    json_array_begin(json);
    for (size_t i = 0; i < facts->fpm_pool_count; i++) {
        write_pool(json, &facts->fpm_pools[i]);
    }
    json_array_end(json);
}
