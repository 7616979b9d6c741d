/*
 * schema.c - the one place that says which members a capture holds.
 *
 * The writer, the reader and the check all walk these tables, so a new member of a
 * struct needs one new row, here or for those of heaps in schema_heaps.c, and nothing else. A
 * row whose type is not the member's does not compile (schema_rows.def); test_schema finds a
 * member that has no row. Rows stand in the order of the members.
 */
#include "record/schema.h"

#include <string.h>

#include "facts_types/facts.h"
#include "record/schema_heaps.h"

#include "record/schema_rows.def"

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
