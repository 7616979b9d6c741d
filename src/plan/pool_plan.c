/*
 * pool_plan.c - workers, their private peaks, and what is there once.
 *
 * The private peak of a worker is not in the kernel's books. VmHWM is the largest resident
 * set so far; what the worker shares with others is taken to have been there then as it is now,
 * so private peak = private now + (VmHWM - VmRSS). Both are of one read of status.
 *
 * What is there once: the frames of the pool (each once) less the private ones of its
 * members; the other processes of the pool; and what the bill holds beside the pool: on a
 * machine MemTotal - MemAvailable, in a cgroup what cannot be reclaimed.
 */
#include "plan/pool_plan.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/known.h"
#include "model/workers.h"
#include "plan/plan_processors.h"

enum {
    IDLE_USED_BYTES = 64 << 10,    /* less than any page of PHP asks for */
    KERNEL_STACK_BYTES = 16 << 10, /* THREAD_SIZE of x86-64 and arm64 with 4 KiB pages */
    QUOTA_SECOND_US = 1000000,
};

static uint64_t known_bytes(const struct layer *layer)
{
    bool known;
    return layer_bytes(layer, &known);
}

/* Resident bytes of the request heaps of one process, as far as pagemap told. */
static uint64_t heap_resident(const struct process_facts *process)
{
    uint64_t bytes = 0;

    for (size_t i = 0; i < process->zend.heap_count; i++) {
        const struct zend_heap_facts *heap = &process->zend.heaps[i];
        bytes =
            number_add(bytes, state_is_known(heap->resident_state) ? heap->resident_bytes
                                                                   : heap->real_bytes);
    }
    return bytes;
}

/* VmHWM beyond VmRSS: what the process has let go of since its peak. */
static uint64_t peak_beyond_now(const struct process_facts *process)
{
    const struct fact *peak = &process->values[PROCESS_FACT_VM_HWM];
    const struct fact *now = &process->values[PROCESS_FACT_VM_RSS];

    return fact_is_known(peak) && fact_is_known(now)
               ? number_subtract(peak->value, now->value)
               : 0;
}

static void take_heap(struct plan_heap *heap, const struct process_facts *process)
{
    const uint64_t most = number_add(heap_resident(process), peak_beyond_now(process));

    for (size_t i = 0; i < process->zend.heap_count; i++) {
        const struct zend_heap_facts *one = &process->zend.heaps[i];
        if (!state_is_known(one->state) || one->custom) {
            continue;
        }
        heap->known = true;
        heap->kernel_peak_bytes =
            most > heap->kernel_peak_bytes ? most : heap->kernel_peak_bytes;
        if (one->peak_real_bytes >= heap->peak_real_bytes) {
            heap->peak_real_bytes = one->peak_real_bytes;
            heap->peak_used_bytes = one->peak_used_bytes;
            heap->half_chunks = one->half_chunks;
        }
        if (fact_is_known(&one->limit_bytes) &&
            one->limit_bytes.value >= heap->limit_bytes.value) {
            heap->limit_bytes = one->limit_bytes;
            heap->hard_limit_bytes = one->hard_limit_bytes;
        }
    }
}

static uint64_t arenas_of(const struct process_facts *process)
{
    return state_is_known(process->glibc.state) ? process->glibc.arena_count : 0;
}

static uint64_t kernel_of(const struct process_facts *process)
{
    const struct fact *tables = &process->values[PROCESS_FACT_VM_PTE];
    const struct fact *threads = &process->values[PROCESS_FACT_THREADS];
    const uint64_t stacks = fact_is_known(threads) ? threads->value : 1;

    return number_add(fact_is_known(tables) ? tables->value : 0,
        number_smaller(stacks, UINT32_MAX) * KERNEL_STACK_BYTES);
}

/* Sums over the workers from which averages are made. */
struct worker_sums {
    uint64_t private_bytes;
    uint64_t kernel_bytes;
    uint64_t *bases; /* of each worker: what it holds outside its request heap */
    uint64_t shared_bytes;
    uint64_t retained_bytes;
    uint64_t cache_bytes;
    size_t known;
};

static void take_worker(
    const struct process_view *member, struct worker_sums *sums, struct plan_input *input)
{
    bool known;
    const struct process_facts *process = member->facts;
    const uint64_t private_bytes = layer_bytes(&member->layers[LAYER_EXCLUSIVE], &known);
    const uint64_t resident = known_bytes(&member->layers[LAYER_RESIDENT]);

    if (!known) {
        return;
    }
    input->private_bytes[sums->known++] =
        number_add(private_bytes, peak_beyond_now(process));
    sums->private_bytes = number_add(sums->private_bytes, private_bytes);
    sums->kernel_bytes = number_add(sums->kernel_bytes, kernel_of(process));
    sums->bases[sums->known - 1] = number_subtract(private_bytes, heap_resident(process));
    sums->shared_bytes =
        number_add(sums->shared_bytes, number_subtract(resident, private_bytes));
    sums->retained_bytes = number_add(
        sums->retained_bytes, known_bytes(&member->layers[LAYER_FREE_RESIDENT]));
    if (fact_is_known(&process->glibc.tcache_bytes)) {
        sums->cache_bytes =
            number_add(sums->cache_bytes, process->glibc.tcache_bytes.value);
    }
    take_heap(&input->heap, process);
    if (arenas_of(process) > input->arenas) {
        input->arenas = arenas_of(process);
    }
}

