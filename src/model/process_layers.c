/*
 * process_layers.c - the layers of one process, each from the best facts there are.
 *
 * resident: the mappings of smaps, divided by partition.c; without them VmRSS of status,
 * divided by its three kinds. smaps walks the page tables and is exact at the moment of
 * its walk; VmRSS sums per-CPU counters and lags (mm/memory.c, percpu_counter since 6.2),
 * so the difference of the two is the uncertainty of the layer.
 * pss, exclusive: smaps, else smaps_rollup (fs/proc/task_mmu.c).
 */
#include "model/process_layers.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/known.h"
#include "model/mysql_layers.h"

/* A file of the process, and what is said when nothing of it is known. */
struct source {
    const char *name;
    const char *unread;
};

static const struct source smaps = {"smaps", "smaps was not read"};
static const struct source rollups = {"smaps_rollup", "smaps_rollup was not read"};
static const struct source status = {"status", "status was not read"};

static uint64_t difference(uint64_t a, uint64_t b)
{
    return a > b ? a - b : b - a;
}

/* Why a source of this process is missing: the reader's own words, or NULL. */
static const struct gap *gap_of(
    const struct facts *facts, const struct process_facts *process, const char *name)
{
    for (size_t i = 0; i < facts->gap_count; i++) {
        const struct gap *gap = &facts->gaps[i];

        if (gap->pid == process->pid && gap->fact != NULL && gap->why != NULL &&
            strcmp(gap->fact, name) == 0) {
            return gap;
        }
    }
    return NULL;
}

static int missing_by_gap(struct region *region, const struct facts *facts,
    const struct process_view *view, const struct source *source, enum fact_state state,
    struct layer *layer)
{
    const struct process_facts *process = view->facts;
    const struct gap *gap = gap_of(facts, process, source->name);

    if (process->kernel_thread) {
        return layer_missing(
            layer, FACT_ABSENT, "a kernel thread has no address space of its own");
    }
    if (process->run_state == 'Z') {
        return layer_missing(
            layer, FACT_ABSENT, "a zombie: the process has ended and holds no memory");
    }
    if (gap != NULL) {
        return layer_missing(
            layer, state, region_printf(region, "%s: %s", source->name, gap->why));
    }
    return layer_missing(layer, state, source->unread);
}

static int set_plain(
    struct layer *layer, const struct fact *fact, uint64_t bytes, const char *source)
{
    layer->state = fact->state;
    layer->bytes = (int64_t)(bytes < AMOUNTS_MAX_BYTES ? bytes : AMOUNTS_MAX_BYTES);
    layer->plus_minus_bytes = fact->plus_minus;
    layer->source = source;
    return 0;
}

/* Resident and residual from smaps. */
static int set_resident_by_mappings(
    struct region *region, struct process_view *view, const struct partition *partition)
{
    const struct process_facts *process = view->facts;
    const struct fact *vm_rss = &process->values[PROCESS_FACT_VM_RSS];
    struct layer *resident = &view->layers[LAYER_RESIDENT];
    struct layer *residual = &view->layers[LAYER_RESIDUAL];
    const int error = layer_from_amounts(region, &partition->rss,
        (enum fact_state)process->mappings_state,
        region_printf(region, "smaps: Rss of %s",
            quantity_count(process->mapping_count, "mapping").text),
        resident);

    if (error != 0) {
        return error;
    }
    resident->plus_minus_bytes = partition->surplus_bytes;
    if (fact_is_known(vm_rss)) {
        resident->plus_minus_bytes = number_add(resident->plus_minus_bytes,
            difference((uint64_t)resident->bytes, vm_rss->value));
    }
    residual->state = resident->state;
    residual->bytes = (int64_t)partition->rss.bytes[PART_UNEXPLAINED] -
                      (int64_t)(partition->conflict_bytes < AMOUNTS_MAX_BYTES
                                    ? partition->conflict_bytes
                                    : AMOUNTS_MAX_BYTES);
    residual->plus_minus_bytes = partition->surplus_bytes;
    residual->source = partition->conflict_bytes > 0
                           ? "resident memory without an owner, less what parts claim "
                             "beyond what is resident"
                           : "resident memory without an owner";
    return 0;
}

/* Resident from status alone: three kinds that sum to VmRSS (fs/proc/task_mmu.c). */
static int set_resident_by_status(
    struct region *region, const struct facts *facts, struct process_view *view)
{
    const struct fact *values = view->facts->values;
    const struct fact *vm_rss = &values[PROCESS_FACT_VM_RSS];
    const struct fact *rollup = &values[PROCESS_FACT_ROLLUP_RSS];
    struct layer *resident = &view->layers[LAYER_RESIDENT];
    struct amounts amounts = {.bytes = {0}};
    uint64_t file;
    uint64_t shmem;
    int error;

