/*
 * facts_builder.c - the smallest facts that a reader could have delivered.
 *
 * Everything not set stays absent, as in a struct that no reader has filled.
 */
#include "facts_builder.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

struct fact fact_ok(uint64_t value)
{
    return (struct fact){.value = value, .state = FACT_OK};
}

void builder_init(struct facts *facts)
{
    *facts = (struct facts){
        .schema = FACTS_SCHEMA,
        .target_kind = TARGET_PROCESS,
        .target_cgroup = -1,
        .host.page_bytes = 4096,
    };
    region_init(&facts->region, (size_t)64 << 20);
}

void builder_release(struct facts *facts)
{
    region_release(&facts->region);
}

static char *copy(struct facts *facts, const char *text)
{
    char *text_copy = region_copy_text(&facts->region, text);

    assert_non_null(text_copy);
    return text_copy;
}

struct process_facts *builder_process(struct facts *facts, int32_t pid, const char *name)
{
    struct process_facts *process = region_grow(&facts->region, &facts->processes,
        facts->process_count, FACTS_MAX_PROCESSES, sizeof(*process));

    assert_non_null(process);
    facts->process_count++;
    process->pid = pid;
    process->name = copy(facts, name);
    process->title = process->name;
    process->run_state = 'S';
    process->cgroup_index = -1;
    process->mappings_state = FACT_OK;
    process->mappings_have_values = true;
    if (facts->target_name == NULL) {
        facts->target_name = process->name;
    }
    return process;
}

static uint32_t permission_bits(const char *text)
{
    return (text[0] == 'r' ? MAPPING_READ : 0U) | (text[1] == 'w' ? MAPPING_WRITE : 0U) |
           (text[2] == 'x' ? MAPPING_EXECUTE : 0U) |
           (text[3] == 's' ? MAPPING_SHARED : 0U);
}

/* A number for a file that is the same for each mapping of the same path. */
static uint64_t inode_of(const char *path)
{
    uint64_t inode = 5381;

    if (path[0] != '/') {
        return 0;
    }
    for (const char *p = path; *p != '\0'; p++) {
        inode = inode * 33 + (unsigned char)*p;
    }
    return inode;
}

struct mapping *builder_mapping(struct facts *facts, struct process_facts *process,
    uint64_t start, uint64_t size_bytes, const char *permissions, const char *path)
{
    static const char deleted[] = " (deleted)";
    struct mapping *mapping = region_grow(&facts->region, &process->mappings,
        process->mapping_count, FACTS_MAX_MAPPINGS, sizeof(*mapping));
    const size_t length = strlen(path);
    const size_t suffix = sizeof(deleted) - 1;

    assert_non_null(mapping);
    process->mapping_count++;
    mapping->start = start;
    mapping->end = start + size_bytes;
    mapping->permissions = permission_bits(permissions);
    mapping->path = copy(facts, path);
    mapping->inode = inode_of(path);
    if (length > suffix && strcmp(path + length - suffix, deleted) == 0) {
        mapping->path[length - suffix] = '\0';
        mapping->deleted = true;
    }
    for (int i = 0; i < MAPPING_FACT_COUNT; i++) {
        mapping->values[i] = fact_ok(0);
    }
    return mapping;
}

void builder_set_rss(struct mapping *mapping, uint64_t rss_bytes)
{
    mapping->values[MAPPING_FACT_RSS] = fact_ok(rss_bytes);
    mapping->values[MAPPING_FACT_PSS] = fact_ok(rss_bytes);
    if (mapping->inode == 0) {
        mapping->values[MAPPING_FACT_ANONYMOUS] = fact_ok(rss_bytes);
        mapping->values[MAPPING_FACT_PRIVATE_DIRTY] = fact_ok(rss_bytes);
    } else {
        mapping->values[MAPPING_FACT_PRIVATE_CLEAN] = fact_ok(rss_bytes);
    }
}

struct span *builder_span(struct facts *facts, struct process_facts *process,
    enum span_owner owner, uint64_t start, uint64_t size_bytes, uint64_t resident_bytes)
{
    struct span *span = region_grow(&facts->region, &process->spans, process->span_count,
        FACTS_MAX_SPANS, sizeof(*span));

    assert_non_null(span);
    process->span_count++;
    span->start = start;
    span->end = start + size_bytes;
    span->owner = (uint32_t)owner;
    span->resident = fact_ok(resident_bytes);
    return span;
}

struct glibc_arena *builder_arena(
    struct facts *facts, struct process_facts *process, bool main, uint64_t held_bytes)
{
    struct glibc_facts *glibc = &process->glibc;
    struct glibc_arena *arena = region_grow(&facts->region, &glibc->arenas,
        glibc->arena_count, FACTS_MAX_ARENAS, sizeof(*arena));

    assert_non_null(arena);
    if (glibc->arena_count == 0) {
        glibc->state = FACT_OK;
        glibc->version = copy(facts, "2.36");
        glibc->parameters.state = FACT_OK;
        glibc->parameters.mmap_threshold_bytes = 128 * KIB;
        glibc->parameters.trim_threshold_bytes = 128 * KIB;
        glibc->mmapped_found_bytes = fact_ok(0);
        glibc->mmapped_resident_bytes = fact_ok(0);
    }
    glibc->arena_count++;
    arena->main = main;
    arena->state = FACT_OK;
    arena->resident_state = FACT_OK;
    arena->held_bytes = held_bytes;
    arena->heap_count = 1;
    return arena;
}

struct allocator_facts *builder_allocator(
    struct facts *facts, struct process_facts *process, enum allocator_kind kind)
{
    struct allocator_facts *allocator = region_grow(&facts->region, &process->allocators,
        process->allocator_count, ALLOCATOR_KIND_COUNT, sizeof(*allocator));

    assert_non_null(allocator);
    process->allocator_count++;
    allocator->kind = (uint32_t)kind;
    allocator->active = true;
    allocator->evidence = copy(facts, "by the test");
    return allocator;
}

struct cgroup_facts *builder_cgroup(struct facts *facts, uint32_t version)
{
    struct cgroup_facts *cgroup = region_grow(&facts->region, &facts->cgroups,
        facts->cgroup_count, FACTS_MAX_CGROUPS, sizeof(*cgroup));

    assert_non_null(cgroup);
    facts->target_cgroup = (int32_t)facts->cgroup_count;
    facts->cgroup_count++;
    cgroup->version = version;
    cgroup->state = FACT_OK;
    cgroup->path = copy(facts, "/test");
    return cgroup;
}
