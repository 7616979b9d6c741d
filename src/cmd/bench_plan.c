/*
 * bench_plan.c - the look gives what is there once, the samples what a worker takes.
 *
 * The two places where a bench meets the arithmetic of plans, side by side so that what one
 * writes the other reads.
 */
#include "cmd/bench_plan.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "model/snapshot.h"
#include "plan/plan_processors.h"

enum { REGION_BYTES = 64 << 20 };

static uint64_t fixed_of(const struct plan_input *input, const char *id)
{
    for (size_t i = 0; i < input->fixed_count; i++) {
        if (strcmp(input->fixed[i].id, id) == 0) {
            return input->fixed[i].bytes;
        }
    }
    return 0;
}

static void keep(const struct plan_input *input, struct result_plan *plan)
{
    plan->known = true;
    plan->master_bytes = fixed_of(input, "master");
    plan->shared_once_bytes = fixed_of(input, "shared");
    plan->fixed_kernel_bytes = fixed_of(input, "kernel");
    plan->kernel_bytes = input->kernel_bytes;
    plan->base_bytes = input->base_bytes;
    plan->shared_bytes = input->shared_bytes;
    plan->retained_bytes = input->retained_bytes;
    plan->heap_known = input->heap.known;
    plan->peak_real_bytes = input->heap.peak_real_bytes;
    plan->peak_used_bytes = input->heap.peak_used_bytes;
    plan->half_chunks = input->heap.half_chunks;
    if (input->heap.limit_bytes.state == FACT_OK) {
        plan->memory_limit_bytes = input->heap.limit_bytes.value;
    }
}

int bench_plan_keep(struct trial_look *look, struct result_row *row)
{
    const struct plan_wishes wishes = {.limit_bytes = 1, .reserve_percent = 0};
    struct snapshot snapshot;
    struct region region;
    struct plan_input input;

    if (!look->taken || look->series.private_count == 0) {
        return 0;
    }
    int rc = snapshot_build(&look->facts, &snapshot);
    if (rc != 0) {
        return rc;
    }
    region_init(&region, REGION_BYTES);
    rc = pool_plan_input(&region, &snapshot, &wishes, &input);
    if (rc == 0) {
        keep(&input, &row->plan);
        row->plan.private_bytes = look->series.private_bytes;
        row->plan.private_count = look->series.private_count;
        row->plan.concurrency =
            memory_concurrency(&look->series, look->load_first, look->load_last);
        look->series.private_bytes = NULL;
    }
    region_release(&region);
    snapshot_release(&snapshot);
    return rc == -ENODATA ? 0 : rc;
}

static enum plan_server server_named(const char *name)
{
    for (int i = 0; i < PLAN_SERVER_COUNT; i++) {
        if (strcmp(plan_server_names[i], name) == 0) {
            return (enum plan_server)i;
        }
    }
    return PLAN_OTHER;
}

void bench_plan_input(const struct result_plan *kept, const char *name,
    const struct plan_wishes *wishes, struct plan_input *input)
{
    *input = (struct plan_input){.name = name,
        .source = "the samples of a bench, under load",
        .server = server_named(kept->server),
        .limit_bytes = wishes->limit_bytes,
        .limit_source = "as asked for",
        .alone = true,
        .private_bytes = kept->private_bytes,
        .private_count = kept->private_count,
        .kernel_bytes = kept->kernel_bytes,
        .base_bytes = kept->base_bytes,
        .shared_bytes = kept->shared_bytes,
        .retained_bytes = kept->retained_bytes,
        .concurrency = kept->concurrency,
        .processors = (double)number_smaller(kept->processors, PLAN_PROCESSORS_MOST),
        .processors_source = "of the machine of the bench",
        .heap = {.known = kept->heap_known,
            .peak_real_bytes = kept->peak_real_bytes,
            .peak_used_bytes = kept->peak_used_bytes,
            .half_chunks = kept->half_chunks},
        .growth_known = kept->growth_known,
        .growth_bytes_per_request = kept->growth_bytes_per_request};
    const uint64_t limit = wishes->memory_limit_bytes != 0 ? wishes->memory_limit_bytes
                                                           : kept->memory_limit_bytes;
    if (limit != 0) {
        input->heap.limit_bytes = (struct fact){.value = limit, .state = FACT_OK};
        input->heap.limit_wished = wishes->memory_limit_bytes != 0;
    }
    plan_add_fixed(
        input, "master", "processes beside the workers, private", kept->master_bytes);
    plan_add_fixed(
        input, "shared", "shared by the workers, once", kept->shared_once_bytes);
    plan_add_fixed(input, "kernel", "kernel memory of them", kept->fixed_kernel_bytes);
    plan_add_fixed(input, "others", "other services, as told", wishes->others_bytes);
    plan_add_reserve(input, wishes->reserve_percent);
}
