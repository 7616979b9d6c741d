/*
 * facts_random.c - a decoder of arbitrary bytes into facts of any shape.
 *
 * Each choice consumes bytes of the input; when they are used up every choice is 0. So
 * a fuzzer can steer each field, and short inputs make small facts.
 */
#include "facts_random.h"

#include <stdbool.h>

struct source {
    const uint8_t *bytes;
    size_t left;
};

static uint64_t take(struct source *source, unsigned count)
{
    uint64_t value = 0;

    for (unsigned i = 0; i < count && source->left > 0; i++) {
        value = value << 8 | *source->bytes;
        source->bytes++;
        source->left--;
    }
    return value;
}

/* Small most of the time, page multiples often, and now and then anything at all. */
static uint64_t take_amount(struct source *source)
{
    const uint64_t kind = take(source, 1);

    if (kind < 8) {
        return take(source, 8);
    }
    if (kind == 8) {
        return UINT64_MAX;
    }
    return kind < 192 ? take(source, 2) * 4096 : take(source, 4);
}

static struct fact take_fact(struct source *source)
{
    const uint64_t state = take(source, 1);
    struct fact fact = {.state = FACT_OK};

    if (state >= 240) {
        fact.state = (enum fact_state)(state % FACT_STATE_COUNT);
    }
    fact.value = take_amount(source);
    fact.plus_minus = state == 1 ? take_amount(source) : 0;
    return fact;
}

static uint32_t take_state(struct source *source)
{
    const uint64_t state = take(source, 1);

    return state < 200 ? FACT_OK : (uint32_t)(state % FACT_STATE_COUNT);
}

static char *take_text(struct facts *facts, struct source *source)
{
    static const char *const texts[] = {"", "", "", "", "[heap]", "[stack]", "[anon:x]",
        "/usr/sbin/mariadbd", "/lib/libc.so.6", "/dev/zero", "/memfd:a", "/SYSV00000000",
        "/dev/shm/p", "/dev/dri/card0", "[vdso]", "/var/lib/data", "server\n; rm -rf /",
        "mysqld", "php-fpm8.2", "php-fpm: pool www", "php-fpm: pool www"};

    return region_copy_text(
        &facts->region, texts[take(source, 1) % (sizeof(texts) / sizeof(texts[0]))]);
}

static void take_mappings(
    struct facts *facts, struct process_facts *process, struct source *source)
{
    const uint64_t count = take(source, 1) % 48;
    uint64_t address = 0;

    for (uint64_t i = 0; i < count; i++) {
        struct mapping *mapping = region_grow(&facts->region, &process->mappings,
            process->mapping_count, FACTS_MAX_MAPPINGS, sizeof(*mapping));
        char *path = take_text(facts, source);

        if (mapping == NULL || path == NULL) {
            return;
        }
        process->mapping_count++;
        address += take(source, 1) % 3 == 0 ? take_amount(source) : 0;
        mapping->start = address;
        address += take_amount(source);
        mapping->end = address;
        mapping->path = path;
        mapping->inode = path[0] == '/' ? take(source, 1) % 4 + 1 : 0;
        mapping->permissions = (uint32_t)take(source, 1) % 16;
        mapping->flags = (uint32_t)take(source, 1);
        for (int f = 0; f < MAPPING_FACT_COUNT; f++) {
            mapping->values[f] = take_fact(source);
        }
    }
}

static void take_spans(
    struct facts *facts, struct process_facts *process, struct source *source)
{
    const uint64_t count = take(source, 1) % 32;
    uint64_t address = 0;

    for (uint64_t i = 0; i < count; i++) {
        struct span *span = region_grow(&facts->region, &process->spans,
            process->span_count, FACTS_MAX_SPANS, sizeof(*span));

        if (span == NULL) {
            return;
        }
        process->span_count++;
        address += take_amount(source);
        span->start = address;
        address += take_amount(source);
        span->end = address;
        span->owner = (uint32_t)take(source, 1) % (SPAN_OWNER_COUNT + (i == 31));
        span->index = (uint32_t)take(source, 1) % 8;
        span->resident = take_fact(source);
    }
}

static void take_arena(struct glibc_arena *arena, struct source *source)
{
    arena->main = take(source, 1) % 4 == 0;
    arena->state = take_state(source);
    arena->resident_state = take_state(source);
    arena->plus_minus_bytes = take_amount(source);
    arena->held_bytes = take_amount(source);
    arena->in_use_bytes = take_amount(source);
    arena->free_bytes = take_amount(source);
    arena->fast_bytes = take_amount(source);
    arena->top_bytes = take_amount(source);
    arena->heap_count = take_amount(source);
    arena->attached_threads = take_amount(source);
    arena->cached_bytes = take_amount(source);
    arena->resident_bytes = take_amount(source);
    arena->free_resident_bytes = take_amount(source);
    arena->trim_gain_bytes = take_amount(source);
    arena->top_resident_bytes = take_amount(source);
    arena->top_trimmable_bytes = take_amount(source);
    arena->free_shared_bytes = take_fact(source);
    arena->pin_address = take_amount(source);
    arena->pin_bytes = take_amount(source);
    arena->pinned_free_bytes = take_amount(source);
}

