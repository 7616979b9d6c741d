/*
 * heap_layers.c - what glibc malloc holds, has handed out and keeps for itself.
 *
 * held          = sum of system_mem over the arenas + blocks that got a mapping each
 * in use        = chunks handed out, headers included, as mallinfo2(3) counts them
 *                 (uordblks + hblkhd), with the headers of arenas and heaps; what threads keep in their caches is a part of it
 * free resident = whole resident pages in free chunks and in the tops of the arenas
 * never touched = held, and not resident: address space without a frame behind it
 *
 * An arena that could not be walked has no numbers. Its heaps bound what is missing, so
 * their size goes into plus_minus and the layer is stale instead of wrong. strata's own
 * malloc shows its figures (strata_layers.c); other allocators export none to an outside
 * reader.
 */
#include "model/heap_layers.h"

#include <errno.h>
#include <inttypes.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/known.h"
#include "model/strata_layers.h"
#include "model/zend_layers.h"

/* Sums over the arenas, and how sure they are. */
struct arena_sums {
    size_t walked;
    size_t with_residency;
    uint64_t plus_minus_bytes;
    bool stale;
};

static void add_arena(struct heap_amounts *amounts, const struct glibc_arena *arena,
    struct arena_sums *sums)
{
    const enum part_kind held_kind =
        arena->main ? PART_GLIBC_MAIN_ARENA : PART_GLIBC_ARENAS;
    const enum part_kind top_kind =
        arena->main ? PART_GLIBC_MAIN_TOP : PART_GLIBC_ARENA_TOPS;
    const uint64_t inner_gain =
        number_subtract(arena->trim_gain_bytes, arena->top_trimmable_bytes);
    const uint64_t free_gain =
        inner_gain < arena->free_resident_bytes ? inner_gain : arena->free_resident_bytes;

    sums->walked++;
    sums->stale = sums->stale || arena->state == FACT_STALE;
    sums->plus_minus_bytes = number_add(sums->plus_minus_bytes, arena->plus_minus_bytes);
    amounts_add(&amounts->held, held_kind, arena->held_bytes);
    amounts_add(&amounts->in_use, PART_GLIBC_IN_USE,
        number_add(arena->overhead_bytes,
            number_subtract(arena->in_use_bytes, arena->cached_bytes)));
    amounts_add(&amounts->in_use, PART_GLIBC_CACHED,
        arena->cached_bytes < arena->in_use_bytes ? arena->cached_bytes
                                                  : arena->in_use_bytes);
    if (!state_is_known(arena->resident_state)) {
        return;
    }
    sums->with_residency++;
    amounts_add(&amounts->free_resident, PART_GLIBC_FREE, free_gain);
    amounts_add(&amounts->free_resident, PART_GLIBC_FREE_EDGES,
        arena->free_resident_bytes - free_gain);
    amounts_add(&amounts->free_resident, top_kind, arena->top_resident_bytes);
    amounts_add(&amounts->never_touched, held_kind,
        number_subtract(arena->held_bytes, arena->resident_bytes));
}

/* The heaps of arenas without numbers: the most that can be missing from a sum. */
static uint64_t unread_span_bytes(const struct process_facts *process)
{
    const struct glibc_facts *glibc = &process->glibc;
    uint64_t total = 0;

    for (size_t i = 0; i < process->span_count; i++) {
        const struct span *span = &process->spans[i];
        const bool heap =
            span->owner == SPAN_GLIBC_ARENA_HEAP || span->owner == SPAN_GLIBC_MAIN_HEAP;

        if (heap && (span->index >= glibc->arena_count ||
                        !state_is_known(glibc->arenas[span->index].state))) {
            total = number_add(total, number_subtract(span->end, span->start));
        }
    }
    return total;
}

static int set_layer(struct region *region, struct layer *layer,
    const struct amounts *amounts, const struct arena_sums *sums, const char *source)
{
    const int error = layer_from_amounts(
        region, amounts, sums->stale ? FACT_STALE : FACT_OK, source, layer);

    layer->plus_minus_bytes = sums->plus_minus_bytes;
    return error;
}

/* Free resident and never touched: they need pagemap as well. */
static int set_residency_layers(struct region *region, struct process_view *view,
    struct heap_amounts *amounts, struct arena_sums *sums, const char *source)
{
    const struct process_facts *process = view->facts;
    const struct glibc_facts *glibc = &process->glibc;
    const struct fact *swap = &process->values[PROCESS_FACT_VM_SWAP];
    int error;

