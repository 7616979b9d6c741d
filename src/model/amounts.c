/*
 * amounts.c - sums by part, and how a sum becomes a layer.
 *
 * The total of a layer is always computed from its parts, never beside them: that is
 * what makes "parts sum to the layer" true by construction.
 */
#include "model/amounts.h"

#include <errno.h>
#include <stddef.h>

void amounts_add(struct amounts *amounts, enum part_kind kind, uint64_t bytes)
{
    const uint64_t room = AMOUNTS_MAX_BYTES - amounts->bytes[kind];

    amounts->bytes[kind] += bytes < room ? bytes : room;
}

uint64_t amounts_share_of(uint64_t bytes, double share)
{
    return (uint64_t)((double)(bytes < AMOUNTS_MAX_BYTES ? bytes : AMOUNTS_MAX_BYTES) *
                      share);
}

void amounts_add_estimate(struct amounts *amounts, enum part_kind kind, uint64_t bytes)
{
    amounts_add(amounts, kind, bytes);
    if (bytes > 0) {
        amounts->estimate[kind] = true;
    }
}

uint64_t amounts_take(struct amounts *amounts, enum part_kind kind, uint64_t bytes)
{
    const uint64_t taken = bytes < amounts->bytes[kind] ? bytes : amounts->bytes[kind];

    amounts->bytes[kind] -= taken;
    return taken;
}

void amounts_add_all(struct amounts *amounts, const struct amounts *other)
{
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        amounts_add(amounts, (enum part_kind)kind, other->bytes[kind]);
        amounts->estimate[kind] = amounts->estimate[kind] || other->estimate[kind];
    }
}

uint64_t amounts_total(const struct amounts *amounts)
{
    uint64_t total = 0;

    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        total += amounts->bytes[kind];
    }
    return total;
}

/* Insertion keeps the order of the table among parts of the same size. */
static void insert_part(struct layer *layer, const struct part *part)
{
    size_t place = layer->part_count;

    while (place > 0 && layer->parts[place - 1].bytes < part->bytes) {
        layer->parts[place] = layer->parts[place - 1];
        place--;
    }
    layer->parts[place] = *part;
    layer->part_count++;
}

int layer_from_amounts(struct region *region, const struct amounts *amounts,
    enum fact_state state, const char *source, struct layer *layer)
{
    size_t count = 0;

    if (source == NULL) {
        return -ENOMEM;
    }
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        count += amounts->bytes[kind] > 0 ? 1 : 0;
    }
    layer->parts = NULL;
    layer->part_count = 0;
    if (count > 0) {
        layer->parts = region_alloc(region, count * sizeof(*layer->parts));
        if (layer->parts == NULL) {
            return -ENOMEM;
        }
    }
    for (int kind = 0; kind < PART_KIND_COUNT; kind++) {
        if (amounts->bytes[kind] > 0) {
            insert_part(layer, &(struct part){
                                   .id = part_table[kind].id,
                                   .title = part_table[kind].title,
                                   .bytes = amounts->bytes[kind],
                                   .estimate = amounts->estimate[kind],
                               });
        }
    }
    layer->state = state;
    layer->bytes = (int64_t)amounts_total(amounts);
    layer->source = source;
    return 0;
}

int layer_missing(struct layer *layer, enum fact_state state, const char *source)
{
    if (source == NULL) {
        return -ENOMEM;
    }
    layer->state = state;
    layer->bytes = 0;
    layer->plus_minus_bytes = 0;
    layer->bound = BOUND_NONE;
    layer->parts = NULL;
    layer->part_count = 0;
    layer->source = source;
    return 0;
}
