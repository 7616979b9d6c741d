/*
 * metrics_target.c - the families whose series stand for one target each.
 *
 * Layers are metrics of their own, since their sum means nothing. A number that is not known
 * has no sample.
 */
#include "present/metrics_target.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>

#include "base/number.h"
#include "model/known.h"
#include "present/metrics_fact.h"

/* Facts of processes that are added up over the members of a target. */
static const enum process_fact process_facts_shown[] = {PROCESS_FACT_RSS_ANON,
    PROCESS_FACT_RSS_FILE, PROCESS_FACT_RSS_SHMEM, PROCESS_FACT_VM_SWAP,
    PROCESS_FACT_VM_PTE, PROCESS_FACT_THREADS};

/* Layers of a target; charged is the cgroup's. */
static const struct {
    enum layer_id id;
    const char *help;
} layers_shown[] = {
    {LAYER_TRACKED, "Bytes that the application itself says it uses."},
    {LAYER_IN_USE, "Bytes that the allocator has handed out and not got back."},
    {LAYER_HELD, "Bytes that the allocator took from the operating system."},
    {LAYER_FREE_RESIDENT,
        "Retained: free in the allocator and resident; this could be given back."},
    {LAYER_NEVER_TOUCHED, "Held by the allocator and in no page of memory."},
    {LAYER_RESIDENT, "Bytes in memory; of several processes without pss the sum of their "
                     "Rss."},
    {LAYER_PSS, "Resident, with each shared page divided by its users."},
    {LAYER_UNIQUE, "Page frames of the target, each counted once."},
    {LAYER_EXCLUSIVE, "Of the unique page frames those that nobody else maps."},
    {LAYER_RESIDUAL, "Resident bytes that no layer explains; may be negative."},
};

/* Room for the text of a pid. */
struct target_sample {
    struct metrics_sample sample;
    char pid[16];
};

static void label_target(
    const struct metrics_target *target, struct target_sample *labelled)
{
    const struct metrics_labels *labels = &target->labels;

    labelled->sample.label_count = 0;
    metrics_sample_add(&labelled->sample, "name", labels->name);
    metrics_sample_add(&labelled->sample, "pool", labels->pool);
    metrics_sample_add(&labelled->sample, "unit", labels->unit);
    if (labels->pid != 0) {
        (void)snprintf(labelled->pid, sizeof(labelled->pid), "%" PRId32, labels->pid);
        metrics_sample_add(&labelled->sample, "pid", labelled->pid);
    }
}

/* ---- facts of the processes */

/* The sum over the members; unknown when it is so for one of them. */
static struct fact sum_over_members(const struct facts *members, enum process_fact id)
{
    struct fact sum = {.state = FACT_OK};

    for (size_t i = 0; i < members->process_count; i++) {
        const struct fact *fact = &members->processes[i].values[id];
        if (!fact_is_known(fact)) {
            return (struct fact){.state = fact->state};
        }
        sum.value = number_add(sum.value, fact->value);
    }
    return sum;
}

static void write_process_facts(
    struct metrics_family *family, const struct metrics_page *page)
{
    const size_t count = sizeof(process_facts_shown) / sizeof(process_facts_shown[0]);

    for (size_t i = 0; i < count; i++) {
        const struct fact_info *info = &process_fact_table[process_facts_shown[i]];
        metrics_begin_fact(family, "process", info);
        for (size_t j = 0; j < page->target_count; j++) {
            struct target_sample labelled;
            const struct fact sum =
                sum_over_members(page->targets[j].members, process_facts_shown[i]);
            label_target(&page->targets[j], &labelled);
            metrics_write_fact(family, &labelled.sample, info, &sum);
        }
    }
}

/* ---- layers, allocators, findings */

/*
 * A sum over some members only is no figure of the target, and a sample has no place to say so.
 * Resident memory by Pss is of all members.
 */
static bool is_of_the_whole(const struct layer *layer)
{
    return state_is_known((uint32_t)layer->state) &&
           (layer->bound != BOUND_AT_LEAST || layer->id == LAYER_RESIDENT);
}

