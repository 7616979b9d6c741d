/*
 * fleet_plan.c - quantiles by pool, over hosts and days.
 *
 * The exporter has no series for each process, so a sample is the mean over the workers of
 * one host at one moment. Its spread is that of crowds and hosts; what single workers differ by
 * is inside the sums already, which is what a budget has to hold.
 */
#include "plan/fleet_plan.h"

#include <errno.h>

#include "base/number.h"
#include "base/quantity.h"

enum { KERNEL_STACK_BYTES = 16 << 10 };

static const double p95 = 0.95;

/* Sorted columns of the moments. */
struct columns {
    uint64_t *shared;
    uint64_t *kernel;
    uint64_t *workers;
    size_t count;
};

static int take_columns(struct region *region, const struct fleet *fleet,
    struct columns *columns, uint64_t *each)
{
    const size_t bytes = (fleet->count + 1) * sizeof(uint64_t);

    columns->shared = region_alloc(region, bytes);
    columns->kernel = region_alloc(region, bytes);
    columns->workers = region_alloc(region, bytes);
    if (columns->shared == NULL || columns->kernel == NULL || columns->workers == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < fleet->count; i++) {
        const struct fleet_moment *moment = &fleet->moments[i];
        const uint64_t workers = moment->workers;
        if (workers == 0) {
            continue;
        }
        each[columns->count] = moment->private_bytes / workers;
        columns->shared[columns->count] =
            number_subtract(moment->unique_bytes, moment->private_bytes);
        columns->kernel[columns->count] =
            number_add(moment->tables_bytes / workers, KERNEL_STACK_BYTES);
        columns->workers[columns->count++] = workers;
    }
    return columns->count == 0 ? -ENODATA : 0;
}

static void take_heaps(const struct fleet *fleet, struct plan_heap *heap)
{
    for (size_t i = 0; i < fleet->count; i++) {
        const struct fleet_moment *moment = &fleet->moments[i];
        if (moment->real_bytes > heap->peak_real_bytes) {
            heap->known = true;
            heap->peak_real_bytes = moment->real_bytes;
        }
        if (moment->limit_bytes > heap->limit_bytes.value) {
            heap->limit_bytes =
                (struct fact){.value = moment->limit_bytes, .state = FACT_OK};
        }
    }
}

int fleet_plan_input(struct region *region, const struct fleet *fleet,
    const struct plan_wishes *wishes, struct plan_input *input)
{
    struct columns columns = {.count = 0};

    *input = (struct plan_input){.name = fleet->name,
        .server = PLAN_FPM,
        .limit_bytes = wishes->limit_bytes,
        .limit_source = "as asked for",
        .alone = true,
        .private_bytes = region_alloc(region, (fleet->count + 1) * sizeof(uint64_t))};
    if (input->private_bytes == NULL) {
        return -ENOMEM;
    }
    int rc = take_columns(region, fleet, &columns, input->private_bytes);
    if (rc != 0) {
        return rc;
    }
    input->private_count = columns.count;
    input->source = region_printf(region,
        "Prometheus: %s of %s in %s; a sample is a host's mean worker",
        quantity_count(columns.count, "moment").text,
        quantity_count(fleet->hosts, "host").text,
        quantity_count(fleet->days, "day").text);
    if (input->source == NULL) {
        return -ENOMEM;
    }
    const struct distribution each =
        distribution_of(input->private_bytes, input->private_count);
    const struct distribution shared = distribution_of(columns.shared, columns.count);
    const struct distribution kernel = distribution_of(columns.kernel, columns.count);

    (void)distribution_of(columns.workers, columns.count); /* sorts */
    input->concurrency =
        each.mean_bytes > 0 ? (double)each.p95_bytes / each.mean_bytes : 0;
    input->kernel_bytes = kernel.p95_bytes;
    input->base_bytes = each.least_bytes;
    input->shared_bytes = shared.p95_bytes;
    input->workers_now = distribution_quantile(columns.workers, columns.count, p95);
    take_heaps(fleet, &input->heap);
    if (wishes->memory_limit_bytes != 0) {
        input->heap.limit_bytes =
            (struct fact){.value = wishes->memory_limit_bytes, .state = FACT_OK};
        input->heap.limit_wished = true;
    }
    plan_add_fixed(input, "shared", "shared by the workers, once (95th percentile)",
        shared.p95_bytes);
    plan_add_fixed(input, "others", "other services, as told", wishes->others_bytes);
    plan_add_reserve(input, wishes->reserve_percent);
    return 0;
}
