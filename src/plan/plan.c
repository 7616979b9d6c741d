/*
 * plan.c - the arithmetic of a pool.
 *
 * budget = limit - fixed. A worker costs its private pages and the kernel's page tables and
 * stacks for it; what it shares with the others is paid once and stands in fixed. Three
 * cases: every worker at its mean; the 95th percentile of what all take at one moment; every
 * worker at memory_limit beside what it holds outside the request heap. The first is
 * what a bill looks like, the second what to run with, the third what requests that keep
 * to memory_limit cannot exceed.
 *
 * memory_limit is compared with real, which moves in chunks of 2 MiB (zend_alloc.c,
 * zend_mm_alloc_pages()); two runs of more than 255 of a chunk's 511 pages do not share one,
 * so the limit that follows from used is too low by up to half.
 */
#include "plan/plan.h"

#include <math.h>

#include "base/number.h"

enum {
    HEADROOM_DIVISOR = 4,  /* a quarter of the peak above the peak */
    GUARD_REQUESTS = 1000, /* when growth was not measured */
    GROWTH_DIVISOR = 10,   /* recycle before a tenth of a worker has been added */
    LEAST_REQUESTS = 50,
    HALF_CHUNK_BYTES = PLAN_ZEND_CHUNK_BYTES / 2,
};

const char *const plan_case_names[PLAN_CASE_COUNT] = {
    [PLAN_EXPECTED] = "expected", [PLAN_P95] = "p95", [PLAN_WORST] = "worst"};

const char *const plan_server_names[PLAN_SERVER_COUNT] = {
    [PLAN_FPM] = "php-fpm",
    [PLAN_SWOOLE] = "swoole",
    [PLAN_ROADRUNNER] = "roadrunner",
    [PLAN_GUNICORN] = "gunicorn",
    [PLAN_NGINX] = "nginx",
    [PLAN_OTHER] = "other",
};