static void write_layers(struct metrics_family *family, const struct metrics_page *page)
{
    for (size_t i = 0; i < sizeof(layers_shown) / sizeof(layers_shown[0]); i++) {
        const enum layer_id id = layers_shown[i].id;
        metrics_family_begin(family, METRICS_GAUGE, "bytes", layers_shown[i].help,
            "strata_%s_bytes", layer_names[id]);
        for (size_t j = 0; j < page->target_count; j++) {
            const struct layer *layer = &page->targets[j].layers[id];
            struct target_sample labelled;
            label_target(&page->targets[j], &labelled);
            if (is_of_the_whole(layer)) {
                metrics_write_signed(family, &labelled.sample, layer->bytes);
            }
        }
    }
}

static uint64_t trim_gain(const struct metrics_target *target)
{
    return target->glibc->trim_gain_bytes;
}

static uint64_t untrimmable(const struct metrics_target *target)
{
    return target->glibc->top_untrimmable_bytes;
}

static uint64_t arenas(const struct metrics_target *target)
{
    return target->glibc->arenas;
}

static const struct {
    const char *name;
    const char *unit;
    const char *help;
    uint64_t (*value)(const struct metrics_target *target);
} glibc_numbers[] = {
    {"strata_glibc_trim_gain_bytes", "bytes",
        "What malloc_trim would give back, page by page.", trim_gain},
    {"strata_glibc_untrimmable_bytes", "bytes",
        "Free and resident at the ends of arenas, where malloc_trim does not look.",
        untrimmable},
    {"strata_glibc_arenas", "", "Arenas of malloc that were read.", arenas},
};

static void write_sizing(struct metrics_family *family, const struct metrics_page *page)
{
    static const struct {
        const char *name;
        const char *help;
        size_t offset;
    } numbers[] = {
        {"strata_private_bytes", "Sum of the private pages of the target's processes.",
            offsetof(struct metrics_sizing, private_bytes)},
        {"strata_php_real_bytes",
            "Largest real of PHP's request heaps: what memory_limit is compared with.",
            offsetof(struct metrics_sizing, php_real_bytes)},
        {"strata_php_limit_bytes", "Largest memory_limit of PHP's request heaps.",
            offsetof(struct metrics_sizing, php_limit_bytes)},
    };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++) {
        metrics_family_begin(
            family, METRICS_GAUGE, "bytes", numbers[i].help, "%s", numbers[i].name);
        for (size_t j = 0; j < page->target_count; j++) {
            const struct metrics_target *target = &page->targets[j];
            struct target_sample labelled;
            if (!target->looked) {
                continue;
            }
            const struct fact *fact =
                (const struct fact *)(const void *)((const char *)&target->sizing +
                                                    numbers[i].offset);
            if (fact_is_known(fact)) {
                label_target(target, &labelled);
                metrics_write_unsigned(family, &labelled.sample, fact->value);
            }
        }
    }
}

static void write_glibc(struct metrics_family *family, const struct metrics_page *page)
{
    for (size_t i = 0; i < sizeof(glibc_numbers) / sizeof(glibc_numbers[0]); i++) {
        metrics_family_begin(family, METRICS_GAUGE, glibc_numbers[i].unit,
            glibc_numbers[i].help, "%s", glibc_numbers[i].name);
        for (size_t j = 0; j < page->target_count; j++) {
            const struct metrics_target *target = &page->targets[j];
            struct target_sample labelled;
            if (target->looked && target->glibc->arenas > 0) {
                label_target(target, &labelled);
                metrics_write_unsigned(
                    family, &labelled.sample, glibc_numbers[i].value(target));
            }
        }
    }
}

/* A rule may speak once for each member; its findings are one sample. */
static bool is_first_of_rule(const struct finding_list *list, size_t index)
{
    for (size_t i = 0; i < index; i++) {
        if (list->items[i].rule == list->items[index].rule &&
            list->items[i].severity == list->items[index].severity) {
            return false;
        }
    }
    return true;
}

enum finding_number { FINDINGS_COUNT, FINDINGS_LOW, FINDINGS_HIGH, FINDING_NUMBERS };

/* Over the findings of one rule and severity; *known: there is something to say. */
static uint64_t add_up(const struct finding_list *list, size_t index,
    enum finding_number number, bool *known)
{
    uint64_t sum = 0;