    if (sums->with_residency == 0 && sums->walked > 0) {
        static const char why[] = "pagemap could not be read: which free pages are "
                                  "resident is not known (sudo would give it)";
        const enum fact_state state =
            glibc->arena_count > 0 ? (enum fact_state)glibc->arenas[0].resident_state
                                   : (enum fact_state)process->strata.resident_state;
        amounts->free_resident = amounts->never_touched = (struct amounts){.bytes = {0}};
        error = layer_missing(&view->layers[LAYER_FREE_RESIDENT],
            state_is_known(state) ? FACT_MALFORMED : state, why);
        return error != 0 ? error
                          : layer_missing(&view->layers[LAYER_NEVER_TOUCHED],
                                state_is_known(state) ? FACT_MALFORMED : state, why);
    }
    sums->stale = sums->stale || sums->with_residency < sums->walked;
    error = set_layer(region, &view->layers[LAYER_FREE_RESIDENT], &amounts->free_resident,
        sums, source);
    if (error != 0) {
        return error;
    }
    if (state_is_known(glibc->mmapped_resident_bytes.state)) {
        amounts_add(&amounts->never_touched, PART_GLIBC_MMAPPED,
            number_subtract(
                glibc->parameters.mmapped_bytes, glibc->mmapped_resident_bytes.value));
    }
    /* What is in swap has been touched, and is not resident either. */
    if (state_is_known(swap->state)) {
        sums->plus_minus_bytes = number_add(sums->plus_minus_bytes, swap->value);
    }
    return set_layer(region, &view->layers[LAYER_NEVER_TOUCHED], &amounts->never_touched,
        sums, source);
}

/* No glibc heap to count: all four layers say so. */
static int set_missing(
    struct process_view *view, enum fact_state state, const char *source)
{
    static const enum layer_id ids[] = {
        LAYER_IN_USE, LAYER_HELD, LAYER_FREE_RESIDENT, LAYER_NEVER_TOUCHED};

    for (size_t i = 0; i < sizeof(ids) / sizeof(ids[0]); i++) {
        if (layer_missing(&view->layers[ids[i]], state, source) != 0) {
            return -ENOMEM;
        }
    }
    return 0;
}

/* Names the allocator that runs instead, when one was recognised. */
static int set_without_glibc(struct region *region, struct process_view *view)
{
    const struct process_facts *process = view->facts;
    const struct glibc_facts *glibc = &process->glibc;

    for (size_t i = 0; i < process->allocator_count; i++) {
        const struct allocator_facts *allocator = &process->allocators[i];

        if ((glibc->state == FACT_ABSENT || state_is_known(glibc->state)) &&
            allocator->active && allocator->kind < ALLOCATOR_KIND_COUNT &&
            allocator->kind != ALLOCATOR_GLIBC) {
            return set_missing(view, FACT_ABSENT,
                region_printf(region,
                    "%s is the allocator: it shows no counters to an outside reader",
                    allocator_kind_names[allocator->kind]));
        }
    }
    if (process->strata.why != NULL) {
        return set_missing(view, (enum fact_state)process->strata.state,
            region_printf(region, "strata malloc: %s", process->strata.why));
    }
    if (glibc->why != NULL) {
        return set_missing(view, (enum fact_state)glibc->state,
            process->allocator_count > 0
                ? region_printf(region, "glibc malloc: %s", glibc->why)
                : glibc->why);
    }
    return set_missing(view, (enum fact_state)glibc->state,
        glibc->state == FACT_ABSENT ? "no allocator was read in this process"
                                    : "glibc malloc could not be read");
}

static const char *glibc_source(
    struct region *region, const struct glibc_facts *glibc, const struct arena_sums *sums)
{
    const char *version = glibc->version != NULL ? glibc->version : "unknown version";
    const struct quantity blocks =
        quantity_count(glibc->parameters.mmapped_blocks, "mapped block");

    if (sums->walked < glibc->arena_count) {
        return region_printf(region, "glibc malloc %s: %zu of %s could be walked, and %s",
            version, sums->walked, quantity_count(glibc->arena_count, "arena").text,
            blocks.text);
    }
    return region_printf(region, "glibc malloc %s: %s walked, and %s", version,
        quantity_count(glibc->arena_count, "arena").text, blocks.text);
}

/* Names every heap that was counted. */
static const char *source_text(struct region *region, const struct process_facts *process,
    const char *glibc, const struct zend_sums *zend)
{
    const char *strata = state_is_known(process->strata.state)
                             ? strata_layers_source(region, process)
                             : NULL;
    const char *first = strata != NULL ? strata : "";
    const char *comma = strata != NULL && glibc != NULL ? "; " : "";

    if (zend->heaps == 0) {
        return region_printf(region, "%s%s%s", first, comma, glibc != NULL ? glibc : "");
    }
    return region_printf(region, "%s%s%s%sPHP %s: %s", first, comma,
        glibc != NULL ? glibc : "", strata != NULL || glibc != NULL ? "; " : "",
        process->zend.version != NULL ? process->zend.version : "of unknown version",
        quantity_count(zend->heaps, "heap").text);
}