static void take_glibc(
    struct facts *facts, struct process_facts *process, struct source *source)
{
    struct glibc_facts *glibc = &process->glibc;
    const uint64_t count = take(source, 1) % 12;

    glibc->state = take_state(source);
    glibc->parameters.state = take_state(source);
    glibc->parameters.mmapped_bytes = take_amount(source);
    glibc->parameters.mmapped_blocks = take_amount(source);
    glibc->parameters.mmap_threshold_bytes = take_amount(source);
    glibc->parameters.trim_threshold_bytes = take_amount(source);
    glibc->parameters.arena_max = take_amount(source);
    glibc->mmapped_found_bytes = take_fact(source);
    glibc->mmapped_resident_bytes = take_fact(source);
    glibc->tcache_bytes = take_fact(source);
    for (uint64_t i = 0; i < count; i++) {
        struct glibc_arena *arena = region_grow(&facts->region, &glibc->arenas,
            glibc->arena_count, FACTS_MAX_ARENAS, sizeof(*arena));
        if (arena == NULL) {
            return;
        }
        glibc->arena_count++;
        take_arena(arena, source);
    }
}

static void take_zend_heap(struct zend_heap_facts *heap, struct source *source)
{
    heap->state = take_state(source);
    heap->custom = take(source, 1) == 1;
    heap->used_bytes = take(source, 1) % 2 == 0 ? take(source, 2) : take_amount(source);
    heap->real_bytes = take_amount(source);
    heap->peak_used_bytes = take_amount(source);
    heap->peak_real_bytes = take_amount(source);
    heap->limit_bytes = take_fact(source);
    heap->hard_limit_bytes = take_fact(source);
    heap->chunks = take_amount(source);
    heap->cached_chunks = take(source, 1);
    heap->small_pages = take_amount(source);
    heap->small_live_bytes = take_amount(source);
    heap->small_free_bytes = take_amount(source);
    heap->run_tail_bytes = take_amount(source);
    heap->large_pages = take_amount(source);
    heap->free_pages = take_amount(source);
    heap->huge_bytes = take_amount(source);
    heap->half_chunks = take(source, 1);
    heap->third_chunks = take(source, 1);
    heap->quarter_chunks = take(source, 1);
    heap->resident_state = take_state(source);
    heap->resident_bytes = take_amount(source);
    heap->free_resident_bytes = take_amount(source);
    heap->cached_resident_bytes = take_amount(source);
    heap->huge_resident_bytes = take_amount(source);
    heap->deep_state = take_state(source);
    heap->gc_bytes = take_amount(source);
    heap->gc_real_bytes = take_amount(source);
    heap->gc_resident_bytes = take_amount(source);
}

static void take_zend(
    struct facts *facts, struct process_facts *process, struct source *source)
{
    struct zend_facts *zend = &process->zend;
    const uint64_t count = take(source, 1) % 3;

    zend->state = count > 0 ? FACT_OK : FACT_ABSENT;
    zend->version = take_text(facts, source);
    for (uint64_t i = 0; i < count; i++) {
        struct zend_heap_facts *heap = region_grow(&facts->region, &zend->heaps,
            zend->heap_count, ZEND_MAX_HEAPS, sizeof(*heap));
        if (heap == NULL) {
            return;
        }
        zend->heap_count++;
        take_zend_heap(heap, source);
    }
}

static void take_strata_lists(
    struct facts *facts, struct strata_facts *strata, struct source *source)
{
    struct strata_class_facts *class = region_grow(
        &facts->region, &strata->classes, 0, STRATA_MAX_CLASSES, sizeof(*class));
    struct strata_thread_facts *thread = region_grow(
        &facts->region, &strata->threads, 0, STRATA_MAX_THREADS, sizeof(*thread));
    struct strata_record_facts *record = region_grow(
        &facts->region, &strata->records, 0, STRATA_MAX_RECORDS, sizeof(*record));
    char *tag = take_text(facts, source);

    if (class == NULL || thread == NULL || record == NULL || tag == NULL) {
        return;
    }
    strata->class_count = strata->thread_count = strata->record_count = 1;
    class->block_bytes = take_amount(source);
    class->slabs = take_amount(source);
    class->in_use_blocks = take_amount(source);
    class->cached_blocks = take_amount(source);
    class->touched_bytes = take_amount(source);
    class->sampled_requests = take(source, 1);
    class->sampled_bytes = take_amount(source);
    thread->thread_id = (int32_t)take(source, 1);
    thread->name = tag;
    thread->used_bytes = take_amount(source);
    record->thread = (uint32_t)take(source, 1) % 2;
    record->tag = tag;
    record->used_bytes = take_amount(source);
}

