/*
 * schema.c - the one place that says which members a capture holds.
 *
 * The writer, the reader and the check all walk these tables, so a new member of a
 * struct needs one new row here and nothing else. AT() refuses to compile when a
 * row's type is not the member's; test_schema finds a member that has no row. Rows stand in
 * the order of the members.
 */
#include "record/schema.h"

#include <string.h>

#include "facts_types/facts.h"

/* clang-format off */

/* What every row has; the array has a negative size when the member is not of the type. */
#define MEMBER(S, M, T) \
    .name = #M, .bytes = sizeof(T), .offset_bytes = AT(S, M, T)
#define AT(S, M, T) \
    (offsetof(struct S, M) + 0 * sizeof(char[IS_OF_TYPE(S, M, T) ? 1 : -1]))
#define IS_OF_TYPE(S, M, T) \
    __builtin_types_compatible_p(__typeof__(((struct S *)0)->M), T)

#define BOOL(S, M)   {MEMBER(S, M, bool), .type = SCHEMA_BOOL}
#define I32(S, M)    {MEMBER(S, M, int32_t), .type = SCHEMA_I32}
#define U64(S, M)    {MEMBER(S, M, uint64_t), .type = SCHEMA_U64}
#define I64(S, M)    {MEMBER(S, M, int64_t), .type = SCHEMA_I64}
#define INDEX(S, M)  {MEMBER(S, M, int32_t), .type = SCHEMA_INDEX}
#define LETTER(S, M) {MEMBER(S, M, char), .type = SCHEMA_LETTER}
#define TEXT(S, M)   {MEMBER(S, M, char *), .type = SCHEMA_TEXT}
#define FACT(S, M)   {MEMBER(S, M, struct fact), .type = SCHEMA_FACT}
#define TEXT_ALWAYS(S, M) \
    {MEMBER(S, M, char *), .type = SCHEMA_TEXT, .required = true}
#define U32(S, M, MAXIMUM) \
    {MEMBER(S, M, uint32_t), .type = SCHEMA_U32, .maximum = (MAXIMUM)}
#define ENUM(S, M, NAMES, COUNT) \
    {MEMBER(S, M, uint32_t), .type = SCHEMA_ENUM, .names = (NAMES), .maximum = (COUNT)}
#define STATE(S, M) ENUM(S, M, fact_state_names, FACT_STATE_COUNT)
#define FACTS(S, M, TABLE, COUNT) \
    {MEMBER(S, M, struct fact[COUNT]), .type = SCHEMA_FACTS, .facts = (TABLE), \
     .maximum = (COUNT)}