static void add_glibc(const struct process_facts *process, struct heap_amounts *amounts,
    struct arena_sums *sums)
{
    const struct glibc_facts *glibc = &process->glibc;

    sums->stale = glibc->state == FACT_STALE;
    for (size_t i = 0; i < glibc->arena_count; i++) {
        if (state_is_known(glibc->arenas[i].state)) {
            add_arena(amounts, &glibc->arenas[i], sums);
        }
    }
    if (sums->walked < glibc->arena_count) {
        sums->stale = true;
        sums->plus_minus_bytes =
            number_add(sums->plus_minus_bytes, unread_span_bytes(process));
    }
    if (state_is_known(glibc->parameters.state)) {
        amounts_add(&amounts->held, PART_GLIBC_MMAPPED, glibc->parameters.mmapped_bytes);
        amounts_add(
            &amounts->in_use, PART_GLIBC_MMAPPED, glibc->parameters.mmapped_bytes);
    } else {
        sums->stale = true;
    }
}

static void add_zend(const struct process_facts *process, struct heap_amounts *amounts,
    struct arena_sums *sums, struct zend_sums *zend)
{
    zend_layers_add(process, amounts, zend);
    sums->walked += zend->heaps;
    sums->with_residency += zend->with_residency;
    sums->stale = sums->stale || zend->stale;
    sums->plus_minus_bytes = number_add(sums->plus_minus_bytes, zend->plus_minus_bytes);
}

/* glibc is in every process; where another allocator took its place it holds nothing. */
static bool glibc_is_used(const struct process_facts *process)
{
    const struct glibc_facts *glibc = &process->glibc;
    uint64_t held = glibc->parameters.mmapped_bytes;

    for (size_t i = 0; i < glibc->arena_count; i++) {
        held = number_add(held, glibc->arenas[i].held_bytes);
    }
    if (!state_is_known(glibc->state) || held > 0) {
        return state_is_known(glibc->state);
    }
    for (size_t i = 0; i < process->allocator_count; i++) {
        const struct allocator_facts *allocator = &process->allocators[i];
        if (allocator->active && allocator->kind != ALLOCATOR_GLIBC &&
            allocator->kind < ALLOCATOR_ZEND) {
            return false;
        }
    }
    return true;
}

static bool add_strata(const struct process_facts *process, struct heap_amounts *amounts,
    struct arena_sums *sums)
{
    const struct strata_facts *facts = &process->strata;

    if (!strata_layers_add(process, amounts)) {
        return false;
    }
    sums->walked++;
    sums->with_residency += state_is_known(facts->resident_state);
    sums->stale = sums->stale || facts->state == FACT_STALE;
    sums->plus_minus_bytes = number_add(sums->plus_minus_bytes, facts->plus_minus_bytes);
    return true;
}

int heap_layers_build(
    struct region *region, struct process_view *view, struct heap_amounts *amounts)
{
    const struct process_facts *process = view->facts;
    const bool with_glibc = glibc_is_used(process);
    struct arena_sums sums = {0};
    struct zend_sums zend;
    const char *source;
    int error = 0;

    *amounts = (struct heap_amounts){.held.bytes = {0}};
    if (with_glibc) {
        add_glibc(process, amounts, &sums);
    }
    /* The text counts arenas, so it is made before the heaps of PHP join the sums. */
    const char *glibc = with_glibc ? glibc_source(region, &process->glibc, &sums) : NULL;
    add_zend(process, amounts, &sums, &zend);
    const bool with_strata = add_strata(process, amounts, &sums);
    if (!with_glibc && !with_strata && zend.heaps == 0) {
        return set_without_glibc(region, view);
    }
    source = source_text(region, process, glibc, &zend);
    if (zend.heaps > 0) {
        error = zend_layers_tracked(
            region, process, &amounts->tracked, &zend, &view->layers[LAYER_TRACKED]);
    }
    if (error == 0) {
        error =
            set_layer(region, &view->layers[LAYER_HELD], &amounts->held, &sums, source);
    }
    if (error == 0) {
        error = set_layer(
            region, &view->layers[LAYER_IN_USE], &amounts->in_use, &sums, source);
    }
    return error != 0 ? error
                      : set_residency_layers(region, view, amounts, &sums, source);
}
