/*
 * fpm.c - pools in front of the memory there is.
 *
 * What there is: the smaller of the machine's memory and the limit of the target's cgroup.
 * All pools of a master count, also those that are not the target: they share it.
 */
#include "findings/fpm.h"

#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum {
    WORST_WARN_PERCENT = 100,
    EXPECTED_WARN_PERCENT = 80,
    EXPECTED_CRITICAL_PERCENT = 100,
};

/* A status that says this much more than the heap holds is worth a word. */
static const uint64_t status_difference_bytes = 4 * FINDING_MIB;

/* Memory that the pools have to share, 0 when unknown; *what names the bound. */
static uint64_t memory_there_is(const struct snapshot *snapshot, const char **what)
{
    const struct facts *facts = snapshot->facts;
    const struct fact *total = &facts->host.values[HOST_FACT_MEM_TOTAL];
    uint64_t bytes = fact_is_known(total) ? total->value : 0;

    *what = "the machine";
    if (snapshot->container.facts != NULL) {
        const struct fact *limit = &snapshot->container.limit;
        if (fact_is_known(limit) && (bytes == 0 || limit->value < bytes)) {
            bytes = limit->value;
            *what = "its cgroup";
        }
    }
    return bytes;
}

/* memory_limit of a live heap of the members: ini files and scripts have had their say. */
static struct fact live_limit(const struct snapshot *snapshot)
{
    struct fact largest = {.state = FACT_ABSENT};

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct zend_facts *zend = &snapshot->members[i].facts->zend;
        for (size_t j = 0; j < zend->heap_count; j++) {
            const struct fact *limit = &zend->heaps[j].limit_bytes;
            if (fact_is_known(limit) && limit->value >= largest.value) {
                largest = *limit;
            }
        }
    }
    return largest;
}

/* Sums over the pools whose numbers are known. */
struct pool_sums {
    size_t pools;
    uint64_t children;
    uint64_t worst_bytes;
    bool limit_known; /* of every pool */
};

static struct pool_sums sum_pools(const struct snapshot *snapshot)
{
    const struct facts *facts = snapshot->facts;
    const struct fact live = live_limit(snapshot);
    struct pool_sums sums = {.limit_known = true};

    for (size_t i = 0; i < facts->fpm_pool_count; i++) {
        const struct fpm_pool_facts *pool = &facts->fpm_pools[i];
        const struct fact *limit =
            fact_is_known(&pool->memory_limit_bytes) ? &pool->memory_limit_bytes : &live;
        uint64_t worst;
        if (!fact_is_known(&pool->max_children)) {
            continue;
        }
        sums.pools++;
        sums.children = number_add(sums.children, pool->max_children.value);
        sums.limit_known = sums.limit_known && fact_is_known(limit);
        if (__builtin_mul_overflow(limit->value, pool->max_children.value, &worst)) {
            worst = UINT64_MAX;
        }
        sums.worst_bytes = number_add(sums.worst_bytes, worst);
    }
    return sums;
}

