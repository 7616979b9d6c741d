/*
 * since_measure.c - for each rule that predicts bytes: where to look for them afterwards.
 *
 * A setting of glibc's malloc is seen where it acts, in malloc's parameters (arena_max,
 * no_dyn_threshold of struct malloc_par, malloc/malloc.c), not in the environment, which
 * tells what was asked for.
 */
#include "findings/since_measure.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/mysql.h"
#include "findings/since_fpm.h"
#include "model/glibc_total.h"
#include "model/known.h"
#include "model/part_table.h"

enum measure {
    MEASURE_OTHER, /* resident less tracked, or resident */
    MEASURE_MALLOC,
    MEASURE_STRATA,
    MEASURE_ZEND,
    MEASURE_ZEND_CACHED,
    MEASURE_STACKS,
    MEASURE_SCHEMA,
    MEASURE_LAZY_FREE,
    MEASURE_SLAB,
};

struct measured_rule {
    const char *id;
    enum measure measure;
};

/* A rule that is not here has MEASURE_OTHER. */
static const struct measured_rule measured_rules[] = {
    {"glibc-arenas", MEASURE_MALLOC},
    {"glibc-mmap-threshold", MEASURE_MALLOC},
    {"glibc-retained", MEASURE_MALLOC},
    {"glibc-pinned-heap", MEASURE_MALLOC},
    {"mysql-thread-cache", MEASURE_MALLOC},
    {"strata-retained", MEASURE_STRATA},
    {"php-idle-cache", MEASURE_ZEND_CACHED},
    {"php-collectable", MEASURE_ZEND},
    {"thread-stacks", MEASURE_STACKS},
    {"mysql-schema-memory", MEASURE_SCHEMA},
    {"lazy-free", MEASURE_LAZY_FREE},
    {"mysql-pool-emptied", MEASURE_LAZY_FREE},
    {"slab-in-container", MEASURE_SLAB},
};

/* Measures that are a sum of parts of the resident set. */
static const struct {
    enum measure measure;
    const char *title;
    enum part_kind parts[4];
    size_t count;
} part_measures[] = {
    {MEASURE_STRATA, "resident and free in strata's malloc", {PART_STRATA_FREE}, 1},
    {MEASURE_ZEND, "resident and free in PHP's heaps",
        {PART_ZEND_CACHED, PART_ZEND_FREE_PAGES, PART_ZEND_FREE_BLOCKS}, 3},
    {MEASURE_STACKS, "stacks kept of ended threads", {PART_CACHED_STACKS}, 1},
    {MEASURE_SCHEMA, "Performance Schema's own memory", {PART_MYSQL_SCHEMA}, 1},
};

static const struct measured_rule *row_of(const struct rule *rule)
{
    static const struct measured_rule other = {"", MEASURE_OTHER};

    for (size_t i = 0; i < sizeof(measured_rules) / sizeof(measured_rules[0]); i++) {
        if (strcmp(measured_rules[i].id, rule->id) == 0) {
            return &measured_rules[i];
        }
    }
    return &other;
}

bool since_same_bytes(const struct rule *a, const struct rule *b)
{
    const enum measure measure = row_of(a)->measure;

    return a == b || (measure != MEASURE_OTHER && measure == row_of(b)->measure);
}

static int64_t as_signed(uint64_t value)
{
    return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

/* ---- the quantities; false: not known */

/* edges: the free rests of pages that blocks share are known at both moments. */
static uint64_t malloc_free(const struct glibc_total *total, bool edges)
{
    return edges ? number_add(total->free_resident_bytes, total->free_shared_bytes)
                 : total->free_resident_bytes;
}

static bool measure_malloc(const struct since_moment *before,
    const struct since_moment *now, struct since_quantity *quantity)
{
    const struct glibc_total then = glibc_total_of(before->snapshot);
    const struct glibc_total at_last = glibc_total_of(now->snapshot);
    const bool edges = then.arenas_unshared == 0 && at_last.arenas_unshared == 0;

    if (then.arenas == 0 || at_last.arenas == 0 || then.arenas_unseen > 0 ||
        at_last.arenas_unseen > 0) {
        return false;
    }
    quantity->title = "resident and free in malloc";
    quantity->before_bytes = as_signed(malloc_free(&then, edges));
    quantity->now_bytes = as_signed(malloc_free(&at_last, edges));
    return true;
}

static bool part_sum(const struct snapshot *snapshot, const enum part_kind *parts,
    size_t count, int64_t *sum)
{
    const struct layer *resident = &snapshot->layers[LAYER_RESIDENT];
    uint64_t bytes = 0;

    if (!state_is_known((uint32_t)resident->state) || resident->part_count == 0) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        bytes = number_add(bytes, layer_part_bytes(resident, part_table[parts[i]].id));
    }
    *sum = as_signed(bytes);
    return true;
}

