/*
 * heap_strata_copy.c - copies what is used of the region, twice, until nothing has moved.
 *
 * Writers never wait for us, so a busy program may never hold still: then the last two copies
 * bound what is known. A page of the region that was never written must not be read,
 * since that would make it exist; so the counts decide what is copied. They come from
 * the target and are checked against the room that the layout has.
 */
#include "facts/heap_strata_copy.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strata/layout.h>

enum { TRIES = 32 };

static int check(const struct strata_region *region, size_t bytes)
{
    if (memcmp(region->magic, STRATA_LAYOUT_MAGIC, sizeof(region->magic)) != 0) {
        return -EINVAL;
    }
    if (region->version != STRATA_LAYOUT_VERSION) {
        return -EPROTO;
    }
    const bool fits = region->bytes <= bytes &&
                      region->class_count <= STRATA_LAYOUT_CLASSES &&
                      region->cpus_used <= STRATA_LAYOUT_CPUS &&
                      region->cpus_used <= region->cpu_count &&
                      region->thread_count <= STRATA_LAYOUT_THREADS &&
                      region->tag_count <= STRATA_LAYOUT_TAGS &&
                      region->record_count <= STRATA_LAYOUT_RECORDS;
    return fits ? 0 : -EINVAL;
}

/* The first count items of an array of the region. */
static int copy_items(struct heap_strata_source *source, struct strata_region *region,
    const void *items, size_t bytes)
{
    const uint64_t offset = (uint64_t)((const char *)items - (const char *)region);

    return bytes == 0
               ? 0
               : heap_strata_source_read(source, offset, (char *)region + offset, bytes);
}

static int copy_once(struct heap_strata_source *source, struct strata_region *region)
{
    memset(region, 0, sizeof(*region));
    int rc = heap_strata_source_read(
        source, 0, region, offsetof(struct strata_region, classes));
    if (rc == 0) {
        rc = check(region, source->bytes);
    }
    if (rc == 0) {
        rc = copy_items(source, region, region->classes,
            region->class_count * sizeof(region->classes[0]));
    }
    if (rc == 0) {
        rc = copy_items(
            source, region, region->tags, region->tag_count * sizeof(region->tags[0]));
    }
    if (rc == 0) {
        rc = copy_items(source, region, region->threads,
            region->thread_count * sizeof(region->threads[0]));
    }
    if (rc == 0) {
        rc = copy_items(source, region, region->records,
            region->record_count * sizeof(region->records[0]));
    }
    if (rc == 0) {
        rc = copy_items(
            source, region, region->cpus, region->cpus_used * sizeof(region->cpus[0]));
    }
    return rc;
}

static bool is_quiet(const struct strata_region *region)
{
    uint32_t written = region->units.sequence | region->large.sequence;

    for (uint32_t i = 0; i < region->class_count; i++) {
        written |= region->classes[i].sequence;
    }
    for (uint32_t i = 0; i < region->thread_count; i++) {
        written |= region->threads[i].sequence;
    }
    for (uint32_t i = 0; i < region->record_count; i++) {
        written |= region->records[i].sequence;
    }
    return (written & 1) == 0;
}

static void swap(struct heap_strata_copy *copy)
{
    struct strata_region *last = copy->last;

    copy->last = copy->before;
    copy->before = last;
}

int heap_strata_copy_take(
    struct heap_strata_source *source, struct heap_strata_copy *copy)
{
    *copy = (struct heap_strata_copy){
        .last = malloc(sizeof(*copy->last)), .before = malloc(sizeof(*copy->before))};
    if (copy->last == NULL || copy->before == NULL) {
        return -ENOMEM;
    }
    int rc = copy_once(source, copy->last);
    for (int i = 0; rc == 0 && !copy->settled && i < TRIES; i++) {
        swap(copy);
        rc = copy_once(source, copy->last);
        copy->settled = rc == 0 && is_quiet(copy->last) &&
                        memcmp(copy->last, copy->before, sizeof(*copy->last)) == 0;
    }
    return rc;
}

void heap_strata_copy_release(struct heap_strata_copy *copy)
{
    free(copy->last);
    free(copy->before);
    *copy = (struct heap_strata_copy){.last = NULL};
}