static void take_strata(
    struct facts *facts, struct process_facts *process, struct source *source)
{
    struct strata_facts *strata = &process->strata;

    if (take(source, 1) % 4 != 0) {
        return;
    }
    strata->state = take_state(source);
    strata->why = strata->state == FACT_OK ? NULL : take_text(facts, source);
    strata->shared = take(source, 1) % 2 == 0;
    strata->plus_minus_bytes = take_amount(source);
    strata->in_use_bytes = take_amount(source);
    strata->cached_bytes = take_amount(source);
    strata->held_bytes = take_amount(source);
    strata->free_bytes = take_amount(source);
    strata->touched_bytes = take_amount(source);
    strata->large_bytes = take_amount(source);
    strata->huge_bytes = take_amount(source);
    strata->huge_blocks = take(source, 1);
    strata->large_asked_bytes = take_amount(source);
    strata->mixed_bytes = take_amount(source);
    strata->mixed_touched_bytes = take_amount(source);
    strata->span_free_bytes = take_amount(source);
    strata->span_touched_bytes = take_amount(source);
    strata->slab_tail_bytes = take_amount(source);
    strata->descriptor_bytes = take_amount(source);
    strata->purged_bytes = take_amount(source);
    strata->limit_hard_bytes = take(source, 1) % 2 == 0 ? take_amount(source) : 0;
    strata->limit_charged_bytes = take_amount(source);
    strata->limit_peak_bytes = take_amount(source);
    strata->limit_refused = take(source, 1) % 8 == 0 ? take(source, 1) : 0;
    strata->places_known = take(source, 1) % 2 == 0;
    strata->resident_state = take_state(source);
    strata->resident_bytes = take_amount(source);
    strata->huge_resident_bytes = take_amount(source);
    strata->free_resident_bytes = take_amount(source);
    take_strata_lists(facts, strata, source);
}

static void take_events(
    struct facts *facts, struct mysql_facts *mysql, struct source *source)
{
    static const char *const names[] = {"memory/innodb/buf_buf_pool", "memory/sql/THD",
        "memory/performance_schema/hosts", "memory/innodb/x", "memory/mysys/KEY_CACHE"};
    const size_t count = take(source, 1) % 6;

    mysql->events = region_alloc(&facts->region, 6 * sizeof(*mysql->events));
    for (size_t i = 0; mysql->events != NULL && i < count; i++) {
        mysql->events[i] = (struct mysql_event){
            .name = (char *)(uintptr_t)names[take(source, 1) % 5],
            .bytes = (int64_t)(take_amount(source) >> 14) - (INT64_C(1) << 20),
        };
        mysql->event_count++;
    }
}

/* A server for every other process, so that rules which need several facts speak too. */
static void take_mysql(
    struct facts *facts, struct process_facts *process, struct source *source)
{
    struct mysql_facts *mysql = region_alloc(&facts->region, sizeof(*mysql));

    if (mysql == NULL || take(source, 1) % 2 == 0) {
        return;
    }
    mysql->state = take_state(source);
    mysql->family = (uint32_t)take(source, 1) % MYSQL_FAMILY_COUNT;
    mysql->version = take_text(facts, source);
    mysql->memory_state = take_state(source);
    mysql->since = (uint32_t)take(source, 1) % MYSQL_SINCE_COUNT;
    for (size_t i = 0; i < MYSQL_FACT_COUNT; i++) {
        mysql->values[i] = take_fact(source);
    }
    mysql->values[MYSQL_FACT_PERFORMANCE_SCHEMA].value %= 2;
    mysql->values[MYSQL_FACT_THREAD_CACHE_SIZE].value %= 64;
    mysql->values[MYSQL_FACT_MAX_USED_CONNECTIONS].value %= 100;
    take_events(facts, mysql, source);
    process->mysql = mysql;
    process->mysql_count = 1;
}

static void take_workers(
    struct facts *facts, struct fpm_pool_facts *pool, struct source *source)
{
    const uint64_t count = take(source, 1) % 4;

    for (uint64_t i = 0; i < count; i++) {
        struct fpm_worker_facts *worker = region_grow(&facts->region, &pool->workers,
            pool->worker_count, FPM_MAX_WORKERS, sizeof(*worker));
        if (worker == NULL) {
            return;
        }
        pool->worker_count++;
        worker->pid = take(source, 1) % 2 == 0 && facts->process_count > 0
                          ? facts->processes[0].pid
                          : (int32_t)take(source, 1);
        worker->state = take_text(facts, source);
        worker->requests = take_amount(source);
        worker->last_request_memory = take_fact(source);
    }
}