void plan_add_fixed(
    struct plan_input *input, const char *id, const char *title, uint64_t bytes)
{
    if (bytes == 0) {
        return;
    }
    if (input->fixed_count == PLAN_MAX_FIXED) {
        struct plan_fixed *last = &input->fixed[PLAN_MAX_FIXED - 1];
        last->bytes = number_add(last->bytes, bytes);
        return;
    }
    input->fixed[input->fixed_count++] =
        (struct plan_fixed){.id = id, .title = title, .bytes = bytes};
}

void plan_add_reserve(struct plan_input *input, unsigned percent)
{
    plan_add_fixed(input, "reserve", "reserve, for what was not seen",
        input->limit_bytes / 100 * percent);
}

/*
 * Frames of the pool that more than one process maps, each once. The frames are read after
 * the mappings: a pool that grows meanwhile has more of them than its private pages of then
 * explain. What outsiders share of the frames is at most what one member shares, so that
 * bounds it from above.
 */
static uint64_t shared_once(const struct snapshot *snapshot, uint64_t all_private)
{
    bool known;
    const uint64_t unique = layer_bytes(&snapshot->layers[LAYER_UNIQUE], &known);
    const uint64_t by_share =
        number_subtract(known_bytes(&snapshot->layers[LAYER_PSS]), all_private);
    uint64_t most = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct layer *layers = snapshot->members[i].layers;
        const uint64_t shared = number_subtract(
            known_bytes(&layers[LAYER_RESIDENT]), known_bytes(&layers[LAYER_EXCLUSIVE]));
        most = shared > most ? shared : most;
    }
    if (!known) {
        return by_share;
    }
    return number_smaller(
        number_subtract(unique, all_private), number_add(by_share, most));
}

static uint64_t private_of_all(const struct snapshot *snapshot)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        sum = number_add(sum, known_bytes(&snapshot->members[i].layers[LAYER_EXCLUSIVE]));
    }
    return sum;
}

/* What is billed beside the pool; *title says what that is. */
static uint64_t billed_beside(
    const struct snapshot *snapshot, bool in_cgroup, uint64_t pool, uint64_t pool_kernel)
{
    const struct fact *total = &snapshot->facts->host.values[HOST_FACT_MEM_TOTAL];
    const struct fact *available = &snapshot->facts->host.values[HOST_FACT_MEM_AVAILABLE];
    uint64_t used = 0;

    if (in_cgroup) {
        const struct fact *kept = &snapshot->container.non_reclaimable;
        used = fact_is_known(kept) ? kept->value : 0;
    } else if (fact_is_known(total) && fact_is_known(available)) {
        used = number_subtract(total->value, available->value);
    }
    return number_subtract(number_subtract(used, pool), pool_kernel);
}

/* Anonymous and shared memory of the pool: what a bill without page cache shows of it. */
static uint64_t pool_without_files(const struct snapshot *snapshot)
{
    uint64_t bytes = 0;
    size_t known = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct fact *values = snapshot->members[i].facts->values;
        const struct fact *anon = &values[PROCESS_FACT_PSS_ANON];
        const struct fact *shmem = &values[PROCESS_FACT_PSS_SHMEM];
        if (fact_is_known(anon) && fact_is_known(shmem)) {
            bytes = number_add(bytes, number_add(anon->value, shmem->value));
            known++;
        }
    }
    return known == snapshot->member_count ? bytes
                                           : known_bytes(&snapshot->layers[LAYER_PSS]);
}

/* The bound: what was asked for, the cgroup's limit, or the machine's memory. */
static void set_limit(const struct snapshot *snapshot, const struct plan_wishes *wishes,
    struct plan_input *input)
{
    const struct fact *total = &snapshot->facts->host.values[HOST_FACT_MEM_TOTAL];
    const struct fact *limit = &snapshot->container.limit;
    const uint64_t machine = fact_is_known(total) ? total->value : 0;

    input->limit_bytes = machine;
    input->limit_source = "memory of the machine";
    if (snapshot->container.facts != NULL && fact_is_known(limit) &&
        (machine == 0 || limit->value < machine)) {
        input->limit_bytes = limit->value;
        input->limit_source = "limit of the cgroup";
        input->alone = true;
    }
    if (wishes->limit_bytes != 0) {
        input->limit_bytes = wishes->limit_bytes;
        input->limit_source = "as asked for";
        input->alone = true;
    }
}