int rule_fpm_worst_case(const struct snapshot *snapshot, struct finding_list *list)
{
    const char *what;
    const uint64_t memory = memory_there_is(snapshot, &what);
    const struct pool_sums sums = sum_pools(snapshot);
    struct finding finding = {.severity = SEVERITY_INFO};

    if (sums.pools == 0 || !sums.limit_known || memory == 0 ||
        !at_least_percent(sums.worst_bytes, memory, WORST_WARN_PERCENT)) {
        return 0;
    }
    const uint64_t each_bytes = sums.children == 0 ? 0 : sums.worst_bytes / sums.children;
    finding.summary = finding_printf(list, "%s at memory_limit would need %s; %s has %s",
        quantity_count(sums.children, "worker").text,
        quantity_bytes(sums.worst_bytes, false).text, what,
        quantity_bytes(memory, false).text);
    finding.reasoning =
        "the worst case, which an attacker or one bad page can bring about; whether it "
        "is near is told by the peaks of the workers, not by this sum";
    finding_add_count(&finding, "pools", sums.pools);
    finding_add_count(&finding, "max_children", sums.children);
    finding_add_bytes(&finding, "worst_case", sums.worst_bytes);
    finding_add_bytes(&finding, "memory", memory);
    finding.fix = finding_printf(list,
        "; in the pools' files, so that children x memory_limit fits\n"
        "pm.max_children = %" PRIu64 "   ; over all pools, at today's memory_limit",
        each_bytes == 0 ? sums.children : memory / each_bytes);
    finding.verify = finding_printf(list, "strata explain %s: worst_case is below memory",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* Private bytes of a worker, on average over the members that are workers. */
static uint64_t private_of_worker(const struct snapshot *snapshot)
{
    uint64_t sum = 0;
    uint64_t workers = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_view *member = &snapshot->members[i];
        bool known;
        const uint64_t bytes = layer_bytes(&member->layers[LAYER_EXCLUSIVE], &known);
        if (known && member->facts->zend.heap_count > 0 && member->facts->title != NULL &&
            strstr(member->facts->title, "pool ") != NULL) {
            sum = number_add(sum, bytes);
            workers++;
        }
    }
    return workers == 0 ? 0 : sum / workers;
}

int rule_fpm_children_overcommit(
    const struct snapshot *snapshot, struct finding_list *list)
{
    const char *what;
    const uint64_t memory = memory_there_is(snapshot, &what);
    const struct pool_sums sums = sum_pools(snapshot);
    const uint64_t each = private_of_worker(snapshot);
    struct finding finding = {.severity = SEVERITY_WARN};
    uint64_t expected;

    if (sums.children == 0 || each == 0 || memory == 0) {
        return 0;
    }
    if (__builtin_mul_overflow(each, sums.children, &expected)) {
        expected = UINT64_MAX;
    }
    if (!at_least_percent(expected, memory, EXPECTED_WARN_PERCENT)) {
        return 0;
    }
    if (at_least_percent(expected, memory, EXPECTED_CRITICAL_PERCENT)) {
        finding.severity = SEVERITY_CRITICAL;
    }
    finding.summary = finding_printf(list,
        "%s may start %s; at today's %s of private memory each that is %s of the %s that "
        "%s has",
        quantity_count(sums.pools, "pool").text,
        quantity_count(sums.children, "worker").text, quantity_bytes(each, false).text,
        quantity_bytes(expected, false).text, quantity_bytes(memory, false).text, what);
    finding.reasoning = "private pages are what one more worker adds; the shared part is "
                        "there once and left out";
    finding_add_count(&finding, "max_children", sums.children);
    finding_add_bytes(&finding, "private_each", each);
    finding_add_bytes(&finding, "expected", expected);
    finding_add_bytes(&finding, "memory", memory);
    finding.fix = finding_printf(list,
        "; in the pools' files\n"
        "pm.max_children = %" PRIu64 "   ; over all pools: 70 %% of memory",
        memory / 10 * 7 / each);
    finding.verify = finding_printf(
        list, "strata explain %s: expected is below memory", fix_target(list, snapshot));
    return finding_push(list, &finding);
}

int rule_fpm_opcache_in_pool(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct facts *facts = snapshot->facts;

    for (size_t i = 0; i < facts->fpm_pool_count; i++) {
        const struct fpm_pool_facts *pool = &facts->fpm_pools[i];
        struct finding finding = {.severity = SEVERITY_INFO};
        if (!pool->opcache_size_in_pool) {
            continue;
        }
        finding.summary = finding_printf(list,
            "pool '%s' sets opcache.memory_consumption, which has no effect there",
            pool->name);
        finding.reasoning = "opcache's memory is made by the master before any pool "
                            "exists, and all pools share it; a value in a pool only "
                            "falsifies opcache's own statistics";
        finding_add_text(&finding, "pool", pool->name);
        finding_add_text(&finding, "file", pool->file);
        finding.fix = "; in php.ini, and not in the pool\n"
                      "opcache.memory_consumption = 128";
        finding.verify = "strata explain shows the shared memory's size after a restart";
        return finding_push(list, &finding);
    }
    return 0;
}

/* The member which FPM calls pid, with one heap at rest; NULL when there is none. */
static const struct process_facts *worker_at_rest(
    const struct snapshot *snapshot, int32_t pid)
{
    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        const int32_t own =
            process->namespace_pid != 0 ? process->namespace_pid : process->pid;
        if (own == pid && process->zend.heap_count == 1 &&
            process->zend.heaps[0].state == FACT_OK) {
            return process;
        }
    }
    return NULL;
}

