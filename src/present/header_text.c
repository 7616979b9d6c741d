/*
 * header_text.c - the line that says whose account follows.
 *
 * Items are separated and moved to the next line whole. Everything here may be named by the
 * target itself, so nothing is trusted; page makes it safe to show.
 */
#include "present/header_text.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/quantity.h"
#include "model/host_group.h"

enum { HEADER_INDENT = 2, ITEM_BYTES = 192, CONTAINER_ID_SHOWN = 12 };

const char *target_name(const struct facts *facts)
{
    const char *first = facts->process_count > 0 ? facts->processes[0].name : NULL;

    if (facts->target_kind == TARGET_PROCESS && first != NULL) {
        return first;
    }
    if (facts->target_name != NULL) {
        return facts->target_name;
    }
    return first != NULL ? first : "?";
}

const char *bill_name(const struct cgroup_facts *cgroup, char scratch[BILL_TEXT_BYTES])
{
    if (cgroup == NULL) {
        return NULL;
    }
    if (cgroup->container_id != NULL) {
        (void)snprintf(scratch, BILL_TEXT_BYTES, "%.32s %.*s",
            cgroup->runtime != NULL ? cgroup->runtime : "container", CONTAINER_ID_SHOWN,
            cgroup->container_id);
        return scratch;
    }
    return cgroup->unit != NULL ? cgroup->unit : cgroup->path;
}

static void item(struct page *page, const char *text)
{
    page_item(page, INK_PLAIN, text, HEADER_INDENT);
}

/* Those with the title of a worker of php-fpm: the master of the pool is none. */
static size_t workers_of_pool(const struct facts *facts)
{
    size_t workers = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        workers += process_pool_name(&facts->processes[i]) != NULL;
    }
    return facts->target_kind == TARGET_POOL ? workers : 0;
}

static void identity_items(struct page *page, const struct facts *facts)
{
    const size_t workers = workers_of_pool(facts);
    char text[ITEM_BYTES];

    if (facts->process_count == 1 && facts->target_kind == TARGET_POOL &&
        process_is_pool_master(&facts->processes[0])) {
        (void)snprintf(text, sizeof(text), "no worker now, its master is pid %" PRId32,
            facts->processes[0].pid);
    } else if (facts->process_count == 1) {
        (void)snprintf(text, sizeof(text), "pid %" PRId32, facts->processes[0].pid);
    } else if (workers > 0 && workers + 1 == facts->process_count) {
        (void)snprintf(text, sizeof(text), "pool of %s and %s",
            quantity_count(workers, "worker").text,
            quantity_form(workers, "its master", "their master"));
    } else {
        (void)snprintf(text, sizeof(text), "%s of %s",
            facts->target_kind == TARGET_PROCESS ? "group"
                                                 : target_kind_names[facts->target_kind],
            quantity_count(facts->process_count, "process").text);
    }
    item(page, text);
}

/* Of a group: since when its oldest member runs. */
static void uptime_item(struct page *page, const struct facts *facts)
{
    int64_t taken_at = facts->taken_at_unix_ns / 1000000000;
    uint64_t oldest = 0;
    char text[ITEM_BYTES];

    for (size_t i = 0; i < facts->process_count; i++) {
        uint64_t start = facts->processes[i].start_unix_seconds;
        if (start != 0 && (oldest == 0 || start < oldest)) {
            oldest = start;
        }
    }
    if (oldest == 0 || taken_at < 0 || oldest > (uint64_t)taken_at) {
        item(page, "uptime unknown");
        return;
    }
    (void)snprintf(
        text, sizeof(text), "up %s", quantity_seconds((uint64_t)taken_at - oldest).text);
    item(page, text);
}

static void thread_item(struct page *page, const struct facts *facts)
{
    uint64_t threads = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct fact *fact = &facts->processes[i].values[PROCESS_FACT_THREADS];
        if (fact->state != FACT_OK && fact->state != FACT_STALE) {
            return;
        }
        threads += fact->value;
    }
    item(page, quantity_count(threads, "thread").text);
}

static void allocator_item(struct page *page, const struct allocator_facts *allocator)
{
    char text[ITEM_BYTES];

    (void)snprintf(text, sizeof(text), "%s%s%.60s%s%s",
        allocator_kind_names[allocator->kind], allocator->version != NULL ? " " : "",
        allocator->version != NULL ? allocator->version : "",
        allocator->preloaded ? " (preloaded)" : "",
        allocator->linked_statically ? " (static)" : "");
    item(page, text);
}

/* Each kind once, as the first member that has it shows it. */
static void allocator_items(struct page *page, const struct facts *facts)
{
    bool seen[ALLOCATOR_KIND_COUNT] = {false};
    bool any = false;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct process_facts *process = &facts->processes[i];
        for (size_t j = 0; j < process->allocator_count; j++) {
            const struct allocator_facts *allocator = &process->allocators[j];
            if (allocator->active && !seen[allocator->kind]) {
                seen[allocator->kind] = true;
                any = true;
                allocator_item(page, allocator);
            }
        }
    }
    if (!any) {
        item(page, "allocator unknown");
    }
}

/* The container or unit; a mere path is left to the section on the cgroup. */
static void bill_item(struct page *page, const struct facts *facts)
{
    char scratch[BILL_TEXT_BYTES];

    if (facts->target_cgroup < 0 || (size_t)facts->target_cgroup >= facts->cgroup_count) {
        return;
    }
    const struct cgroup_facts *cgroup = &facts->cgroups[facts->target_cgroup];
    if (cgroup->container_id == NULL && cgroup->unit == NULL) {
        return;
    }
    const char *name = bill_name(cgroup, scratch);
    if (name != NULL && strcmp(name, target_name(facts)) != 0) {
        item(page, name);
    }
}

void header_text(struct page *page, const struct snapshot *snapshot)
{
    const struct facts *facts = snapshot->facts;

    page_put(page, INK_STRONG, target_name(facts));
    identity_items(page, facts);
    uptime_item(page, facts);
    thread_item(page, facts);
    allocator_items(page, facts);
    bill_item(page, facts);
    if (facts->process_count == 1 && facts->processes[0].executable_deleted) {
        item(page, "program file replaced since it started");
    }
    page_end_line(page);
}