static void take_pools(struct facts *facts, struct source *source)
{
    const uint64_t count = take(source, 1) % 4;

    for (uint64_t i = 0; i < count; i++) {
        struct fpm_pool_facts *pool = region_grow(&facts->region, &facts->fpm_pools,
            facts->fpm_pool_count, FPM_MAX_POOLS, sizeof(*pool));
        if (pool == NULL) {
            return;
        }
        facts->fpm_pool_count++;
        pool->name = take_text(facts, source);
        pool->file = take_text(facts, source);
        pool->max_children = take_fact(source);
        pool->memory_limit_bytes = take_fact(source);
        pool->opcache_size_in_pool = take(source, 1) % 2 == 0;
        take_workers(facts, pool, source);
    }
}

static void take_allocators(
    struct facts *facts, struct process_facts *process, struct source *source)
{
    const uint64_t count = take(source, 1) % 3;

    for (uint64_t i = 0; i < count; i++) {
        struct allocator_facts *allocator = region_grow(&facts->region,
            &process->allocators, process->allocator_count, 8, sizeof(*allocator));
        if (allocator == NULL) {
            return;
        }
        process->allocator_count++;
        allocator->kind = (uint32_t)take(source, 1) % ALLOCATOR_KIND_COUNT;
        allocator->active = take(source, 1) % 2 == 0;
        allocator->evidence = take_text(facts, source);
    }
}

static bool take_process(struct facts *facts, struct source *source)
{
    struct process_facts *process = region_grow(&facts->region, &facts->processes,
        facts->process_count, FACTS_MAX_PROCESSES, sizeof(*process));

    if (process == NULL) {
        return false;
    }
    facts->process_count++;
    process->pid = (int32_t)take(source, 1);
    process->name = take_text(facts, source);
    process->title = process->name;
    process->run_state = take(source, 1) == 1 ? 'Z' : 'S';
    process->kernel_thread = take(source, 1) == 1;
    process->mappings_state = take_state(source);
    process->mappings_have_values = take(source, 1) < 230;
    process->preload_state = (uint32_t)take(source, 1) % FACT_STATE_COUNT;
    for (int f = 0; f < PROCESS_FACT_COUNT; f++) {
        process->values[f] = take_fact(source);
    }
    take_mappings(facts, process, source);
    take_spans(facts, process, source);
    take_glibc(facts, process, source);
    take_allocators(facts, process, source);
    take_zend(facts, process, source);
    take_mysql(facts, process, source);
    take_strata(facts, process, source);
    return true;
}

static void take_cgroup(struct facts *facts, struct source *source)
{
    struct cgroup_facts *cgroup = region_grow(
        &facts->region, &facts->cgroups, facts->cgroup_count, 1, sizeof(*cgroup));

    if (cgroup == NULL) {
        return;
    }
    facts->cgroup_count++;
    cgroup->version = (uint32_t)take(source, 1) % 2 + 1;
    cgroup->path = take_text(facts, source);
    cgroup->unit = take(source, 1) % 2 == 0 ? take_text(facts, source) : NULL;
    cgroup->container_id = take(source, 1) % 2 == 0 ? take_text(facts, source) : NULL;
    cgroup->runtime = cgroup->container_id;
    for (int f = 0; f < CGROUP_FACT_COUNT; f++) {
        cgroup->values[f] = take_fact(source);
    }
}

void facts_random(struct facts *facts, const uint8_t *bytes, size_t count)
{
    struct source source = {.bytes = bytes, .left = count};
    const uint64_t processes = take(&source, 1) % 5;

    *facts = (struct facts){.schema = FACTS_SCHEMA};
    region_init(&facts->region, (size_t)64 << 20);
    facts->target_kind = (uint32_t)take(&source, 1) % TARGET_KIND_COUNT;
    facts->target_cgroup = (int32_t)(take(&source, 1) % 3) - 1;
    facts->target_name = take_text(facts, &source);
    facts->unique_bytes = take_fact(&source);
    facts->exclusive_bytes = take_fact(&source);
    facts->competitor_oom_score = take_fact(&source);
    facts->competitor_pid = (int32_t)take(&source, 1);
    facts->competitor_name = take(&source, 1) % 2 == 0 ? take_text(facts, &source) : NULL;
    for (int f = 0; f < HOST_FACT_COUNT; f++) {
        facts->host.values[f] = take_fact(&source);
    }
    facts->host.thp_enabled = take_text(facts, &source);
    facts->host.hypervisor = take(&source, 1) % 2 == 0 ? take_text(facts, &source) : NULL;
    take_cgroup(facts, &source);
    for (uint64_t i = 0; i < processes; i++) {
        if (!take_process(facts, &source)) {
            return;
        }
    }
    take_pools(facts, &source);
}
