/*
 * capture_check.c - the rules between fields; those of single fields are schema_check's.
 *
 * The model divides by page sizes, follows indexes and walks mappings and spans side
 * by side in address order; a capture that breaks one of these must never reach it.
 */
#include "record/capture_check.h"

#include <errno.h>

#include "record/schema_check.h"

enum { SMALLEST_PAGE_BYTES = 1 << 9, LARGEST_PAGE_BYTES = 1 << 24 };

static int fail(const struct schema_place *place, struct error *error, const char *what)
{
    char text[SCHEMA_PLACE_BYTES];

    schema_place_print(place, text);
    return error_set(error, -EINVAL, "'%s' %s", text, what);
}

static int check_host(const struct host_facts *host, struct error *error)
{
    const struct schema_place parent = {NULL, "host", SCHEMA_NO_ITEM};
    const struct schema_place place = {&parent, "page_bytes", SCHEMA_NO_ITEM};
    uint64_t bytes = host->page_bytes;

    if (bytes == 0 || (bytes >= SMALLEST_PAGE_BYTES && bytes <= LARGEST_PAGE_BYTES &&
                          (bytes & (bytes - 1)) == 0)) {
        return 0;
    }
    return fail(&place, error, "is not a size of pages");
}

static int check_mappings(const struct process_facts *process,
    const struct schema_place *parent, struct error *error)
{
    struct schema_place place = {parent, "mappings", SCHEMA_NO_ITEM};
    uint64_t last_end = 0;

    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        place.item = (long)i;
        if (mapping->start >= mapping->end) {
            return fail(&place, error, "is empty");
        }
        if (mapping->start < last_end) {
            return fail(&place, error, "begins before the one in front of it ends");
        }
        last_end = mapping->end;
    }
    return 0;
}

static int check_spans(const struct process_facts *process,
    const struct schema_place *parent, struct error *error)
{
    struct schema_place place = {parent, "spans", SCHEMA_NO_ITEM};
    uint64_t last_end = 0;

    for (size_t i = 0; i < process->span_count; i++) {
        const struct span *span = &process->spans[i];
        place.item = (long)i;
        if (span->start >= span->end) {
            return fail(&place, error, "is empty");
        }
        if (span->start < last_end) {
            return fail(&place, error, "begins before the one in front of it ends");
        }
        if (span->owner == SPAN_GLIBC_ARENA_HEAP &&
            span->index >= process->glibc.arena_count) {
            return fail(&place, error, "belongs to an arena that is not there");
        }
        last_end = span->end;
    }
    return 0;
}

static int check_cgroup_index(int32_t index, const struct facts *facts,
    const struct schema_place *parent, const char *key, struct error *error)
{
    const struct schema_place place = {parent, key, SCHEMA_NO_ITEM};

    if (index >= 0 && (size_t)index >= facts->cgroup_count) {
        return fail(&place, error, "is the index of a cgroup that is not there");
    }
    return 0;
}

static int check_process(const struct facts *facts, size_t index, struct error *error)
{
    const struct process_facts *process = &facts->processes[index];
    const struct schema_place place = {NULL, "processes", (long)index};
    const struct schema_place pid = {&place, "pid", SCHEMA_NO_ITEM};
    int rc;

    if (process->pid < 1) {
        return fail(&pid, error, "is not the id of a process");
    }
    rc = check_cgroup_index(process->cgroup_index, facts, &place, "cgroup_index", error);
    if (rc == 0) {
        rc = check_mappings(process, &place, error);
    }
    return rc == 0 ? check_spans(process, &place, error) : rc;
}

static int check_gaps(const struct facts *facts, struct error *error)
{
    struct schema_place place = {NULL, "gaps", SCHEMA_NO_ITEM};

    for (size_t i = 0; i < facts->gap_count; i++) {
        place.item = (long)i;
        if (facts->gaps[i].state == FACT_OK) {
            return fail(&place, error, "says that nothing is missing");
        }
    }
    return 0;
}

int capture_check(const struct facts *facts, struct error *error)
{
    const struct schema_place schema = {NULL, "schema", SCHEMA_NO_ITEM};
    int rc = schema_check(&facts_schema, facts, NULL, error);

    if (rc == 0 && facts->schema == 0) {
        rc = fail(&schema, error, "is missing");
    }
    if (rc == 0) {
        rc = check_host(&facts->host, error);
    }
    for (size_t i = 0; rc == 0 && i < facts->process_count; i++) {
        rc = check_process(facts, i, error);
    }
    if (rc == 0) {
        rc =
            check_cgroup_index(facts->target_cgroup, facts, NULL, "target_cgroup", error);
    }
    return rc == 0 ? check_gaps(facts, error) : rc;
}
