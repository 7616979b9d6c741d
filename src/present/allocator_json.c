/*
 * allocator_json.c - what was found of each allocator, summed over the members.
 *
 * Only glibc malloc and strata's own have counters that can be read from outside by a proven
 * method; other allocators are named with the evidence for them. Arenas are listed singly with their
 * process, since an address means nothing without it.
 */
#include "present/allocator_json.h"

#include <inttypes.h>
#include <stdio.h>

#include "model/glibc_total.h"
#include "model/known.h"
#include "present/json_parts.h"
#include "present/strata_json.h"

enum { ADDRESS_BYTES = 24 };

/* The first member's description of that kind, NULL when no member has it. */
static const struct allocator_facts *find_kind(const struct facts *facts, uint32_t kind)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        for (size_t j = 0; j < process->allocator_count; j++) {
            if (process->allocators[j].kind == kind) {
                return &process->allocators[j];
            }
        }
    }
    return NULL;
}

static size_t count_processes(const struct facts *facts, uint32_t kind)
{
    size_t count = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        for (size_t j = 0; j < process->allocator_count; j++) {
            if (process->allocators[j].kind == kind) {
                count++;
                break;
            }
        }
    }
    return count;
}

static void write_arena(
    struct json_writer *json, const struct glibc_arena *arena, int32_t pid)
{
    const uint32_t state = arena->state;
    const uint32_t resident = state_is_known(state) ? arena->resident_state : state;
    const uint32_t shared =
        state_is_known(state) && fact_is_known(&arena->free_shared_bytes)
            ? state
            : (uint32_t)arena->free_shared_bytes.state;
    const struct json_number numbers[] = {
        {"held", json_fact(arena->held_bytes, state)},
        {"held_peak", json_fact(arena->held_peak_bytes, state)},
        {"in_use", json_fact(arena->in_use_bytes, state)},
        {"free", json_fact(arena->free_bytes, state)},
        {"fast", json_fact(arena->fast_bytes, state)},
        {"top", json_fact(arena->top_bytes, state)},
        {"overhead", json_fact(arena->overhead_bytes, state)},
        {"largest_free", json_fact(arena->largest_free_bytes, state)},
        {"cached", json_fact(arena->cached_bytes, state)},
        {"heaps", json_fact(arena->heap_count, state)},
        {"threads", json_fact(arena->attached_threads, state)},
        {"plus_minus", json_fact(arena->plus_minus_bytes, state)},
        {"resident", json_fact(arena->resident_bytes, resident)},
        {"free_resident", json_fact(arena->free_resident_bytes, resident)},
        {"top_resident", json_fact(arena->top_resident_bytes, resident)},
        {"trim_gain", json_fact(arena->trim_gain_bytes, resident)},
        {"free_shared", json_fact(arena->free_shared_bytes.value, shared)},
    };
    char address[ADDRESS_BYTES];

    (void)snprintf(address, sizeof(address), "0x%" PRIx64, arena->address);
    json_object_begin(json);
    json_text(json, "address", address);
    json_signed_count(json, "pid", pid);
    json_flag(json, "main", arena->main);
    json_text(json, "state", fact_state_names[state]);
    json_optional_text(json, "why", arena->why);
    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
    json_object_end(json);
}

static void write_arenas(struct json_writer *json, const struct facts *facts)
{
    json_key(json, "arenas");
    json_array_begin(json);
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        for (size_t j = 0; j < process->glibc.arena_count; j++) {
            write_arena(json, &process->glibc.arenas[j], process->pid);
        }
    }
    json_array_end(json);
}

/* The state of a sum: stale when a term is missing, as it is then a lower bound. */
static uint32_t sum_state(uint64_t terms, uint64_t missing, uint32_t state_of_none)
{
    if (terms == missing) {
        return state_is_known(state_of_none) ? FACT_ABSENT : state_of_none;
    }
    return missing > 0 ? FACT_STALE : FACT_OK;
}