static bool measure_parts(enum measure measure, const struct since_moment *before,
    const struct since_moment *now, struct since_quantity *quantity)
{
    for (size_t i = 0; i < sizeof(part_measures) / sizeof(part_measures[0]); i++) {
        if (part_measures[i].measure == measure) {
            quantity->title = part_measures[i].title;
            return part_sum(before->snapshot, part_measures[i].parts,
                       part_measures[i].count, &quantity->before_bytes) &&
                   part_sum(now->snapshot, part_measures[i].parts, part_measures[i].count,
                       &quantity->now_bytes);
        }
    }
    return false;
}

static bool lazy_free(const struct snapshot *snapshot, int64_t *sum)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct fact *fact =
            &snapshot->members[i].facts->values[PROCESS_FACT_LAZY_FREE];
        if (!fact_is_known(fact)) {
            return false;
        }
        bytes = number_add(bytes, fact->value);
    }
    *sum = as_signed(bytes);
    return snapshot->member_count > 0;
}

/* As the rule counts them, by pagemap: parts of the resident set leave pages out that were only read. */
static bool zend_cached(const struct snapshot *snapshot, int64_t *sum)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct zend_facts *zend = &snapshot->members[i].facts->zend;
        if (!state_is_known(zend->state) && zend->state != FACT_ABSENT) {
            return false;
        }
        for (size_t j = 0; j < zend->heap_count; j++) {
            bytes = number_add(bytes, zend->heaps[j].cached_resident_bytes);
        }
    }
    *sum = as_signed(bytes);
    return snapshot->member_count > 0;
}

static bool slab(const struct snapshot *snapshot, int64_t *sum)
{
    const struct cgroup_facts *cgroup = snapshot->container.facts;

    if (cgroup == NULL || !fact_is_known(&cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE])) {
        return false;
    }
    *sum = as_signed(cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE].value);
    return true;
}

static bool resident_less_tracked(const struct snapshot *snapshot, int64_t *bytes)
{
    const struct layer *layers = snapshot->layers;

    if (!state_is_known((uint32_t)layers[LAYER_RESIDENT].state) ||
        !state_is_known((uint32_t)layers[LAYER_TRACKED].state)) {
        return false;
    }
    *bytes = number_difference(layers[LAYER_RESIDENT].bytes, layers[LAYER_TRACKED].bytes);
    return true;
}

static bool measure_other(const struct since_moment *before,
    const struct since_moment *now, struct since_quantity *quantity)
{
    const struct layer *then = &before->snapshot->layers[LAYER_RESIDENT];
    const struct layer *at_last = &now->snapshot->layers[LAYER_RESIDENT];

    quantity->title = "resident less tracked";
    if (resident_less_tracked(before->snapshot, &quantity->before_bytes) &&
        resident_less_tracked(now->snapshot, &quantity->now_bytes)) {
        return true;
    }
    quantity->title = "resident";
    quantity->before_bytes = then->bytes;
    quantity->now_bytes = at_last->bytes;
    return state_is_known((uint32_t)then->state) &&
           state_is_known((uint32_t)at_last->state);
}

bool since_quantity_of(const struct rule *rule, const struct since_moment *before,
    const struct since_moment *now, struct since_quantity *quantity)
{
    const enum measure measure = row_of(rule)->measure;
    bool known = false;

    switch (measure) {
    case MEASURE_MALLOC:
        known = measure_malloc(before, now, quantity);
        break;
    case MEASURE_LAZY_FREE:
        quantity->title = "given up and still resident";
        known = lazy_free(before->snapshot, &quantity->before_bytes) &&
                lazy_free(now->snapshot, &quantity->now_bytes);
        break;
    case MEASURE_ZEND_CACHED:
        quantity->title = "resident in chunks that PHP keeps for later";
        known = zend_cached(before->snapshot, &quantity->before_bytes) &&
                zend_cached(now->snapshot, &quantity->now_bytes);
        break;
    case MEASURE_SLAB:
        quantity->title = "kernel objects that can be dropped";
        known = slab(before->snapshot, &quantity->before_bytes) &&
                slab(now->snapshot, &quantity->now_bytes);
        break;
    case MEASURE_STRATA:
    case MEASURE_ZEND:
    case MEASURE_STACKS:
    case MEASURE_SCHEMA:
        known = measure_parts(measure, before, now, quantity);
        break;
    case MEASURE_OTHER:
        break;
    }
    return known || measure_other(before, now, quantity);
}

