/*
 * snapshot.c - facts in, snapshot out: the members one by one, then the whole target.
 *
 * Invariants of a finished snapshot:
 *   a layer without bytes has a source text that says why;
 *   a layer with parts has bytes equal to their sum, and no part is zero;
 *   residual is "unexplained" of resident, less what parts claim beyond Rss.
 * Strings point into the snapshot's region, the facts or constants: all live as long.
 */
#include "model/snapshot.h"

#include <errno.h>
#include <string.h>

#include "model/container.h"
#include "model/group_layers.h"
#include "model/known.h"
#include "model/process_layers.h"

/* Facts are bounded by facts.h; this stops what those bounds multiply to. */
#define SNAPSHOT_MAX_BYTES ((size_t)1 << 30)

const char *const layer_names[LAYER_COUNT] = {
    [LAYER_TRACKED] = "tracked",
    [LAYER_IN_USE] = "in_use",
    [LAYER_HELD] = "held",
    [LAYER_FREE_RESIDENT] = "free_resident",
    [LAYER_NEVER_TOUCHED] = "never_touched",
    [LAYER_RESIDENT] = "resident",
    [LAYER_PSS] = "pss",
    [LAYER_UNIQUE] = "unique",
    [LAYER_EXCLUSIVE] = "exclusive",
    [LAYER_CHARGED] = "charged",
    [LAYER_RESIDUAL] = "residual",
};

static int build_members(struct snapshot *snapshot, struct group_sums *sums)
{
    const struct facts *facts = snapshot->facts;

    snapshot->members = region_alloc(
        &snapshot->region, facts->process_count * sizeof(*snapshot->members));
    if (snapshot->members == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < facts->process_count; i++) {
        struct process_view *view = &snapshot->members[i];
        struct process_sums process;
        struct region scratch;
        int error;

        view->facts = &facts->processes[i];
        region_init(&scratch, SNAPSHOT_MAX_BYTES);
        error = process_layers_build(&snapshot->region, &scratch, facts, view, &process);
        region_release(&scratch);
        if (error != 0) {
            return error;
        }
        group_sums_add(sums, view, &process);
        snapshot->member_count++;
    }
    return 0;
}

/* One process: its own layers are the target's; frames, when read, are better. */
static void copy_single(struct snapshot *snapshot)
{
    const struct facts *facts = snapshot->facts;
    const struct fact *frames[] = {&facts->unique_bytes, &facts->exclusive_bytes};
    const enum layer_id ids[] = {LAYER_UNIQUE, LAYER_EXCLUSIVE};

    for (int id = 0; id < LAYER_COUNT; id++) {
        snapshot->layers[id] = snapshot->members[0].layers[id];
    }
    for (size_t i = 0; i < 2; i++) {
        if (fact_is_known(frames[i])) {
            snapshot->layers[ids[i]] = (struct layer){
                .id = ids[i],
                .state = frames[i]->state,
                .bytes =
                    (int64_t)(frames[i]->value < AMOUNTS_MAX_BYTES ? frames[i]->value
                                                                   : AMOUNTS_MAX_BYTES),
                .plus_minus_bytes = frames[i]->plus_minus,
                .source = "page frames, by pagemap and kpagecount",
            };
        }
    }
}

static const struct cgroup_facts *target_cgroup(const struct facts *facts)
{
    if (facts->target_cgroup < 0 || (size_t)facts->target_cgroup >= facts->cgroup_count) {
        return NULL;
    }
    return &facts->cgroups[facts->target_cgroup];
}

static int build(struct snapshot *snapshot)
{
    const struct cgroup_facts *cgroup = target_cgroup(snapshot->facts);
    struct group_sums sums = {.rss_bytes = 0};
    int error;

    for (int id = 0; id < LAYER_COUNT; id++) {
        snapshot->layers[id].id = (enum layer_id)id;
    }
    error = build_members(snapshot, &sums);
    if (error != 0) {
        return error;
    }
    snapshot->rss_sum_bytes = sums.rss_bytes;
    if (snapshot->member_count == 1) {
        copy_single(snapshot);
    } else {
        error = group_layers_build(&snapshot->region, &sums, snapshot);
    }
    if (error != 0) {
        return error;
    }
    snapshot->container = container_view_of(cgroup);
    return container_charged_layer(
        &snapshot->region, cgroup, &snapshot->layers[LAYER_CHARGED]);
}

int snapshot_build(const struct facts *facts, struct snapshot *snapshot)
{
    int error;

    *snapshot = (struct snapshot){.facts = facts};
    region_init(&snapshot->region, SNAPSHOT_MAX_BYTES);
    error = build(snapshot);
    if (error != 0) {
        snapshot_release(snapshot);
    }
    return error;
}

void snapshot_release(struct snapshot *snapshot)
{
    region_release(&snapshot->region);
    *snapshot = (struct snapshot){.facts = NULL};
}

uint64_t layer_bytes(const struct layer *layer, bool *known)
{
    *known = state_is_known((uint32_t)layer->state);
    return *known && layer->bytes > 0 ? (uint64_t)layer->bytes : 0;
}

uint64_t layer_part_bytes(const struct layer *layer, const char *id)
{
    for (size_t i = 0; i < layer->part_count; i++) {
        if (strcmp(layer->parts[i].id, id) == 0) {
            return layer->parts[i].bytes;
        }
    }
    return 0;
}