/*
 * The peak of a request starts at the chunks that were kept before it, and how many these were
 * is known to nobody afterwards: those that are kept now may be of this request. Where there
 * was no request before, what FPM says is the request's own need.
 */
static bool may_count_kept(
    const struct fpm_worker_facts *worker, const struct zend_heap_facts *heap)
{
    const uint64_t said = worker->last_request_memory.value;

    return fact_is_known(&worker->last_request_memory) && worker->requests > 1 &&
           heap->cached_chunks > 0 &&
           number_subtract(said, heap->used_bytes) >= status_difference_bytes;
}

/* The worker of which FPM says most, that may be too much; NULL: none. */
static const struct fpm_worker_facts *most_overstated(
    const struct snapshot *snapshot, const struct process_facts **process)
{
    const struct facts *facts = snapshot->facts;
    const struct fpm_worker_facts *most = NULL;

    for (size_t i = 0; i < facts->fpm_pool_count; i++) {
        const struct fpm_pool_facts *pool = &facts->fpm_pools[i];
        for (size_t j = 0; j < pool->worker_count; j++) {
            const struct fpm_worker_facts *worker = &pool->workers[j];
            const struct process_facts *own = worker_at_rest(snapshot, worker->pid);
            if (own != NULL && may_count_kept(worker, &own->zend.heaps[0]) &&
                (most == NULL || worker->last_request_memory.value >
                                     most->last_request_memory.value)) {
                most = worker;
                *process = own;
            }
        }
    }
    return most;
}

int rule_fpm_status_memory(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct process_facts *process = NULL;
    const struct fpm_worker_facts *worker = most_overstated(snapshot, &process);
    struct finding finding = {.severity = SEVERITY_INFO};

    if (worker == NULL) {
        return 0;
    }
    const struct zend_heap_facts *heap = &process->zend.heaps[0];
    const uint64_t said = worker->last_request_memory.value;

    finding.pid = process->pid;
    finding.summary = finding_printf(list,
        "FPM's status says %s for the last request of a worker; chunks that its %s "
        "before left may be part of it, %s are kept now",
        quantity_bytes(said, false).text,
        quantity_count(worker->requests - 1, "request").text,
        quantity_bytes(heap->cached_chunks * 2 * FINDING_MIB, false).text);
    finding.reasoning =
        "'last request memory' is the peak of real, chunks that were kept before the "
        "request included, and 0 while a worker is busy: whether this request needed as "
        "much is not to be seen afterwards";
    finding_add_bytes(&finding, "last_request_memory", said);
    finding_add_count(&finding, "requests", worker->requests);
    finding_add_bytes(&finding, "used", heap->used_bytes);
    finding_add_bytes(&finding, "real", heap->real_bytes);
    finding_add_count(&finding, "cached_chunks", heap->cached_chunks);
    finding.fix =
        "# nothing to change: size the pool by the private memory of its workers";
    finding.verify = finding_printf(
        list, "strata explain %s: peak_real of each worker", fix_target(list, snapshot));
    return finding_push(list, &finding);
}