/*
 * The end of a request resets a heap's peaks, so an idle worker shows what it kept. What FPM
 * says of the last request is the peak of real, kept chunks included: a bound from above.
 */
static void take_last_requests(const struct fpm_pool_facts *pool, struct plan_heap *heap)
{
    for (size_t i = 0; i < pool->worker_count; i++) {
        const struct fact *memory = &pool->workers[i].last_request_memory;
        if (fact_is_known(memory) && memory->value > heap->peak_real_bytes) {
            heap->known = true;
            heap->peak_real_bytes = memory->value;
            heap->peak_used_bytes = 0;
            heap->half_chunks = 0;
        }
    }
    if (fact_is_known(&pool->memory_peak) &&
        pool->memory_peak.value > heap->peak_real_bytes) {
        heap->known = true;
        heap->peak_real_bytes = pool->memory_peak.value;
        heap->peak_used_bytes = 0;
        heap->half_chunks = 0;
    }
}

/*
 * A look at the status page, or any next request, resets PHP's peaks in its worker; the kernel
 * resets none. All that a worker let go of since its peak may have been a request's, as far as
 * memory_limit let it: a bound from above, kept where it says more than PHP does.
 */
static void bound_by_kernel(struct plan_heap *heap)
{
    if (fact_is_known(&heap->limit_bytes)) {
        heap->kernel_peak_bytes =
            number_smaller(heap->kernel_peak_bytes, heap->limit_bytes.value);
    }
    if (number_subtract(heap->kernel_peak_bytes, heap->peak_real_bytes) <=
        PLAN_ZEND_CHUNK_BYTES) {
        heap->kernel_peak_bytes = 0;
    }
}

/* Other pools of the same master share the bound: all at their limits (C18). */
static void take_fpm_pools(const struct snapshot *snapshot, struct plan_input *input)
{
    const struct facts *facts = snapshot->facts;

    for (size_t i = 0; i < facts->fpm_pool_count; i++) {
        const struct fpm_pool_facts *pool = &facts->fpm_pools[i];
        if (strcmp(pool->name, input->name) == 0) {
            if (fact_is_known(&pool->max_children)) {
                input->workers_allowed = pool->max_children.value;
            }
            if (pool->manager == FPM_ONDEMAND) {
                const struct fact *timeout = &pool->idle_timeout_seconds;
                input->on_demand_seconds = fact_is_known(timeout) && timeout->value != 0
                                               ? timeout->value
                                               : FPM_IDLE_SECONDS;
            }
            take_last_requests(pool, &input->heap);
            if (fact_is_known(&pool->memory_limit_bytes) && pool->memory_limit_admin) {
                input->heap.limit_bytes = pool->memory_limit_bytes;
            }
        } else if (fact_is_known(&pool->max_children)) {
            input->other_pools_children =
                number_add(input->other_pools_children, pool->max_children.value);
        }
    }
}

static enum plan_server server_of(const struct snapshot *snapshot)
{
    const struct facts *facts = snapshot->facts;

    if (facts->fpm_pool_count > 0) {
        return PLAN_FPM;
    }
    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        const char *title = process->title != NULL ? process->title : process->name;
        if (strstr(process->name, "php-fpm") != NULL ||
            strstr(title, "php-fpm:") != NULL) {
            return PLAN_FPM;
        }
        if (strcmp(process->name, "rr") == 0) {
            return PLAN_ROADRUNNER;
        }
        if (strstr(process->name, "gunicorn") != NULL ||
            strstr(title, "gunicorn") != NULL) {
            return PLAN_GUNICORN;
        }
        if (strcmp(process->name, "nginx") == 0) {
            return PLAN_NGINX;
        }
        if (strstr(title, "swoole") != NULL) {
            return PLAN_SWOOLE;
        }
    }
    return PLAN_OTHER;
}

const struct process_facts *pool_plan_single(const struct snapshot *snapshot)
{
    return snapshot->member_count == 1 && server_of(snapshot) == PLAN_OTHER
               ? snapshot->members[0].facts
               : NULL;
}

static void set_averages(const struct worker_sums *sums, struct plan_input *input)
{
    input->private_count = sums->known;
    input->kernel_bytes = sums->kernel_bytes / sums->known;
    /* the median: a heap that shrank between two reads makes one worker's base absurd */
    input->base_bytes = distribution_of(sums->bases, sums->known).median_bytes;
    input->shared_bytes = sums->shared_bytes / sums->known;
    input->retained_bytes = sums->retained_bytes / sums->known;
    input->thread_cache_bytes = sums->cache_bytes / sums->known;
}