    error = missing_by_gap(region, facts, view, &smaps,
        view->facts->mappings_state == FACT_OK
            ? FACT_ABSENT
            : (enum fact_state)view->facts->mappings_state,
        &view->layers[LAYER_RESIDUAL]);
    if (error != 0) {
        return error;
    }
    if (!fact_is_known(vm_rss)) {
        return missing_by_gap(region, facts, view, &status, vm_rss->state, resident);
    }
    amounts_add(&amounts, PART_STATUS_ANON, vm_rss->value);
    file = fact_is_known(&values[PROCESS_FACT_RSS_FILE])
               ? values[PROCESS_FACT_RSS_FILE].value
               : 0;
    shmem = fact_is_known(&values[PROCESS_FACT_RSS_SHMEM])
                ? values[PROCESS_FACT_RSS_SHMEM].value
                : 0;
    amounts_add(
        &amounts, PART_STATUS_FILE, amounts_take(&amounts, PART_STATUS_ANON, file));
    amounts_add(
        &amounts, PART_STATUS_SHMEM, amounts_take(&amounts, PART_STATUS_ANON, shmem));
    error = layer_from_amounts(
        region, &amounts, vm_rss->state, "status: VmRSS, owners not known", resident);
    resident->plus_minus_bytes = vm_rss->plus_minus;
    if (fact_is_known(rollup)) {
        resident->plus_minus_bytes = number_add(
            resident->plus_minus_bytes, difference(rollup->value, vm_rss->value));
    }
    return error;
}

static int set_pss(struct region *region, const struct facts *facts,
    struct process_view *view, const struct process_sums *sums)
{
    const struct fact *rollup = &view->facts->values[PROCESS_FACT_PSS];
    struct layer *layer = &view->layers[LAYER_PSS];

    if (sums->partitioned && sums->partition.pss_known) {
        const int error = layer_from_amounts(region, &sums->partition.pss,
            (enum fact_state)view->facts->mappings_state,
            facts->host.page_counts_estimated
                ? "smaps: Pss; this kernel estimates how often a page is mapped"
                : "smaps: Pss of the mappings",
            layer);
        if (fact_is_known(rollup)) {
            layer->plus_minus_bytes = difference((uint64_t)layer->bytes, rollup->value);
        }
        return error;
    }
    if (fact_is_known(rollup)) {
        return set_plain(layer, rollup, rollup->value, "smaps_rollup: Pss");
    }
    return missing_by_gap(region, facts, view, &rollups, rollup->state, layer);
}

static int set_exclusive(struct region *region, const struct facts *facts,
    struct process_view *view, const struct process_sums *sums)
{
    const struct fact *clean = &view->facts->values[PROCESS_FACT_PRIVATE_CLEAN];
    const struct fact *dirty = &view->facts->values[PROCESS_FACT_PRIVATE_DIRTY];
    struct layer *layer = &view->layers[LAYER_EXCLUSIVE];

    if (sums->partitioned) {
        const struct fact state = {.state = (enum fact_state)view->facts->mappings_state};
        return set_plain(layer, &state, sums->partition.private_bytes,
            "smaps: private pages of the mappings");
    }
    if (fact_is_known(clean) && fact_is_known(dirty)) {
        return set_plain(layer, dirty, number_add(clean->value, dirty->value),
            "smaps_rollup: private pages");
    }
    return missing_by_gap(region, facts, view, &rollups, dirty->state, layer);
}

/* Layers that one process has not, or not yet. */
static int set_absent(struct process_view *view)
{
    const int error = layer_missing(&view->layers[LAYER_TRACKED], FACT_ABSENT,
        "no counters of the application were read");

    return error != 0 ? error
                      : layer_missing(&view->layers[LAYER_CHARGED], FACT_ABSENT,
                            "a cgroup bills all its processes together");
}

int process_layers_build(struct region *region, struct region *scratch,
    const struct facts *facts, struct process_view *view, struct process_sums *sums)
{
    const struct process_facts *process = view->facts;
    int error;

    for (int id = 0; id < LAYER_COUNT; id++) {
        view->layers[id] = (struct layer){.id = (enum layer_id)id};
    }
    *sums = (struct process_sums){
        .partitioned = process->mappings_have_values && process->mapping_count > 0 &&
                       state_is_known(process->mappings_state),
    };
    error = set_absent(view);
    if (error == 0) {
        error = heap_layers_build(region, view, &sums->heap);
    }
    if (error == 0) {
        error = mysql_layers_build(region, view, &sums->heap.tracked);
    }
    if (error == 0 && sums->partitioned) {
        error = partition_build(scratch, process, &sums->partition);
        if (error == 0) {
            error = set_resident_by_mappings(region, view, &sums->partition);
        }
    } else if (error == 0) {
        error = set_resident_by_status(region, facts, view);
    }
    if (error == 0) {
        error = set_pss(region, facts, view, sums);
    }
    if (error == 0) {
        error = set_exclusive(region, facts, view, sums);
    }
    if (error == 0) {
        view->layers[LAYER_UNIQUE] = view->layers[LAYER_RESIDENT];
        view->layers[LAYER_UNIQUE].id = LAYER_UNIQUE;
    }
    return error;
}