static uint64_t multiply(uint64_t a, uint64_t b)
{
    uint64_t product;

    return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t whole_bytes(double bytes)
{
    if (bytes <= 0) {
        return 0;
    }
    return bytes < 9e18 ? (uint64_t)ceil(bytes) : UINT64_MAX;
}

/* What the sum of workers takes at the 95th percentile, or more when that was measured. */
static double p95_sum(
    const struct plan_input *input, const struct distribution *each, uint64_t workers)
{
    const double drawn = distribution_sum_p95(each, workers);
    const double most = (double)workers * (double)each->most_bytes;
    const double measured = (double)workers * each->mean_bytes * input->concurrency;
    const double sum = measured > drawn ? measured : drawn;

    return sum < most ? sum : most;
}

uint64_t plan_need(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id id, uint64_t workers)
{
    if (id == PLAN_EXPECTED) {
        return whole_bytes((double)workers * plan->each.mean_bytes);
    }
    if (id == PLAN_P95) {
        return whole_bytes(p95_sum(input, &plan->each, workers));
    }
    return multiply(workers, plan->worst_each_bytes);
}

/* The most workers whose need is within budget: need grows with workers. */
static uint64_t most_workers(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id id, uint64_t budget)
{
    uint64_t low = 0;
    uint64_t high = PLAN_MAX_WORKERS;

    while (low < high) {
        const uint64_t middle = low + (high - low + 1) / 2;
        if (plan_need(input, plan, id, middle) <= budget) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

static void fill_case(
    const struct plan_input *input, enum plan_case_id id, struct plan *plan)
{
    struct plan_case *one = &plan->cases[id];
    const uint64_t now =
        input->workers_allowed != 0 ? input->workers_allowed : input->workers_now;

    one->workers =
        plan->each.count == 0 ? 0 : most_workers(input, plan, id, plan->budget_bytes);
    const uint64_t shown = one->workers == 0 ? 1 : one->workers;
    one->each_bytes = plan_need(input, plan, id, shown) / shown;
    one->need_bytes =
        number_add(plan->fixed_bytes, plan_need(input, plan, id, one->workers));
    if (now != 0) {
        one->need_now_bytes =
            number_add(plan->fixed_bytes, plan_need(input, plan, id, now));
        one->fits_now = one->need_now_bytes <= input->limit_bytes;
    }
}

uint64_t plan_limit_for(uint64_t peak_bytes)
{
    const uint64_t chunk = PLAN_ZEND_CHUNK_BYTES;
    const uint64_t quarter = peak_bytes / HEADROOM_DIVISOR;
    const uint64_t with = number_add(peak_bytes, quarter > chunk ? quarter : chunk);

    if (with > UINT64_MAX - chunk) {
        return UINT64_MAX / chunk * chunk;
    }
    return (with + chunk - 1) / chunk * chunk;
}

/* As it is or is wished for; or what is advised, when requests were seen too near to that. */
static uint64_t limit_to_set(
    const struct plan_input *input, const struct plan_limit *limit)
{
    const struct plan_heap *heap = &input->heap;
    const uint64_t now =
        heap->limit_bytes.state == FACT_OK || heap->limit_bytes.state == FACT_STALE
            ? heap->limit_bytes.value
            : 0;

    if (!limit->known || (now != 0 && heap->limit_wished)) {
        return now;
    }
    return now > limit->advised_bytes ? now : limit->advised_bytes;
}

static uint64_t worst_each(
    const struct plan_input *input, const struct plan *plan, uint64_t limit)
{
    const uint64_t held =
        number_add(number_add(input->base_bytes, input->kernel_bytes), limit);

    /* a worker that was seen larger than its limit allows is believed */
    return held > plan->each.most_bytes ? held : plan->each.most_bytes;
}

static void decide_limit(const struct plan_input *input, struct plan_limit *limit)
{
    const struct plan_heap *heap = &input->heap;

    const uint64_t larger = heap->kernel_peak_bytes > heap->peak_real_bytes
                                ? heap->kernel_peak_bytes
                                : heap->peak_real_bytes;
    uint64_t by_kernel = plan_limit_for(larger);

    /* an upper bound asks for no more than what was enough until now */
    if (heap->limit_bytes.state == FACT_OK && !heap->limit_wished) {
        by_kernel = number_smaller(by_kernel, heap->limit_bytes.value);
    }
    limit->known = heap->known && heap->peak_real_bytes != 0 && !input->idle;
    if (limit->known) {
        limit->advised_bytes = plan_limit_for(heap->peak_real_bytes);
        if (by_kernel > limit->advised_bytes) {
            limit->advised_bytes = by_kernel;
        }
    }
    limit->set_bytes = limit_to_set(input, limit);
}

/* Blocks above half a chunk may fill theirs: what is free beside them is never used. */
static uint64_t cliff_of(const struct plan_heap *heap)
{
    if (heap->peak_used_bytes == 0) {
        return 0;
    }
    return number_smaller(multiply(heap->half_chunks, HALF_CHUNK_BYTES),
        number_subtract(heap->peak_real_bytes, heap->peak_used_bytes));
}

static void fill_limit(const struct plan_input *input, struct plan *plan)
{
    const struct plan_heap *heap = &input->heap;
    struct plan_limit *limit = &plan->limit;

    if (!limit->known) {
        return;
    }
    limit->cliff_bytes = cliff_of(heap);
    limit->without_cliff_bytes =
        plan_limit_for(heap->peak_real_bytes - limit->cliff_bytes);
    const uint64_t each = worst_each(input, plan, limit->advised_bytes);
    limit->worst_workers = each == 0 ? 0 : plan->budget_bytes / each;
}

/* With room for saving less in each sample and the base; the distribution only shifts. */
static uint64_t workers_with(const struct plan_input *input, const struct plan *plan,
    enum plan_case_id planned, uint64_t saving)
{
    struct plan other = *plan;
    const uint64_t floor_bytes = input->kernel_bytes;
    const double mean = other.each.mean_bytes - (double)saving;

    other.each.mean_bytes = mean > (double)floor_bytes ? mean : (double)floor_bytes;
    other.each.most_bytes = number_subtract(other.each.most_bytes, saving);
    if (other.each.most_bytes < other.each.mean_bytes) {
        other.each.most_bytes = whole_bytes(other.each.mean_bytes);
    }
    /* the limit of a request heap stays what it is: the worst case does not shrink */
    other.worst_each_bytes = plan->worst_by_limit
                                 ? plan->worst_each_bytes
                                 : number_subtract(plan->worst_each_bytes, saving);
    if (other.worst_each_bytes < floor_bytes) {
        other.worst_each_bytes = floor_bytes;
    }
    return most_workers(input, &other, planned, plan->budget_bytes);
}

static uint64_t requests_until_recycled(
    const struct plan_input *input, const struct plan *plan)
{
    if (!input->growth_known) {
        return GUARD_REQUESTS;
    }
    if (input->growth_bytes_per_request == 0) {
        return 0;
    }
    const uint64_t requests = whole_bytes(plan->each.mean_bytes / GROWTH_DIVISOR) /
                              input->growth_bytes_per_request;
    return requests < LEAST_REQUESTS ? LEAST_REQUESTS : requests;
}

/* Every worker takes that much more. */
static void shift(struct distribution *each, uint64_t bytes)
{
    if (each->count != 0) {
        each->mean_bytes += (double)bytes;
        each->least_bytes = number_add(each->least_bytes, bytes);
        each->median_bytes = number_add(each->median_bytes, bytes);
        each->p95_bytes = number_add(each->p95_bytes, bytes);
        each->most_bytes = number_add(each->most_bytes, bytes);
    }
}

void plan_make(struct plan_input *input, enum plan_case_id planned, struct plan *plan)
{
    *plan = (struct plan){0};
    for (size_t i = 0; i < input->fixed_count; i++) {
        plan->fixed_bytes = number_add(plan->fixed_bytes, input->fixed[i].bytes);
    }
    plan->budget_bytes = number_subtract(input->limit_bytes, plan->fixed_bytes);
    plan->each = distribution_of(input->private_bytes, input->private_count);
    shift(&plan->each, input->kernel_bytes);
    decide_limit(input, &plan->limit);
    plan->worst_by_limit = plan->limit.set_bytes != 0;
    plan->worst_each_bytes = plan->worst_by_limit
                                 ? worst_each(input, plan, plan->limit.set_bytes)
                                 : plan->each.most_bytes;
    for (int id = 0; id < PLAN_CASE_COUNT; id++) {
        fill_case(input, (enum plan_case_id)id, plan);
    }
    fill_limit(input, plan);
    plan->max_requests = requests_until_recycled(input, plan);
    for (size_t i = 0; i < input->saving_count; i++) {
        struct plan_saving *saving = &input->savings[i];
        saving->workers_low = workers_with(input, plan, planned, saving->low_bytes);
        saving->workers_high = workers_with(input, plan, planned, saving->high_bytes);
    }
}