static void set_fixed(const struct snapshot *snapshot, const struct plan_wishes *wishes,
    const struct worker_sums *sums, struct plan_input *input)
{
    const uint64_t all_private = private_of_all(snapshot);
    const uint64_t others_private = number_subtract(all_private, sums->private_bytes);
    const uint64_t shared = shared_once(snapshot, all_private);
    const bool in_cgroup =
        input->alone && wishes->limit_bytes == 0 && snapshot->container.facts != NULL;
    uint64_t kernel = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        kernel = number_add(kernel, kernel_of(snapshot->members[i].facts));
    }
    plan_add_fixed(
        input, "master", "processes beside the workers, private", others_private);
    plan_add_fixed(input, "shared", "shared by the workers, once", shared);
    plan_add_fixed(input, "kernel", "kernel memory of them",
        number_subtract(kernel, sums->kernel_bytes));
    if (wishes->others_given) {
        plan_add_fixed(input, "others", "other services, as told", wishes->others_bytes);
    } else if (wishes->limit_bytes == 0) {
        plan_add_fixed(input, "others",
            in_cgroup ? "others in the cgroup and its kernel memory"
                      : "other services and the kernel",
            billed_beside(snapshot, in_cgroup, pool_without_files(snapshot), kernel));
    }
    plan_add_reserve(input, wishes->reserve_percent);
}

/* Lowers the bound, by a number that can be one. */
static void bound_processors(
    struct plan_input *input, double processors, const char *source)
{
    if (processors > 0 && processors <= PLAN_PROCESSORS_MOST &&
        (input->processors <= 0 || processors < input->processors)) {
        input->processors = processors;
        input->processors_source = source;
    }
}

static double count_of(const struct fact *fact)
{
    return fact_is_known(fact) ? (double)fact->value : 0;
}

/* What is least of: CPUs online, affinity and cpuset of the workers, quota of the cgroup. */
static void set_processors(const struct snapshot *snapshot, const struct workers *workers,
    struct plan_input *input)
{
    const struct facts *facts = snapshot->facts;
    double allowed = 0;

    for (size_t i = 0; i < workers->count; i++) {
        allowed = fmax(allowed, count_of(&facts->processes[workers->indices[i]]
                                              .values[PROCESS_FACT_CPUS_ALLOWED]));
    }
    bound_processors(
        input, count_of(&facts->host.values[HOST_FACT_CPUS_ONLINE]), "online");
    bound_processors(input, allowed, "that the workers may run on");
    if (facts->target_cgroup >= 0 && (size_t)facts->target_cgroup < facts->cgroup_count) {
        const struct cgroup_facts *cgroup = &facts->cgroups[facts->target_cgroup];
        bound_processors(input,
            count_of(&cgroup->values[CGROUP_FACT_CPU_QUOTA]) / QUOTA_SECOND_US,
            "by the quota of the cgroup");
    }
}

int pool_plan_input(struct region *region, const struct snapshot *snapshot,
    const struct plan_wishes *wishes, struct plan_input *input)
{
    struct workers workers;
    struct worker_sums sums = {0};

    *input = (struct plan_input){.name = snapshot->facts->target_name,
        .server = server_of(snapshot),
        .samples_are_peaks = true};
    int rc = workers_find(region, snapshot->facts, &workers);
    if (rc != 0) {
        return rc;
    }
    input->private_bytes = region_alloc(region, (workers.count + 1) * sizeof(uint64_t));
    sums.bases = region_alloc(region, (workers.count + 1) * sizeof(uint64_t));
    if (input->private_bytes == NULL || sums.bases == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < workers.count; i++) {
        take_worker(&snapshot->members[workers.indices[i]], &sums, input);
    }
    if (sums.known == 0) {
        return -ENODATA;
    }
    input->source = region_printf(region,
        "one look at a live pool of %s; each counts at its peak so far",
        quantity_count(sums.known, "worker").text);
    if (input->source == NULL) {
        return -ENOMEM;
    }
    set_averages(&sums, input);
    input->workers_now = workers.count;
    take_fpm_pools(snapshot, input);
    bound_by_kernel(&input->heap);
    input->idle = input->heap.known && input->heap.kernel_peak_bytes == 0 &&
                  input->heap.peak_real_bytes <= PLAN_ZEND_CHUNK_BYTES &&
                  input->heap.peak_used_bytes < IDLE_USED_BYTES;
    if (wishes->memory_limit_bytes != 0) {
        input->heap.limit_bytes =
            (struct fact){.value = wishes->memory_limit_bytes, .state = FACT_OK};
        input->heap.limit_wished = true;
    }
    set_processors(snapshot, &workers, input);
    set_limit(snapshot, wishes, input);
    set_fixed(snapshot, wishes, &sums, input);
    return 0;
}