#define STRUCT(S, M, T) \
    {MEMBER(S, M, struct T), .type = SCHEMA_STRUCT, .schema = &T##_schema}
#define ARRAY(S, M, COUNT, T, MAXIMUM) \
    {MEMBER(S, M, struct T *), .type = SCHEMA_ARRAY, .schema = &T##_schema, \
     .count_offset_bytes = AT(S, COUNT, size_t), .maximum = (MAXIMUM)}
#define SCHEMA(S) \
    {sizeof(struct S), S##_fields, sizeof(S##_fields) / sizeof(S##_fields[0])}

/* clang-format on */

enum {
    ALL_PERMISSIONS = MAPPING_READ | MAPPING_WRITE | MAPPING_EXECUTE | MAPPING_SHARED,
    ALL_MAPPING_FLAGS = MAPPING_NORESERVE | MAPPING_HUGETLB | MAPPING_LOCKED |
                        MAPPING_HUGEPAGE | MAPPING_NOHUGEPAGE | MAPPING_GROWSDOWN |
                        MAPPING_IO,
    MAXIMUM_CGROUP_VERSION = 2,
    MAXIMUM_ALLOCATORS = 64,
    MAXIMUM_ENVIRONMENT = 256,
};

static const struct schema_field gap_fields[] = {
    TEXT_ALWAYS(gap, fact),
    I32(gap, pid),
    STATE(gap, state),
    TEXT_ALWAYS(gap, why),
};
static const struct schema gap_schema = SCHEMA(gap);

static const struct schema_field mapping_fields[] = {
    U64(mapping, start),
    U64(mapping, end),
    U64(mapping, offset_bytes),
    U64(mapping, inode),
    U32(mapping, device_major, UINT32_MAX),
    U32(mapping, device_minor, UINT32_MAX),
    U32(mapping, permissions, ALL_PERMISSIONS),
    U32(mapping, flags, ALL_MAPPING_FLAGS),
    TEXT_ALWAYS(mapping, path),
    BOOL(mapping, deleted),
    FACTS(mapping, values, mapping_fact_table, MAPPING_FACT_COUNT),
};
static const struct schema mapping_schema = SCHEMA(mapping);

static const struct schema_field span_fields[] = {
    U64(span, start),
    U64(span, end),
    ENUM(span, owner, span_owner_names, SPAN_OWNER_COUNT),
    U32(span, index, UINT32_MAX),
    FACT(span, resident),
};
static const struct schema span_schema = SCHEMA(span);

static const struct schema_field glibc_arena_fields[] = {
    U64(glibc_arena, address),
    BOOL(glibc_arena, main),
    BOOL(glibc_arena, contiguous),
    STATE(glibc_arena, state),
    TEXT(glibc_arena, why),
    U64(glibc_arena, plus_minus_bytes),
    U64(glibc_arena, held_bytes),
    U64(glibc_arena, held_peak_bytes),
    U64(glibc_arena, in_use_bytes),
    U64(glibc_arena, in_use_chunks),
    U64(glibc_arena, free_bytes),
    U64(glibc_arena, free_chunks),
    U64(glibc_arena, fast_bytes),
    U64(glibc_arena, fast_chunks),
    U64(glibc_arena, top_bytes),
    U64(glibc_arena, overhead_bytes),
    U64(glibc_arena, largest_free_bytes),
    U64(glibc_arena, heap_count),
    U64(glibc_arena, attached_threads),
    U64(glibc_arena, cached_bytes),
    U64(glibc_arena, cached_chunks),
    STATE(glibc_arena, resident_state),
    U64(glibc_arena, resident_bytes),
    U64(glibc_arena, free_resident_bytes),
    U64(glibc_arena, trim_gain_bytes),
    U64(glibc_arena, top_resident_bytes),
    U64(glibc_arena, top_trimmable_bytes),
    FACT(glibc_arena, free_shared_bytes),
    U64(glibc_arena, pin_address),
    U64(glibc_arena, pin_bytes),
    U64(glibc_arena, pinned_free_bytes),
};
static const struct schema glibc_arena_schema = SCHEMA(glibc_arena);

static const struct schema_field glibc_parameters_fields[] = {
    STATE(glibc_parameters, state),
    U64(glibc_parameters, trim_threshold_bytes),
    U64(glibc_parameters, top_pad_bytes),
    U64(glibc_parameters, mmap_threshold_bytes),
    U64(glibc_parameters, arena_test),
    U64(glibc_parameters, arena_max),
    U64(glibc_parameters, mmapped_blocks),
    U64(glibc_parameters, mmapped_blocks_peak),
    U64(glibc_parameters, mmapped_bytes),
    U64(glibc_parameters, mmapped_peak_bytes),
    U64(glibc_parameters, sbrk_base),
    U64(glibc_parameters, tcache_bins),
    U64(glibc_parameters, tcache_max_bytes),
    U64(glibc_parameters, tcache_count),
    U64(glibc_parameters, thp_pagesize_bytes),
    BOOL(glibc_parameters, dynamic_threshold_off),
};
static const struct schema glibc_parameters_schema = SCHEMA(glibc_parameters);

static const struct schema_field glibc_facts_fields[] = {
    STATE(glibc_facts, state),
    TEXT(glibc_facts, why),
    TEXT(glibc_facts, version),
    U32(glibc_facts, layout, UINT32_MAX),
    BOOL(glibc_facts, static_binary),
    STRUCT(glibc_facts, parameters, glibc_parameters),
    ARRAY(glibc_facts, arenas, arena_count, glibc_arena, FACTS_MAX_ARENAS),
    FACT(glibc_facts, mmapped_found_bytes),
    FACT(glibc_facts, mmapped_resident_bytes),
    FACT(glibc_facts, tcaches),
    FACT(glibc_facts, tcache_bytes),
};
static const struct schema glibc_facts_schema = SCHEMA(glibc_facts);

static const struct schema_field zend_bin_fields[] = {
    U64(zend_bin, block_bytes),
    U64(zend_bin, runs),
    U64(zend_bin, pages),
    U64(zend_bin, blocks),
    U64(zend_bin, free_blocks),
};
static const struct schema zend_bin_schema = SCHEMA(zend_bin);

static const struct schema_field zend_heap_facts_fields[] = {
    U64(zend_heap_facts, address),
    U64(zend_heap_facts, main_chunk),
    STATE(zend_heap_facts, state),
    TEXT(zend_heap_facts, why),
    U64(zend_heap_facts, plus_minus_bytes),
    BOOL(zend_heap_facts, custom),
    BOOL(zend_heap_facts, found_by_symbol),
    U64(zend_heap_facts, used_bytes),
    U64(zend_heap_facts, real_bytes),
    U64(zend_heap_facts, peak_used_bytes),
    U64(zend_heap_facts, peak_real_bytes),
    FACT(zend_heap_facts, limit_bytes),
    FACT(zend_heap_facts, hard_limit_bytes),
    U64(zend_heap_facts, chunks),
    U64(zend_heap_facts, peak_chunks),
    U64(zend_heap_facts, cached_chunks),
    U64(zend_heap_facts, average_chunks_thousandths),
    U64(zend_heap_facts, small_pages),
    U64(zend_heap_facts, small_live_bytes),
    U64(zend_heap_facts, small_free_bytes),
    U64(zend_heap_facts, run_tail_bytes),
    U64(zend_heap_facts, large_pages),
    U64(zend_heap_facts, large_runs),
    U64(zend_heap_facts, free_pages),
    U64(zend_heap_facts, largest_free_pages),
    U64(zend_heap_facts, huge_blocks),
    U64(zend_heap_facts, huge_bytes),
    U64(zend_heap_facts, half_chunks),
    U64(zend_heap_facts, third_chunks),
    U64(zend_heap_facts, quarter_chunks),
    STATE(zend_heap_facts, resident_state),
    U64(zend_heap_facts, resident_bytes),
    U64(zend_heap_facts, free_resident_bytes),
    U64(zend_heap_facts, cached_resident_bytes),
    U64(zend_heap_facts, huge_resident_bytes),
    STATE(zend_heap_facts, deep_state),
    TEXT(zend_heap_facts, deep_why),
    ARRAY(zend_heap_facts, bins, bin_count, zend_bin, ZEND_BIN_COUNT),
    U64(zend_heap_facts, gc_bytes),
    U64(zend_heap_facts, gc_real_bytes),
    U64(zend_heap_facts, gc_resident_bytes),
};
static const struct schema zend_heap_facts_schema = SCHEMA(zend_heap_facts);

static const struct schema_field zend_facts_fields[] = {
    STATE(zend_facts, state),
    TEXT(zend_facts, why),
    TEXT(zend_facts, version),
    BOOL(zend_facts, thread_safe),
    ARRAY(zend_facts, heaps, heap_count, zend_heap_facts, ZEND_MAX_HEAPS),
};
static const struct schema zend_facts_schema = SCHEMA(zend_facts);

static const struct schema_field mysql_event_fields[] = {
    TEXT_ALWAYS(mysql_event, name),
    I64(mysql_event, bytes),
    U64(mysql_event, high_bytes),
    I64(mysql_event, blocks),
};
static const struct schema mysql_event_schema = SCHEMA(mysql_event);

static const struct schema_field mysql_owner_fields[] = {
    TEXT_ALWAYS(mysql_owner, name),
    U64(mysql_owner, thread_id),
    I64(mysql_owner, bytes),
};
static const struct schema mysql_owner_schema = SCHEMA(mysql_owner);

static const struct schema_field mysql_facts_fields[] = {
    STATE(mysql_facts, state),
    TEXT(mysql_facts, why),
    ENUM(mysql_facts, family, mysql_family_names, MYSQL_FAMILY_COUNT),
    TEXT(mysql_facts, version),
    TEXT(mysql_facts, address),
    TEXT(mysql_facts, malloc_library),
    TEXT(mysql_facts, flush_method),
    TEXT(mysql_facts, thread_handling),
    FACTS(mysql_facts, values, mysql_fact_table, MYSQL_FACT_COUNT),
    STATE(mysql_facts, memory_state),
    TEXT(mysql_facts, memory_why),
    ENUM(mysql_facts, since, mysql_since_names, MYSQL_SINCE_COUNT),
    ARRAY(mysql_facts, events, event_count, mysql_event, MYSQL_MAX_EVENTS),
    ARRAY(mysql_facts, threads, thread_count, mysql_owner, MYSQL_MAX_THREADS),
    ARRAY(mysql_facts, accounts, account_count, mysql_owner, MYSQL_MAX_ACCOUNTS),
};
static const struct schema mysql_facts_schema = SCHEMA(mysql_facts);

static const struct schema_field strata_class_facts_fields[] = {
    U64(strata_class_facts, block_bytes),
    U64(strata_class_facts, slabs),
    U64(strata_class_facts, in_use_blocks),
    U64(strata_class_facts, cached_blocks),
    U64(strata_class_facts, free_blocks),
    U64(strata_class_facts, touched_bytes),
    U64(strata_class_facts, peak_blocks),
    U64(strata_class_facts, purged_bytes),
    U64(strata_class_facts, sampled_requests),
    U64(strata_class_facts, sampled_bytes),
};
static const struct schema strata_class_facts_schema = SCHEMA(strata_class_facts);

static const struct schema_field strata_thread_facts_fields[] = {
    I32(strata_thread_facts, thread_id),
    TEXT(strata_thread_facts, name),
    U64(strata_thread_facts, used_bytes),
    U64(strata_thread_facts, peak_bytes),
    U64(strata_thread_facts, ceiling_bytes),
    U64(strata_thread_facts, refused),
};
static const struct schema strata_thread_facts_schema = SCHEMA(strata_thread_facts);

static const struct schema_field strata_record_facts_fields[] = {
    U32(strata_record_facts, thread, STRATA_MAX_THREADS - 1),
    TEXT_ALWAYS(strata_record_facts, tag),
    U64(strata_record_facts, used_bytes),
    U64(strata_record_facts, used_blocks),
    U64(strata_record_facts, peak_bytes),
    U64(strata_record_facts, allocations),
};
static const struct schema strata_record_facts_schema = SCHEMA(strata_record_facts);

static const struct schema_field strata_facts_fields[] = {
    STATE(strata_facts, state),
    TEXT(strata_facts, why),
    U32(strata_facts, layout_version, UINT32_MAX),
    BOOL(strata_facts, shared),
    U64(strata_facts, plus_minus_bytes),
    U64(strata_facts, generation),
    U64(strata_facts, in_use_bytes),
    U64(strata_facts, in_use_blocks),
    U64(strata_facts, cached_bytes),
    U64(strata_facts, held_bytes),
    U64(strata_facts, free_bytes),
    U64(strata_facts, touched_bytes),
    U64(strata_facts, free_touched_bytes),
    U64(strata_facts, large_bytes),
    U64(strata_facts, large_blocks),
    U64(strata_facts, huge_bytes),
    U64(strata_facts, huge_blocks),
    U64(strata_facts, large_asked_bytes),
    U64(strata_facts, mixed_bytes),
    U64(strata_facts, mixed_touched_bytes),
    U64(strata_facts, span_free_bytes),
    U64(strata_facts, span_touched_bytes),
    U64(strata_facts, slab_tail_bytes),
    U64(strata_facts, descriptor_bytes),
    U64(strata_facts, table_bytes),
    U64(strata_facts, purged_bytes),
    U64(strata_facts, trims),
    U64(strata_facts, peak_span_bytes),
    U64(strata_facts, peak_large_bytes),
    U64(strata_facts, limit_hard_bytes),
    U64(strata_facts, limit_soft_bytes),
    U64(strata_facts, limit_charged_bytes),
    U64(strata_facts, limit_peak_bytes),
    U64(strata_facts, limit_refused),
    U64(strata_facts, limit_purges),
    BOOL(strata_facts, places_known),
    STATE(strata_facts, resident_state),
    U64(strata_facts, resident_bytes),
    U64(strata_facts, huge_resident_bytes),
    U64(strata_facts, free_resident_bytes),
    ARRAY(strata_facts, classes, class_count, strata_class_facts, STRATA_MAX_CLASSES),
    ARRAY(strata_facts, threads, thread_count, strata_thread_facts, STRATA_MAX_THREADS),
    ARRAY(strata_facts, records, record_count, strata_record_facts, STRATA_MAX_RECORDS),
};
static const struct schema strata_facts_schema = SCHEMA(strata_facts);

static const struct schema_field allocator_facts_fields[] = {
    ENUM(allocator_facts, kind, allocator_kind_names, ALLOCATOR_KIND_COUNT),
    BOOL(allocator_facts, active),
    BOOL(allocator_facts, preloaded),
    BOOL(allocator_facts, linked_statically),
    TEXT(allocator_facts, evidence),
    TEXT(allocator_facts, version),
};
static const struct schema allocator_facts_schema = SCHEMA(allocator_facts);

static const struct schema_field environment_facts_fields[] = {
    TEXT_ALWAYS(environment_facts, name),
    TEXT_ALWAYS(environment_facts, value),
};
static const struct schema environment_facts_schema = SCHEMA(environment_facts);

static const struct schema_field process_facts_fields[] = {
    I32(process_facts, pid),
    I32(process_facts, parent_pid),
    U64(process_facts, start_time_ticks),
    U64(process_facts, start_unix_seconds),
    U32(process_facts, user_id, UINT32_MAX),
    I32(process_facts, namespace_pid),
    LETTER(process_facts, run_state),
    BOOL(process_facts, kernel_thread),
    TEXT_ALWAYS(process_facts, name),
    TEXT(process_facts, title),
    TEXT(process_facts, executable),
    BOOL(process_facts, executable_deleted),
    INDEX(process_facts, cgroup_index),
    FACTS(process_facts, values, process_fact_table, PROCESS_FACT_COUNT),
    STATE(process_facts, mappings_state),
    BOOL(process_facts, mappings_have_values),
    ARRAY(process_facts, mappings, mapping_count, mapping, FACTS_MAX_MAPPINGS),
    ARRAY(process_facts, spans, span_count, span, FACTS_MAX_SPANS),
    STRUCT(process_facts, glibc, glibc_facts),
    STRUCT(process_facts, zend, zend_facts),
    STRUCT(process_facts, strata, strata_facts),
    ARRAY(process_facts, mysql, mysql_count, mysql_facts, MYSQL_MAX_SERVERS),
    ARRAY(
        process_facts, allocators, allocator_count, allocator_facts, MAXIMUM_ALLOCATORS),
    ARRAY(process_facts, environment, environment_count, environment_facts,
        MAXIMUM_ENVIRONMENT),
    STATE(process_facts, environment_state),
    STATE(process_facts, preload_state),
};
static const struct schema process_facts_schema = SCHEMA(process_facts);

static const struct schema_field fpm_worker_facts_fields[] = {
    I32(fpm_worker_facts, pid),
    TEXT_ALWAYS(fpm_worker_facts, state),
    U64(fpm_worker_facts, requests),
    FACT(fpm_worker_facts, last_request_memory),
};
static const struct schema fpm_worker_facts_schema = SCHEMA(fpm_worker_facts);

static const struct schema_field fpm_pool_facts_fields[] = {
    TEXT_ALWAYS(fpm_pool_facts, name),
    TEXT(fpm_pool_facts, file),
    STATE(fpm_pool_facts, config_state),
    TEXT(fpm_pool_facts, config_why),
    ENUM(fpm_pool_facts, manager, fpm_manager_names, FPM_MANAGER_COUNT),
    FACT(fpm_pool_facts, max_children),
    FACT(fpm_pool_facts, start_servers),
    FACT(fpm_pool_facts, min_spare),
    FACT(fpm_pool_facts, max_spare),
    FACT(fpm_pool_facts, max_requests),
    FACT(fpm_pool_facts, idle_timeout_seconds),
    FACT(fpm_pool_facts, memory_limit_bytes),
    BOOL(fpm_pool_facts, memory_limit_admin),
    BOOL(fpm_pool_facts, opcache_size_in_pool),
    TEXT(fpm_pool_facts, listen),
    TEXT(fpm_pool_facts, status_path),
    TEXT(fpm_pool_facts, status_listen),
    STATE(fpm_pool_facts, status_state),
    TEXT(fpm_pool_facts, status_why),
    FACT(fpm_pool_facts, accepted_connections),
    FACT(fpm_pool_facts, listen_queue),
    FACT(fpm_pool_facts, idle),
    FACT(fpm_pool_facts, active),
    FACT(fpm_pool_facts, total),
    FACT(fpm_pool_facts, max_active),
    FACT(fpm_pool_facts, max_children_reached),
    FACT(fpm_pool_facts, slow_requests),
    FACT(fpm_pool_facts, memory_peak),
    ARRAY(fpm_pool_facts, workers, worker_count, fpm_worker_facts, FPM_MAX_WORKERS),
};
static const struct schema fpm_pool_facts_schema = SCHEMA(fpm_pool_facts);

static const struct schema_field cgroup_facts_fields[] = {
    U32(cgroup_facts, version, MAXIMUM_CGROUP_VERSION),
    BOOL(cgroup_facts, hybrid),
    BOOL(cgroup_facts, root),
    BOOL(cgroup_facts, deleted),
    BOOL(cgroup_facts, namespaced),
    TEXT_ALWAYS(cgroup_facts, path),
    TEXT(cgroup_facts, charged_path),
    TEXT(cgroup_facts, limit_path),
    TEXT(cgroup_facts, headroom_path),
    TEXT(cgroup_facts, runtime),
    TEXT(cgroup_facts, container_id),
    TEXT(cgroup_facts, unit),
    TEXT(cgroup_facts, pod_uid),
    STATE(cgroup_facts, state),
    TEXT(cgroup_facts, why),
    FACTS(cgroup_facts, values, cgroup_fact_table, CGROUP_FACT_COUNT),
};
static const struct schema cgroup_facts_schema = SCHEMA(cgroup_facts);

static const struct schema_field host_facts_fields[] = {
    U64(host_facts, page_bytes),
    U64(host_facts, clock_ticks_per_second),
    U64(host_facts, boot_unix_seconds),
    TEXT(host_facts, kernel),
    TEXT(host_facts, machine),
    TEXT(host_facts, hypervisor),
    TEXT(host_facts, thp_enabled),
    TEXT(host_facts, thp_defrag),
    BOOL(host_facts, page_counts_estimated),
    STATE(host_facts, page_counts_state),
    FACTS(host_facts, values, host_fact_table, HOST_FACT_COUNT),
};
static const struct schema host_facts_schema = SCHEMA(host_facts);

static const struct schema_field facts_fields[] = {
    U32(facts, schema, FACTS_SCHEMA),
    I64(facts, taken_at_unix_ns),
    ENUM(facts, target_kind, target_kind_names, TARGET_KIND_COUNT),
    TEXT_ALWAYS(facts, target_name),
    STRUCT(facts, host, host_facts),
    ARRAY(facts, processes, process_count, process_facts, FACTS_MAX_PROCESSES),
    ARRAY(facts, cgroups, cgroup_count, cgroup_facts, FACTS_MAX_CGROUPS),
    ARRAY(facts, fpm_pools, fpm_pool_count, fpm_pool_facts, FPM_MAX_POOLS),
    INDEX(facts, target_cgroup),
    FACT(facts, unique_bytes),
    FACT(facts, exclusive_bytes),
    FACT(facts, competitor_oom_score),
    I32(facts, competitor_pid),
    TEXT(facts, competitor_name),
    ARRAY(facts, gaps, gap_count, gap, FACTS_MAX_GAPS),
    U64(facts, cost_wall_us),
    U64(facts, cost_bytes_read),
};
const struct schema facts_schema = SCHEMA(facts);

void *schema_items(const struct schema_field *field, const void *data, size_t *count)
{
    void *items;

    memcpy(&items, (const char *)data + field->offset_bytes, sizeof(items));
    memcpy(count, (const char *)data + field->count_offset_bytes, sizeof(*count));
    return items;
}

static bool facts_are_absent(const struct schema_field *field, const void *at)
{
    const struct fact *facts = at;

    for (size_t i = 0; i < field->maximum; i++) {
        if (facts[i].state != FACT_ABSENT) {
            return false;
        }
    }
    return true;
}

static bool is_zero(const void *data, size_t bytes)
{
    const char *at = data;

    return bytes == 0 || (*at == 0 && memcmp(at, at + 1, bytes - 1) == 0);
}

bool schema_field_is_default(const struct schema_field *field, const void *data)
{
    const void *at = (const char *)data + field->offset_bytes;
    int32_t index;
    size_t count;

    switch (field->type) {
    case SCHEMA_INDEX:
        memcpy(&index, at, sizeof(index));
        return index == SCHEMA_NO_INDEX;
    case SCHEMA_FACT:
        return ((const struct fact *)at)->state == FACT_ABSENT;
    case SCHEMA_FACTS:
        return facts_are_absent(field, at);
    case SCHEMA_STRUCT:
        return schema_is_default(field->schema, at);
    case SCHEMA_ARRAY:
        (void)schema_items(field, data, &count);
        return count == 0;
    case SCHEMA_BOOL:
    case SCHEMA_U32:
    case SCHEMA_I32:
    case SCHEMA_U64:
    case SCHEMA_I64:
    case SCHEMA_LETTER:
    case SCHEMA_TEXT:
    case SCHEMA_ENUM:
        break;
    }
    return is_zero(at, field->bytes);
}

bool schema_is_default(const struct schema *schema, const void *data)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        if (!schema_field_is_default(&schema->fields[i], data)) {
            return false;
        }
    }
    return true;
}
