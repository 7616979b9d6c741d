/*
 * group_layers.c - several processes as one target, without counting a page twice.
 *
 * Rss of forked processes counts each shared page once per process, and so does the
 * anonymous part of it (copy on write). Pss adds up to what the members use of their
 * frames, but leaves out the share of outsiders (libc is mapped by everyone). The set of
 * frames, when it could be read, is exact: what it has beyond Pss is that share.
 */
#include "model/group_layers.h"

#include <errno.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/known.h"

/* Of the many rows of an overview no heap was read. */
static void add_heap(const struct process_view *view, const struct heap_amounts *heap,
    struct heap_amounts *sums)
{
    const struct {
        enum layer_id id;
        const struct amounts *own;
        struct amounts *sum;
    } layers[] = {
        {LAYER_TRACKED, &heap->tracked, &sums->tracked},
        {LAYER_IN_USE, &heap->in_use, &sums->in_use},
        {LAYER_HELD, &heap->held, &sums->held},
        {LAYER_FREE_RESIDENT, &heap->free_resident, &sums->free_resident},
        {LAYER_NEVER_TOUCHED, &heap->never_touched, &sums->never_touched},
    };

    for (size_t i = 0; i < sizeof(layers) / sizeof(layers[0]); i++) {
        if (state_is_known(view->layers[layers[i].id].state)) {
            amounts_add_all(layers[i].sum, layers[i].own);
        }
    }
}

void group_sums_add(struct group_sums *sums, const struct process_view *view,
    const struct process_sums *process)
{
    uint64_t rss = 0;

    for (int id = 0; id < LAYER_COUNT; id++) {
        const struct layer *layer = &view->layers[id];

        if (state_is_known(layer->state)) {
            sums->known[id]++;
            sums->stale[id] += layer->state == FACT_STALE ? 1 : 0;
            sums->plus_minus_bytes[id] =
                number_add(sums->plus_minus_bytes[id], layer->plus_minus_bytes);
        }
    }
    add_heap(view, &process->heap, &sums->heap);
    if (process->partitioned && process->partition.pss_known) {
        sums->partitioned++;
        amounts_add_all(&sums->rss, &process->partition.rss);
        amounts_add_all(&sums->pss, &process->partition.pss);
        sums->conflict_bytes =
            number_add(sums->conflict_bytes, process->partition.conflict_bytes);
    }
    if (state_is_known(view->layers[LAYER_PSS].state)) {
        sums->pss_bytes =
            number_add(sums->pss_bytes, (uint64_t)view->layers[LAYER_PSS].bytes);
    }
    if (state_is_known(view->layers[LAYER_RESIDENT].state)) {
        rss = (uint64_t)view->layers[LAYER_RESIDENT].bytes;
    }
    sums->rss_bytes = number_add(sums->rss_bytes, rss);
    sums->rss_largest_bytes =
        rss > sums->rss_largest_bytes ? rss : sums->rss_largest_bytes;
}

/* The reason that most likely holds for all members: the first one's. */
static int missing_like_member(const struct snapshot *snapshot, struct layer *layer)
{
    const struct layer *member;

    if (snapshot->member_count == 0) {
        return layer_missing(layer, FACT_ABSENT, "the target has no process");
    }
    member = &snapshot->members[0].layers[layer->id];
    return layer_missing(layer,
        state_is_known(member->state) ? FACT_ABSENT : member->state, member->source);
}

static const char *over_members(
    struct region *region, const char *what, size_t known, size_t members)
{
    const struct quantity all = quantity_count(members, "process");

    if (known < members) {
        return region_printf(region, "%s over %zu of %s", what, known, all.text);
    }
    return region_printf(region, "%s over %s", what, all.text);
}

static int set_heap_layer(struct region *region, const struct group_sums *sums,
    enum layer_id id, const struct amounts *amounts, struct snapshot *snapshot)
{
    struct layer *layer = &snapshot->layers[id];
    const bool stale = sums->stale[id] > 0 || sums->known[id] < snapshot->member_count;
    int error;

    if (sums->known[id] == 0) {
        return missing_like_member(snapshot, layer);
    }
    error = layer_from_amounts(region, amounts, stale ? FACT_STALE : FACT_OK,
        over_members(region, "sum", sums->known[id], snapshot->member_count), layer);
    layer->plus_minus_bytes = sums->plus_minus_bytes[id];
    layer->bound = sums->known[id] < snapshot->member_count ? BOUND_AT_LEAST : BOUND_NONE;
    return error;
}

static int set_frames(
    const struct fact *fact, const char *source, const char *without, struct layer *layer)
{
    if (!fact_is_known(fact)) {
        return layer_missing(layer, fact->state, without);
    }
    layer->state = fact->state;
    layer->bytes =
        (int64_t)(fact->value < AMOUNTS_MAX_BYTES ? fact->value : AMOUNTS_MAX_BYTES);
    layer->plus_minus_bytes = fact->plus_minus;
    layer->source = source;
    return 0;
}

/* Resident when every member's Pss is divided: additive, parts included. */
static int set_resident_by_share(
    struct region *region, const struct group_sums *sums, struct snapshot *snapshot)
{
    const struct fact *unique = &snapshot->facts->unique_bytes;
    struct layer *resident = &snapshot->layers[LAYER_RESIDENT];
    struct amounts amounts = sums->pss;
    const uint64_t share = amounts_total(&amounts);
    const bool frames = fact_is_known(unique) && unique->value >= share;
    int error;