    *known = number == FINDINGS_COUNT;
    for (size_t i = index; i < list->count; i++) {
        const struct finding *finding = &list->items[i];
        if (finding->rule != list->items[index].rule ||
            finding->severity != list->items[index].severity) {
            continue;
        }
        if (number == FINDINGS_COUNT) {
            sum++;
        } else if (finding->predicts) {
            sum = number_add(sum, number == FINDINGS_LOW ? finding->predicted_low_bytes
                                                         : finding->predicted_high_bytes);
            *known = true;
        }
    }
    return sum;
}

static void write_findings_of(struct metrics_family *family,
    const struct metrics_target *target, enum finding_number number)
{
    const struct finding_list *list = target->findings;

    for (size_t i = 0; i < list->count; i++) {
        struct target_sample labelled;
        bool known;
        const uint64_t value = add_up(list, i, number, &known);
        if (!known || !is_first_of_rule(list, i)) {
            continue;
        }
        label_target(target, &labelled);
        metrics_sample_add(&labelled.sample, "rule", list->items[i].rule->id);
        metrics_sample_add(
            &labelled.sample, "severity", severity_names[list->items[i].severity]);
        metrics_write_unsigned(family, &labelled.sample, value);
    }
}

static void write_findings(struct metrics_family *family, const struct metrics_page *page)
{
    static const struct {
        const char *name;
        const char *unit;
        const char *help;
    } numbers[FINDING_NUMBERS] = {
        [FINDINGS_COUNT] = {"strata_findings", "",
            "Findings of one rule; strata rules ID tells what to do."},
        [FINDINGS_LOW] = {"strata_finding_gain_low_bytes", "bytes",
            "The least that the fix of the finding gives back."},
        [FINDINGS_HIGH] = {"strata_finding_gain_high_bytes", "bytes",
            "The most that it gives back; findings may speak of the same bytes."},
    };

    for (int i = 0; i < FINDING_NUMBERS; i++) {
        metrics_family_begin(family, METRICS_GAUGE, numbers[i].unit, numbers[i].help,
            "%s", numbers[i].name);
        for (size_t j = 0; j < page->target_count; j++) {
            write_findings_of(family, &page->targets[j], (enum finding_number)i);
        }
    }
}

/* ---- targets as such */

static void write_processes(
    struct metrics_family *family, const struct metrics_page *page)
{
    metrics_family_begin(
        family, METRICS_GAUGE, "", "Processes of the target.", "strata_processes");
    for (size_t i = 0; i < page->target_count; i++) {
        struct target_sample labelled;
        label_target(&page->targets[i], &labelled);
        metrics_write_unsigned(
            family, &labelled.sample, page->targets[i].members->process_count);
    }
}

static void write_ages(struct metrics_family *family, const struct metrics_page *page)
{
    metrics_family_begin(family, METRICS_GAUGE, "seconds",
        "Age of the last good look inside of the target.", "strata_target_age_seconds");
    for (size_t i = 0; i < page->target_count; i++) {
        struct target_sample labelled;
        if (page->targets[i].looked) {
            label_target(&page->targets[i], &labelled);
            metrics_write_real(family, &labelled.sample, page->targets[i].age_seconds);
        }
    }
}

static void write_completeness(
    struct metrics_family *family, const struct metrics_page *page)
{
    metrics_family_begin(family, METRICS_GAUGE, "",
        "1 when no fact of the target is missing, frame numbers apart; 0 when some are.",
        "strata_target_complete");
    for (size_t i = 0; i < page->target_count; i++) {
        struct target_sample labelled;
        if (page->targets[i].looked) {
            label_target(&page->targets[i], &labelled);
            metrics_write_unsigned(
                family, &labelled.sample, page->targets[i].complete ? 1 : 0);
        }
    }
}

void metrics_write_targets(struct metrics_family *family, const struct metrics_page *page)
{
    write_layers(family, page);
    write_processes(family, page);
    write_process_facts(family, page);
    write_sizing(family, page);
    write_glibc(family, page);
    write_findings(family, page);
    write_ages(family, page);
    write_completeness(family, page);
}
