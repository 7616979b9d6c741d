/*
 * container.c - one cgroup's memory in the words of docker, kubelet and podman, and
 * its bill divided into classes.
 *
 * The formulas are those of the tools (see the header); all are computed from the same
 * facts, taken at one moment, so that they can stand beside each other. Kernel text:
 * Documentation/admin-guide/cgroup-v2.rst ("memory.stat") and cgroup-v1/memory.rst.
 */
#include "model/container.h"

#include <errno.h>
#include <stddef.h>

#include "base/number.h"
#include "model/amounts.h"
#include "model/known.h"

static struct fact known(uint64_t value)
{
    return (struct fact){.value = value, .state = FACT_OK};
}

static struct fact missing(enum fact_state state)
{
    return (struct fact){.state = state};
}

/*
 * The state of a figure that needs usage and memory.stat. A key may be absent from
 * memory.stat; the whole file may not.
 */
static enum fact_state inputs_state(
    const struct cgroup_facts *facts, const enum cgroup_fact *keys, size_t count)
{
    const struct fact *usage = &facts->values[CGROUP_FACT_USAGE];

    if (!fact_is_known(usage)) {
        return usage->state;
    }
    if (!fact_is_known(&facts->values[CGROUP_FACT_FILE])) {
        return facts->values[CGROUP_FACT_FILE].state;
    }
    for (size_t i = 0; i < count; i++) {
        const struct fact *fact = &facts->values[keys[i]];
        if (!fact_is_known(fact) && fact->state != FACT_ABSENT) {
            return fact->state;
        }
    }
    return FACT_OK;
}

static uint64_t value_of(const struct cgroup_facts *facts, enum cgroup_fact key)
{
    return fact_is_known(&facts->values[key]) ? facts->values[key].value : 0;
}

static struct fact docker_figure(const struct cgroup_facts *facts)
{
    static const enum cgroup_fact keys[] = {
        CGROUP_FACT_INACTIVE_FILE, CGROUP_FACT_LOCAL_INACTIVE_FILE};
    const enum fact_state state = inputs_state(facts, keys, 2);
    const uint64_t usage = value_of(facts, CGROUP_FACT_USAGE);
    const struct fact *inactive = &facts->values[CGROUP_FACT_INACTIVE_FILE];

    if (state != FACT_OK) {
        return missing(state);
    }
    if (fact_is_known(inactive) && inactive->value < usage) {
        return known(usage - inactive->value);
    }
    if (facts->version == 1) {
        const uint64_t local = value_of(facts, CGROUP_FACT_LOCAL_INACTIVE_FILE);
        return known(local < usage ? usage - local : usage);
    }
    return known(usage);
}

static struct fact docker_19_figure(const struct cgroup_facts *facts)
{
    const enum fact_state state = inputs_state(facts, NULL, 0);

    if (facts->version != 1) {
        return missing(FACT_ABSENT);
    }
    if (state != FACT_OK) {
        return missing(state);
    }
    return known(number_subtract(
        value_of(facts, CGROUP_FACT_USAGE), value_of(facts, CGROUP_FACT_FILE)));
}

static struct fact kubelet_figure(const struct cgroup_facts *facts)
{
    static const enum cgroup_fact keys[] = {CGROUP_FACT_INACTIVE_FILE};
    const enum fact_state state = inputs_state(facts, keys, 1);

    if (state != FACT_OK) {
        return missing(state);
    }
    return known(number_subtract(
        value_of(facts, CGROUP_FACT_USAGE), value_of(facts, CGROUP_FACT_INACTIVE_FILE)));
}

static struct fact non_reclaimable_figure(const struct cgroup_facts *facts)
{
    static const enum cgroup_fact keys[] = {CGROUP_FACT_SHMEM, CGROUP_FACT_FILE_DIRTY,
        CGROUP_FACT_FILE_WRITEBACK, CGROUP_FACT_SLAB_RECLAIMABLE};
    const enum fact_state state = inputs_state(facts, keys, 4);
    uint64_t kept;
    uint64_t dropped;

    if (state != FACT_OK) {
        return missing(state);
    }
    kept = number_add(
        value_of(facts, CGROUP_FACT_USAGE), value_of(facts, CGROUP_FACT_SHMEM));
    kept = number_add(kept, value_of(facts, CGROUP_FACT_FILE_DIRTY));
    kept = number_add(kept, value_of(facts, CGROUP_FACT_FILE_WRITEBACK));
    dropped = number_add(
        value_of(facts, CGROUP_FACT_FILE), value_of(facts, CGROUP_FACT_SLAB_RECLAIMABLE));
    return known(number_subtract(kept, dropped));
}

static struct fact headroom_figure(const struct cgroup_facts *facts)
{
    const struct fact *usage = &facts->values[CGROUP_FACT_USAGE];
    const struct fact *limit = &facts->values[CGROUP_FACT_LIMIT];
    const struct fact *headroom = &facts->values[CGROUP_FACT_HEADROOM];

    if (fact_is_known(headroom)) {
        return *headroom;
    }
    if (!fact_is_known(usage)) {
        return missing(usage->state);
    }
    if (!fact_is_known(limit)) {
        return missing(limit->state);
    }
    return known(number_subtract(limit->value, usage->value));
}

