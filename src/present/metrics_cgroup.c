/*
 * metrics_cgroup.c - what the cgroups of the exported targets are billed.
 *
 * A bill has the cgroup as its label and no target, so that it is told once for all that it
 * bills and a sum over cgroups of one level means something.
 */
#include "present/metrics_cgroup.h"

#include <stdlib.h>
#include <string.h>

#include "model/container.h"
#include "model/known.h"
#include "present/metrics_fact.h"

static const enum cgroup_fact cgroup_facts_shown[] = {CGROUP_FACT_USAGE,
    CGROUP_FACT_LIMIT_EFFECTIVE, CGROUP_FACT_HEADROOM, CGROUP_FACT_PEAK,
    CGROUP_FACT_SWAP_USAGE, CGROUP_FACT_ANON, CGROUP_FACT_FILE, CGROUP_FACT_SHMEM,
    CGROUP_FACT_KERNEL, CGROUP_FACT_EVENTS_MAX, CGROUP_FACT_EVENTS_OOM_KILL,
    CGROUP_FACT_PRESSURE_SOME, CGROUP_FACT_PRESSURE_FULL};

/* Those that bill an exported target; each is looked for once. */
static bool *find_bills(const struct metrics_page *page)
{
    const struct facts *host = page->host;
    bool *bills = calloc(host->cgroup_count + 1, sizeof(*bills));

    for (size_t i = 0; bills != NULL && i < page->target_count; i++) {
        const struct facts *members = page->targets[i].members;
        for (size_t j = 0; j < members->process_count; j++) {
            const int32_t index = members->processes[j].cgroup_index;
            if (index >= 0 && (size_t)index < host->cgroup_count) {
                bills[index] = true;
            }
        }
    }
    return bills;
}

/* Several paths may be billed to one ancestor, which is then shown once. */
static void drop_same_bills(const struct facts *host, bool *bills)
{
    for (size_t i = 0; i < host->cgroup_count; i++) {
        const char *path = host->cgroups[i].charged_path;
        if (bills[i] && path == NULL) {
            bills[i] = false;
        }
        for (size_t j = 0; bills[i] && j < i; j++) {
            if (bills[j] && strcmp(host->cgroups[j].charged_path, path) == 0) {
                bills[i] = false;
            }
        }
    }
}

static void label_cgroup(const struct cgroup_facts *cgroup, struct metrics_sample *sample)
{
    sample->label_count = 0;
    metrics_sample_add(sample, "cgroup", cgroup->charged_path);
}

static void write_cgroup_facts(
    struct metrics_family *family, const struct facts *host, const bool *bills)
{
    const size_t count = sizeof(cgroup_facts_shown) / sizeof(cgroup_facts_shown[0]);

    for (size_t i = 0; i < count; i++) {
        const struct fact_info *info = &cgroup_fact_table[cgroup_facts_shown[i]];
        metrics_begin_fact(family, "cgroup", info);
        for (size_t j = 0; j < host->cgroup_count; j++) {
            struct metrics_sample sample;
            if (bills[j]) {
                label_cgroup(&host->cgroups[j], &sample);
                metrics_write_fact(family, &sample, info,
                    &host->cgroups[j].values[cgroup_facts_shown[i]]);
            }
        }
    }
}

static const struct fact *working_set(const struct container_view *view)
{
    return &view->kubelet;
}

static const struct fact *non_reclaimable(const struct container_view *view)
{
    return &view->non_reclaimable;
}

static const struct fact *docker(const struct container_view *view)
{
    return &view->docker;
}

static void write_container_figures(
    struct metrics_family *family, const struct facts *host, const bool *bills)
{
    static const struct {
        const char *name;
        const char *help;
        const struct fact *(*value)(const struct container_view *view);
    } figures[] = {
        {"working_set", "Usage without inactive page cache, as the kubelet counts.",
            working_set},
        {"docker", "Usage as docker stats prints it.", docker},
        {"non_reclaimable", "Estimate of what reclaim cannot take away.",
            non_reclaimable},
    };

    for (size_t i = 0; i < sizeof(figures) / sizeof(figures[0]); i++) {
        metrics_family_begin(family, METRICS_GAUGE, "bytes", figures[i].help,
            "strata_cgroup_%s_bytes", figures[i].name);
        for (size_t j = 0; j < host->cgroup_count; j++) {
            struct metrics_sample sample;
            if (!bills[j]) {
                continue;
            }
            const struct container_view view = container_view_of(&host->cgroups[j]);
            const struct fact *fact = figures[i].value(&view);
            label_cgroup(&host->cgroups[j], &sample);
            if (fact_is_known(fact)) {
                metrics_write_unsigned(family, &sample, fact->value);
            }
        }
    }
}

void metrics_write_cgroups(struct metrics_family *family, const struct metrics_page *page)
{
    bool *bills = find_bills(page);

    if (bills == NULL) {
        family->buffer->failed = true;
        return;
    }
    drop_same_bills(page->host, bills);
    write_cgroup_facts(family, page->host, bills);
    write_container_figures(family, page->host, bills);
    free(bills);
}