    if (frames) {
        amounts_add(&amounts, PART_SHARED_OUTSIDE, unique->value - share);
    }
    error = layer_from_amounts(region, &amounts,
        sums->stale[LAYER_RESIDENT] > 0 ? FACT_STALE : FACT_OK,
        frames ? "frames that the processes map, each counted once"
               : "sum of Pss: each shared page divided by its users",
        resident);
    resident->plus_minus_bytes =
        fact_is_known(unique) && !frames ? share - unique->value : 0;
    resident->bound = fact_is_known(unique) ? BOUND_NONE : BOUND_AT_LEAST;
    return error;
}

/* Resident when only totals are known. */
static int set_resident_by_totals(
    struct region *region, const struct group_sums *sums, struct snapshot *snapshot)
{
    struct layer *resident = &snapshot->layers[LAYER_RESIDENT];
    const struct fact share = {.value = sums->pss_bytes, .state = FACT_OK};
    const struct fact sum = {
        .value = sums->rss_bytes,
        .plus_minus = sums->rss_bytes - sums->rss_largest_bytes,
        .state = FACT_OK,
    };

    if (sums->known[LAYER_RESIDENT] == 0) {
        return missing_like_member(snapshot, resident);
    }
    if (sums->known[LAYER_PSS] >= sums->known[LAYER_RESIDENT]) {
        resident->bound = BOUND_AT_LEAST;
        return set_frames(
            &share, "sum of Pss: each shared page divided by its users", "", resident);
    }
    if (sums->known[LAYER_RESIDENT] == snapshot->member_count) {
        resident->bound = BOUND_AT_MOST;
    }
    return set_frames(&sum,
        over_members(region, "sum of Rss (counts a shared page once for each)",
            sums->known[LAYER_RESIDENT], snapshot->member_count),
        "", resident);
}

static int set_residual(const struct group_sums *sums, struct snapshot *snapshot)
{
    struct layer *layer = &snapshot->layers[LAYER_RESIDUAL];
    const uint64_t conflict = sums->conflict_bytes < AMOUNTS_MAX_BYTES
                                  ? sums->conflict_bytes
                                  : AMOUNTS_MAX_BYTES;

    if (sums->partitioned == 0 || sums->partitioned < sums->known[LAYER_RESIDENT]) {
        return missing_like_member(snapshot, layer);
    }
    layer->state = sums->stale[LAYER_RESIDUAL] > 0 ? FACT_STALE : FACT_OK;
    layer->bytes = (int64_t)sums->pss.bytes[PART_UNEXPLAINED] - (int64_t)conflict;
    layer->plus_minus_bytes = sums->plus_minus_bytes[LAYER_RESIDUAL];
    layer->source = "resident memory without an owner, by Pss";
    return 0;
}

static int set_resident(
    struct region *region, const struct group_sums *sums, struct snapshot *snapshot)
{
    if (sums->partitioned > 0 && sums->partitioned == sums->known[LAYER_RESIDENT]) {
        return set_resident_by_share(region, sums, snapshot);
    }
    return set_resident_by_totals(region, sums, snapshot);
}

static int set_pss(
    struct region *region, const struct group_sums *sums, struct snapshot *snapshot)
{
    struct layer *layer = &snapshot->layers[LAYER_PSS];
    const struct fact total = {.value = sums->pss_bytes, .state = FACT_OK};

    if (sums->known[LAYER_PSS] == 0) {
        return missing_like_member(snapshot, layer);
    }
    if (sums->known[LAYER_PSS] < snapshot->member_count) {
        return layer_missing(layer, FACT_ABSENT,
            region_printf(region, "known of %zu of %s only", sums->known[LAYER_PSS],
                quantity_count(snapshot->member_count, "process").text));
    }
    if (sums->partitioned == sums->known[LAYER_PSS]) {
        return layer_from_amounts(region, &sums->pss, FACT_OK,
            over_members(
                region, "sum of Pss", sums->known[LAYER_PSS], snapshot->member_count),
            layer);
    }
    return set_frames(&total,
        over_members(
            region, "sum of Pss", sums->known[LAYER_PSS], snapshot->member_count),
        "", layer);
}

int group_layers_build(
    struct region *region, const struct group_sums *sums, struct snapshot *snapshot)
{
    static const char no_frames[] =
        "the frames of the processes were not read: that needs CAP_SYS_ADMIN (sudo)";
    const struct facts *facts = snapshot->facts;
    const struct {
        enum layer_id id;
        const struct amounts *amounts;
    } heap[] = {
        {LAYER_TRACKED, &sums->heap.tracked},
        {LAYER_IN_USE, &sums->heap.in_use},
        {LAYER_HELD, &sums->heap.held},
        {LAYER_FREE_RESIDENT, &sums->heap.free_resident},
        {LAYER_NEVER_TOUCHED, &sums->heap.never_touched},
    };
    int error = 0;

    for (size_t i = 0; error == 0 && i < sizeof(heap) / sizeof(heap[0]); i++) {
        error = set_heap_layer(region, sums, heap[i].id, heap[i].amounts, snapshot);
    }
    if (error == 0) {
        error = set_resident(region, sums, snapshot);
    }
    if (error == 0) {
        error = set_residual(sums, snapshot);
    }
    if (error == 0) {
        error = set_pss(region, sums, snapshot);
    }
    if (error == 0) {
        error = set_frames(&facts->unique_bytes,
            "frames that the processes map, each counted once", no_frames,
            &snapshot->layers[LAYER_UNIQUE]);
    }
    if (error == 0) {
        error = set_frames(&facts->exclusive_bytes,
            "frames that nobody else maps: what their end would free", no_frames,
            &snapshot->layers[LAYER_EXCLUSIVE]);
    }
    return error;
}