/* Facts from elsewhere than our reader may know the cgroup's own limit only. */
static struct fact limit_figure(const struct cgroup_facts *facts)
{
    const struct fact *effective = &facts->values[CGROUP_FACT_LIMIT_EFFECTIVE];

    return fact_is_known(effective) ? *effective : facts->values[CGROUP_FACT_LIMIT];
}

struct container_view container_view_of(const struct cgroup_facts *facts)
{
    struct container_view view = {.facts = facts};

    if (facts == NULL) {
        return view;
    }
    view.docker = docker_figure(facts);
    view.docker_19 = docker_19_figure(facts);
    view.kubelet = kubelet_figure(facts);
    view.podman = facts->values[CGROUP_FACT_USAGE];
    view.non_reclaimable = non_reclaimable_figure(facts);
    view.limit = limit_figure(facts);
    view.headroom = headroom_figure(facts);
    return view;
}

static void add_kernel(struct amounts *amounts, const struct cgroup_facts *facts)
{
    static const struct {
        enum cgroup_fact fact;
        enum part_kind part;
    } classes[] = {
        {CGROUP_FACT_SLAB_RECLAIMABLE, PART_CHARGED_SLAB_RECLAIMABLE},
        {CGROUP_FACT_SLAB_UNRECLAIMABLE, PART_CHARGED_SLAB_UNRECLAIMABLE},
        {CGROUP_FACT_KERNEL_STACK, PART_CHARGED_KERNEL_STACK},
        {CGROUP_FACT_PAGE_TABLES, PART_CHARGED_PAGE_TABLES},
        {CGROUP_FACT_PERCPU, PART_CHARGED_PERCPU},
    };
    uint64_t named = 0;

    for (size_t i = 0; i < sizeof(classes) / sizeof(classes[0]); i++) {
        const uint64_t bytes = value_of(facts, classes[i].fact);
        amounts_add(amounts, classes[i].part, bytes);
        named = number_add(named, bytes);
    }
    amounts_add(amounts, PART_CHARGED_KERNEL_OTHER,
        number_subtract(value_of(facts, CGROUP_FACT_KERNEL), named));
}

static void add_classes(struct amounts *amounts, const struct cgroup_facts *facts)
{
    const uint64_t file = value_of(facts, CGROUP_FACT_FILE);
    const uint64_t shmem = value_of(facts, CGROUP_FACT_SHMEM);

    amounts_add(amounts, PART_CHARGED_ANON, value_of(facts, CGROUP_FACT_ANON));
    amounts_add(amounts, PART_CHARGED_FILE, number_subtract(file, shmem));
    amounts_add(amounts, PART_CHARGED_SHMEM, shmem);
    amounts_add(amounts, PART_CHARGED_SOCK, value_of(facts, CGROUP_FACT_SOCK));
    amounts_add(amounts, PART_CHARGED_HUGETLB, value_of(facts, CGROUP_FACT_HUGETLB));
    add_kernel(amounts, facts);
}

/* Takes excess off the largest parts, one after the other. */
static void cut_largest(struct amounts *amounts, uint64_t excess)
{
    while (excess > 0) {
        int largest = 0;
        for (int kind = 1; kind < PART_KIND_COUNT; kind++) {
            if (amounts->bytes[kind] > amounts->bytes[largest]) {
                largest = kind;
            }
        }
        amounts->estimate[largest] = true;
        excess -= amounts_take(amounts, (enum part_kind)largest, excess);
    }
}

int container_charged_layer(
    struct region *region, const struct cgroup_facts *facts, struct layer *layer)
{
    struct amounts amounts = {.bytes = {0}};
    const struct fact *usage;
    uint64_t usage_bytes;
    uint64_t named_bytes;
    int error;

    if (facts == NULL) {
        return layer_missing(layer, FACT_ABSENT,
            "no cgroup, or not the same one, bills all of the target");
    }
    usage = &facts->values[CGROUP_FACT_USAGE];
    if (!fact_is_known(usage)) {
        const char *why = facts->why != NULL ? facts->why
                          : facts->root      ? "the root cgroup has no bill of its own"
                                             : "usage of the cgroup could not be read";
        return layer_missing(layer, usage->state, region_copy_text(region, why));
    }
    usage_bytes = usage->value < AMOUNTS_MAX_BYTES ? usage->value : AMOUNTS_MAX_BYTES;
    add_classes(&amounts, facts);
    named_bytes = amounts_total(&amounts);
    amounts_add(&amounts, PART_CHARGED_REST, number_subtract(usage_bytes, named_bytes));
    cut_largest(&amounts, number_subtract(named_bytes, usage_bytes));
    error = layer_from_amounts(region, &amounts, usage->state,
        facts->version == 1 ? "memory.usage_in_bytes and memory.stat of the cgroup"
                            : "memory.current and memory.stat of the cgroup",
        layer);
    layer->plus_minus_bytes =
        number_add(usage->plus_minus, number_subtract(named_bytes, usage_bytes));
    return error;
}
