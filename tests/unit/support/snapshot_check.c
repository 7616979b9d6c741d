/*
 * snapshot_check.c - the invariants that snapshot.c promises.
 */
#include "snapshot_check.h"

#include <stdbool.h>
#include <string.h>

static bool has_bytes(const struct layer *layer)
{
    return layer->state == FACT_OK || layer->state == FACT_STALE;
}

static const char *check_layer(const struct layer *layer, int id)
{
    uint64_t sum = 0;

    if ((int)layer->id != id) {
        return "a layer is in another one's place";
    }
    if (layer->source == NULL || layer->source[0] == '\0') {
        return "a layer has no source";
    }
    if (!has_bytes(layer)) {
        return layer->bytes == 0 && layer->part_count == 0
                   ? NULL
                   : "a missing layer carries a number";
    }
    if (id != LAYER_RESIDUAL && layer->bytes < 0) {
        return "a layer is negative";
    }
    for (size_t i = 0; i < layer->part_count; i++) {
        const struct part *part = &layer->parts[i];
        if (part->id == NULL || part->title == NULL || part->bytes == 0) {
            return "a part is empty";
        }
        if (i > 0 && part->bytes > layer->parts[i - 1].bytes) {
            return "parts are not largest first";
        }
        for (size_t other = 0; other < i; other++) {
            if (strcmp(part->id, layer->parts[other].id) == 0) {
                return "a part occurs twice";
            }
        }
        sum += part->bytes;
    }
    if (layer->part_count > 0 && (int64_t)sum != layer->bytes) {
        return "parts do not sum to their layer";
    }
    return NULL;
}

static const char *check_layers(const struct layer *layers)
{
    const struct layer *resident = &layers[LAYER_RESIDENT];
    const struct layer *residual = &layers[LAYER_RESIDUAL];

    for (int id = 0; id < LAYER_COUNT; id++) {
        const char *problem = check_layer(&layers[id], id);
        if (problem != NULL) {
            return problem;
        }
    }
    if (has_bytes(residual) && residual->bytes > 0) {
        if (!has_bytes(resident)) {
            return "there is a residual of nothing";
        }
        if ((uint64_t)residual->bytes > layer_part_bytes(resident, "unexplained")) {
            return "the residual is more than what has no owner";
        }
    }
    return NULL;
}

/* Resident of one process is the sum of Rss over its mappings, when that is small enough
 * not to be cut. */
static const char *check_member(const struct process_view *view)
{
    const struct layer *resident = &view->layers[LAYER_RESIDENT];
    uint64_t sum = 0;

    if (!has_bytes(resident) || !view->facts->mappings_have_values ||
        view->facts->mapping_count == 0) {
        return check_layers(view->layers);
    }
    for (size_t i = 0; i < view->facts->mapping_count; i++) {
        const struct mapping *mapping = &view->facts->mappings[i];
        const struct fact *rss = &mapping->values[MAPPING_FACT_RSS];
        const uint64_t size =
            mapping->end > mapping->start ? mapping->end - mapping->start : 0;
        if (rss->state != FACT_OK && rss->state != FACT_STALE) {
            continue;
        }
        if (rss->value > UINT64_C(1) << 44) {
            return check_layers(view->layers);
        }
        sum += rss->value < size ? rss->value : size;
    }
    if ((view->facts->mappings_state == FACT_OK ||
            view->facts->mappings_state == FACT_STALE) &&
        sum != (uint64_t)resident->bytes) {
        return "resident is not the sum over the mappings";
    }
    return check_layers(view->layers);
}

const char *snapshot_check(const struct snapshot *snapshot)
{
    for (size_t i = 0; i < snapshot->member_count; i++) {
        const char *problem = check_member(&snapshot->members[i]);
        if (problem != NULL) {
            return problem;
        }
    }
    return check_layers(snapshot->layers);
}
