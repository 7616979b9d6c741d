/*
 * process_memory.c - the one place where the readers of a target's memory are called.
 *
 * Each adds the spans it recognised; span_list_settle() decides between two that claim the
 * same bytes. Allocators are named last, since a heap that was found proves its allocator;
 * where memory may not be read, the mapped files alone have to tell.
 */
#include "facts/process_memory.h"

#include <errno.h>

#include "facts/allocator_detect.h"
#include "facts/collect.h"
#include "facts/gap.h"
#include "facts/glibc.h"
#include "facts/heap_strata.h"
#include "facts/memory_process.h"
#include "facts/php_shared.h"
#include "facts/python_arena.h"
#include "facts/span_list.h"
#include "facts/thread_stack.h"
#include "facts/zend.h"

/* A target that can no longer be read ends the reading; anything else is a gap. */
static int read_glibc(
    struct process_reader *reader, struct memory *memory, struct process_facts *process)
{
    int rc = glibc_read(memory, &reader->facts->region, process);

    if (rc != 0 && rc != -ESRCH && rc != -ENOMEM) {
        process->glibc.state = facts_state_of(rc);
        gap_add_failure(reader->facts, reader->root, "glibc", process, rc);
        return 0;
    }
    /* What a broken ring or a damaged arena hides is missing from every sum. */
    if (rc == 0 && process->glibc.state == FACT_MALFORMED) {
        gap_add(reader->facts, "glibc", process->pid, FACT_MALFORMED, process->glibc.why);
    }
    return rc;
}

/* Where memory is NULL, by its shared region alone. */
static int read_strata(struct process_reader *reader, struct process_folder *folder,
    struct memory *memory, struct process_facts *process)
{
    int rc = heap_strata_read(folder, memory, &reader->facts->region, process);

    if (rc == 0 && process->strata.why != NULL && process->strata.state != FACT_STALE &&
        process->strata.state != FACT_ABSENT) {
        gap_add(reader->facts, "strata", process->pid, process->strata.state,
            process->strata.why);
    }
    return rc;
}

/* The same holds for request heaps; one is told, the heaps themselves say it each. */
static void note_unread_zend(
    struct process_reader *reader, const struct process_facts *process)
{
    for (size_t i = 0; i < process->zend.heap_count; i++) {
        const struct zend_heap_facts *heap = &process->zend.heaps[i];
        if (heap->state == FACT_MALFORMED) {
            gap_add(reader->facts, "zend", process->pid, FACT_MALFORMED, heap->why);
            return;
        }
    }
}

static int read_heaps(struct process_reader *reader, struct process_folder *folder,
    struct memory *memory, struct process_facts *process)
{
    struct region *region = &reader->facts->region;
    /* The others look for blocks page by page, but not in what has an owner. */
    int rc = read_strata(reader, folder, memory, process);

    rc = rc != 0 ? rc : zend_read(memory, region, process);
    note_unread_zend(reader, process);
    if (rc == 0 && process->zend.heap_count > 0) {
        rc = php_shared_read(memory, region, process);
    }
    rc = rc != 0 ? rc : read_glibc(reader, memory, process);
    rc = rc != 0 ? rc : python_arena_read(memory, region, process);
    rc = rc != 0 ? rc : thread_stack_read(folder, memory, region, process);
    span_list_settle(process->spans, &process->span_count);
    return rc;
}

/* Unread is not the same as not there. */
static int mark_unread(
    struct process_reader *reader, struct process_facts *process, uint32_t state)
{
    char *why = region_copy_text(
        &reader->facts->region, "the memory of the process was not read");

    process->glibc.state = state;
    process->glibc.why = why;
    process->zend.state = state;
    process->zend.why = why;
    return why == NULL ? -ENOMEM : 0;
}

/* *was_read says whether the heaps were walked. */
static int open_and_read(struct process_reader *reader, struct process_folder *folder,
    struct process_facts *process, bool *was_read)
{
    struct memory_process memory;
    int rc = memory_process_open(&memory, folder);

    if (rc == -ESRCH || rc == -ENOMEM) {
        return rc;
    }
    if (rc != 0) {
        gap_add_failure(reader->facts, reader->root, "memory", process, rc);
        rc = mark_unread(reader, process, facts_state_of(rc));
        return rc != 0 ? rc : read_strata(reader, folder, NULL, process);
    }
    *was_read = true;
    memory_process_know(&memory, process);
    rc = read_heaps(reader, folder, &memory.memory, process);
    reader->root->bytes_read += memory.memory.bytes_read;
    memory_process_close(&memory);
    return rc;
}

/* What its maker shares can be read all the same. */
static int read_without_mappings(struct process_reader *reader,
    struct process_folder *folder, struct process_facts *process)
{
    const unsigned wanted = COLLECT_HEAPS | COLLECT_ALLOCATOR;

    if ((reader->what & wanted) != wanted) {
        return 0;
    }
    int rc = read_strata(reader, folder, NULL, process);
    return rc != 0 ? rc : allocator_detect(NULL, false, &reader->facts->region, process);
}

int process_memory_read(struct process_reader *reader, struct process_folder *folder,
    struct process_facts *process)
{
    bool was_read = false;
    int rc = 0;

    if (process->mapping_count == 0) {
        /* Unless it has none at all, that is a gap already. */
        if (process->mappings_state == FACT_OK) {
            return 0;
        }
        rc = mark_unread(reader, process, process->mappings_state);
        return rc != 0 ? rc : read_without_mappings(reader, folder, process);
    }
    if ((reader->what & COLLECT_HEAPS) != 0) {
        rc = open_and_read(reader, folder, process, &was_read);
    }
    if (rc == 0 && (reader->what & COLLECT_ALLOCATOR) != 0) {
        rc = allocator_detect(folder, was_read, &reader->facts->region, process);
    }
    return rc;
}
