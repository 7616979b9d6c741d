/*
 * glibc.c - one reading of glibc malloc from outside, in order.
 *
 * main_arena and mp_ are found by shape (glibc_find.c), each arena of the ring is walked
 * (glibc_arena.c), the caches of threads and the blocks taken by mmap are looked for
 * (glibc_tcache.c, glibc_mmapped.c). The target runs on; nothing in it is changed, not even
 * its page tables: absent pages are never read. The whole reading is bounded by
 * budgets in struct glibc_reader, whatever the target holds.
 */
#include "facts/glibc.h"

#include <errno.h>
#include <stdlib.h>

#include "base/quantity.h"
#include "facts/glibc_arena.h"
#include "facts/glibc_find.h"
#include "facts/glibc_mmapped.h"
#include "facts/glibc_parameters.h"
#include "facts/glibc_reader.h"
#include "facts/glibc_tcache.h"
#include "facts_types/facts.h"

/* Windows that cover all that is mapped and writable. */
static uint64_t count_windows(const struct process_facts *process)
{
    uint64_t windows = 0;

    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if ((mapping->permissions & MAPPING_WRITE) != 0) {
            windows += (mapping->end - mapping->start) / HEAP_WINDOW_BYTES + 1;
        }
    }
    return windows;
}

static int init_reader(struct glibc_reader *reader, struct memory *memory,
    struct region *region, struct process_facts *process)
{
    const uint64_t windows = count_windows(process);
    int result;

    *reader = (struct glibc_reader){.memory = memory,
        .process = process,
        .region = region,
        .loads_left = GLIBC_WINDOWS_EXTRA + windows * GLIBC_WINDOWS_FACTOR,
        .sweep_bytes_left = ((uint64_t)GLIBC_SWEEP_EXTRA_MIB << 20) +
                            windows * HEAP_WINDOW_BYTES * GLIBC_SWEEP_FACTOR,
        .links_left = GLIBC_CHASE_LINKS,
        .blocks_left = GLIBC_CHASE_BLOCKS};
    result = heap_window_init(&reader->window, memory);
    if (result == 0) {
        result = page_cache_init(&reader->cache, memory, GLIBC_CHASE_PAGES);
    }
    if (result == 0) {
        reader->tcaches = malloc(GLIBC_MAXIMUM_TCACHES * sizeof(*reader->tcaches));
        result = reader->tcaches == NULL ? -ENOMEM : 0;
    }
    return result;
}

static void release_reader(struct glibc_reader *reader)
{
    heap_window_release(&reader->window);
    page_cache_release(&reader->cache);
    free(reader->tcaches);
}

static int read_each(struct glibc_arena_reader *arenas, const struct glibc_ring *ring,
    struct glibc_mark *marks)
{
    struct glibc_reader *reader = arenas->reader;
    struct glibc_facts *facts = &reader->process->glibc;

    for (size_t i = 0; i < ring->count; i++) {
        struct glibc_arena *arena = region_grow(reader->region, &facts->arenas,
            facts->arena_count, FACTS_MAX_ARENAS, sizeof(*arena));
        int result = arena == NULL ? -ENOMEM
                                   : glibc_arena_read(arenas, ring->arenas[i],
                                         (uint32_t)i, arena, &marks[i]);
        if (result < 0) {
            return result;
        }
        facts->arena_count++;
    }
    return 0;
}

/* Reads each arena; then looks once more at all, so that they tell of one moment. */
static int read_arenas(struct glibc_reader *reader, const struct glibc_ring *ring)
{
    struct glibc_facts *facts = &reader->process->glibc;
    struct glibc_arena_reader arenas;
    struct glibc_mark *marks = calloc(ring->count + 1, sizeof(*marks));
    int result = glibc_arena_reader_init(&arenas, reader);

    if (marks == NULL) {
        result = -ENOMEM;
    }
    if (result == 0) {
        arenas.thp_pagesize_bytes = facts->parameters.thp_pagesize_bytes;
        result = read_each(&arenas, ring, marks);
    }
    for (size_t i = 0; result == 0 && i < facts->arena_count; i++) {
        result = glibc_arena_check(&arenas, &marks[i], &facts->arenas[i]);
    }
    for (size_t i = 0; marks != NULL && i < ring->count; i++) {
        glibc_samples_release(&marks[i].samples);
    }
    free(marks);
    glibc_arena_reader_release(&arenas);
    return result;
}

/* The worst of the arenas is the state of all; a broken ring is worse than any. */
static int conclude(struct glibc_reader *reader, const struct glibc_ring *ring)
{
    struct glibc_facts *facts = &reader->process->glibc;
    size_t stale = 0, malformed = 0;

    for (size_t i = 0; i < facts->arena_count; i++) {
        stale += facts->arenas[i].state == FACT_STALE;
        malformed += facts->arenas[i].state == FACT_MALFORMED;
    }
    facts->state = FACT_OK;
    if (!ring->closed) {
        facts->state = FACT_MALFORMED;
        facts->why = region_copy_text(reader->region, ring->why);
    } else if (malformed > 0) {
        facts->state = FACT_MALFORMED;
        facts->why = region_printf(reader->region, "%zu of %s could not be understood",
            malformed, quantity_count(facts->arena_count, "arena").text);
    } else if (stale > 0) {
        facts->state = FACT_STALE;
        facts->why = region_printf(reader->region, "%zu of %s changed during the reading",
            stale, quantity_count(facts->arena_count, "arena").text);
    }
    return facts->state != FACT_OK && facts->why == NULL ? -ENOMEM : 0;
}

static int read_all(struct glibc_reader *reader)
{
    struct glibc_facts *facts = &reader->process->glibc;
    struct glibc_ring ring;
    int result = glibc_find(reader, &ring);

    if (result == -ENOENT) {
        facts->state = FACT_ABSENT;
        facts->why = region_copy_text(
            reader->region, "glibc malloc was never used in this process");
        return facts->why == NULL ? -ENOMEM : 0;
    }
    if (result < 0) {
        return result;
    }
    glibc_parameters_read(reader, &facts->parameters);
    reader->tcache_limit = facts->parameters.state == FACT_OK
                               ? facts->parameters.tcache_count
                               : GLIBC_TCACHE_DEFAULT_COUNT;
    result = read_arenas(reader, &ring);
    if (result == 0) {
        result = glibc_tcache_read(reader);
    }
    if (result == 0) {
        result = glibc_mmapped_read(reader);
    }
    if (result < 0) {
        return result;
    }
    return conclude(reader, &ring);
}

int glibc_read(
    struct memory *memory, struct region *region, struct process_facts *process)
{
    struct glibc_reader reader;
    int result = init_reader(&reader, memory, region, process);

    process->glibc = (struct glibc_facts){0};
    if (result == 0) {
        result = read_all(&reader);
    }
    release_reader(&reader);
    return result;
}