/*
 * Arenas that a broken ring hides are in no sum: what could be read of such a heap is a
 * lower bound, however sound each arena is.
 */
static bool is_incomplete(const struct facts *facts, const char **why)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        const struct glibc_facts *glibc = &facts->processes[i].glibc;
        if (glibc->arena_count > 0 && glibc->state != FACT_OK) {
            *why = glibc->why;
            return true;
        }
    }
    return false;
}

static void write_glibc(struct json_writer *json, const struct facts *facts)
{
    struct glibc_total total = {0};
    uint32_t unread_state = FACT_ABSENT;
    uint32_t unseen_state = FACT_ABSENT;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct glibc_facts *glibc = &facts->processes[i].glibc;
        glibc_total_add(&total, glibc);
        unread_state = state_is_known(glibc->state) ? unread_state : glibc->state;
        for (size_t j = 0; j < glibc->arena_count; j++) {
            uint32_t seen = glibc->arenas[j].resident_state;
            unseen_state = state_is_known(seen) ? unseen_state : seen;
        }
    }
    const char *why = NULL;
    uint32_t state = sum_state(total.arenas, total.arenas_unread, unread_state);
    if (state == FACT_OK && is_incomplete(facts, &why)) {
        state = FACT_STALE;
    }
    const uint32_t seen = sum_state(total.arenas, total.arenas_unseen, unseen_state);
    const uint32_t shared = sum_state(total.arenas, total.arenas_unshared, unread_state);
    const struct json_number numbers[] = {
        {"held", json_fact(total.held_bytes, state)},
        {"in_use", json_fact(total.in_use_bytes, state)},
        {"free", json_fact(total.free_bytes, state)},
        {"mmapped", json_fact(total.mmapped_bytes, state)},
        {"mmapped_blocks", json_fact(total.mmapped_blocks, state)},
        {"cached", json_fact(total.cached_bytes, state)},
        {"plus_minus", json_fact(total.plus_minus_bytes, state)},
        {"free_resident", json_fact(total.free_resident_bytes, seen)},
        {"trim_gain", json_fact(total.trim_gain_bytes, seen)},
        {"top_resident_untrimmable", json_fact(total.top_untrimmable_bytes, seen)},
        {"free_shared", json_fact(total.free_shared_bytes, shared)},
    };
    json_text(json, "state", fact_state_names[state]);
    json_optional_text(json, "why", why);
    json_count(json, "arenas_unread", total.arenas_unread);
    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
    write_arenas(json, facts);
}

static bool any_arena(const struct facts *facts)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        if (facts->processes[i].glibc.arena_count > 0) {
            return true;
        }
    }
    return false;
}

static void write_kind(struct json_writer *json, const struct facts *facts, uint32_t kind)
{
    const struct allocator_facts *allocator = find_kind(facts, kind);
    bool walked = kind == ALLOCATOR_GLIBC && any_arena(facts);

    if (allocator == NULL && !walked) {
        return;
    }
    json_object_begin(json);
    json_text(json, "name", allocator_kind_names[kind]);
    if (allocator != NULL) {
        json_optional_text(json, "version", allocator->version);
        json_optional_text(json, "evidence", allocator->evidence);
        json_flag(json, "active", allocator->active);
        json_flag(json, "preloaded", allocator->preloaded);
        json_flag(json, "static", allocator->linked_statically);
        json_count(json, "processes", count_processes(facts, kind));
    }
    if (kind == ALLOCATOR_GLIBC) {
        write_glibc(json, facts);
    }
    if (kind == ALLOCATOR_STRATA) {
        strata_json(json, facts);
    }
    json_object_end(json);
}

void allocator_json(struct json_writer *json, const struct facts *facts)
{
    json_key(json, "allocators");
    json_array_begin(json);
    for (uint32_t kind = 0; kind < ALLOCATOR_KIND_COUNT; kind++) {
        write_kind(json, facts, kind);
    }
    json_array_end(json);
}