/* ---- signs of the change */

static uint64_t evidence_count(
    const struct finding *finding, const char *name, uint64_t without)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, name) == 0 &&
            finding->evidence[i].value > 0) {
            return (uint64_t)finding->evidence[i].value;
        }
    }
    return without;
}

/* The largest arena_max of the members with glibc's malloc, 0 when one has none set. */
static bool arena_max_of(const struct snapshot *snapshot, uint64_t *most)
{
    size_t members = 0;

    *most = 0;
    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct glibc_facts *glibc = &snapshot->members[i].facts->glibc;
        const uint64_t one = glibc->parameters.arena_max;
        if (!state_is_known(glibc->state)) {
            continue;
        }
        if (!state_is_known(glibc->parameters.state)) {
            return false;
        }
        *most = one == 0 || (members > 0 && *most == 0) ? 0 : one > *most ? one : *most;
        members++;
    }
    return members > 0;
}

static enum since_force arenas_force(const struct finding *finding,
    const struct snapshot *now, struct region *region, const char **text)
{
    const uint64_t cap = evidence_count(finding, "cap", 2);
    uint64_t most;

    if (!arena_max_of(now, &most)) {
        return SINCE_FORCE_UNKNOWN;
    }
    if (most == 0) {
        *text = "no limit of arenas";
        return SINCE_NOT_IN_FORCE;
    }
    *text = region_printf(region, "at most %s", quantity_count(most, "arena").text);
    return most <= cap ? SINCE_IN_FORCE : SINCE_NOT_IN_FORCE;
}

static enum since_force thresholds_force(
    const struct snapshot *now, struct region *region, const char **text)
{
    const struct glibc_parameters *last = NULL;

    for (size_t i = 0; i < now->member_count; i++) {
        const struct glibc_facts *glibc = &now->members[i].facts->glibc;
        if (!state_is_known(glibc->state)) {
            continue;
        }
        if (!state_is_known(glibc->parameters.state)) {
            return SINCE_FORCE_UNKNOWN;
        }
        last = &glibc->parameters;
        if (!last->dynamic_threshold_off) {
            *text = "thresholds of malloc are not set";
            return SINCE_NOT_IN_FORCE;
        }
    }
    if (last == NULL) {
        return SINCE_FORCE_UNKNOWN;
    }
    *text = region_printf(region, "thresholds of malloc are set: mmap %s, trim %s",
        quantity_bytes(last->mmap_threshold_bytes, false).text,
        quantity_bytes(last->trim_threshold_bytes, false).text);
    return SINCE_IN_FORCE;
}

static const struct fact *thread_cache(const struct snapshot *snapshot)
{
    const struct process_view *view = mysql_server_of(snapshot);
    const struct mysql_facts *mysql = view != NULL ? view->facts->mysql : NULL;
    const struct fact *fact =
        mysql != NULL ? &mysql->values[MYSQL_FACT_THREAD_CACHE_SIZE] : NULL;

    return fact != NULL && fact_is_known(fact) ? fact : NULL;
}

static enum since_force thread_cache_force(const struct snapshot *before,
    const struct snapshot *now, struct region *region, const char **text)
{
    const struct fact *then = thread_cache(before);
    const struct fact *at_last = thread_cache(now);

    if (then == NULL || at_last == NULL) {
        return SINCE_FORCE_UNKNOWN;
    }
    *text = region_printf(region, "thread_cache_size = %" PRIu64 ", was %" PRIu64,
        at_last->value, then->value);
    return at_last->value > then->value ? SINCE_IN_FORCE : SINCE_NOT_IN_FORCE;
}

enum since_force since_force_of(const struct finding *finding,
    const struct since_moment *before, const struct since_moment *now,
    struct region *region, const char **text)
{
    const char *id = finding->rule->id;

    *text = NULL;
    if (strcmp(id, "glibc-arenas") == 0) {
        return arenas_force(finding, now->snapshot, region, text);
    }
    if (strcmp(id, "glibc-mmap-threshold") == 0) {
        return thresholds_force(now->snapshot, region, text);
    }
    if (strcmp(id, "mysql-thread-cache") == 0) {
        return thread_cache_force(before->snapshot, now->snapshot, region, text);
    }
    if (strcmp(id, "php-idle-cache") == 0) {
        return since_fpm_force(
            before->snapshot->facts, now->snapshot->facts, region, text);
    }
    return SINCE_FORCE_UNKNOWN;
}
