/*
 * heap_strata_figures.c - sums over classes, spans and large blocks.
 *
 * out = slabs * blocks of a slab - free blocks; what the CPUs keep of it is in their rows; the
 * rest is in use. Held is the address space of regions and huge blocks, so free = held
 * - in use - cached. All numbers come from the target: products are bounded before they
 * are made, and a difference that would be negative is a contradiction.
 */
#include "facts/heap_strata_figures.h"

#include <errno.h>
#include <string.h>
#include <strata/layout.h>

#include "base/number.h"

/* Address space ends at 2^48 or before; no count of blocks and no sum of bytes lies above. */
#define ADDRESS_SPACE_BYTES (UINT64_C(1) << 48)
#define SLAB_BYTES (UINT64_C(1) << 16)

static bool is_bounded(const uint64_t *numbers, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if (numbers[i] > ADDRESS_SPACE_BYTES) {
            return false;
        }
    }
    return true;
}

static uint64_t kept_by_cpus(const struct strata_region *copy, uint32_t class)
{
    uint64_t blocks = 0;

    for (uint32_t cpu = 0; cpu < copy->cpus_used; cpu++) {
        blocks += copy->cpus[cpu].counts[class];
    }
    return blocks;
}

static int read_class(
    const struct strata_region *copy, uint32_t index, struct strata_class_facts *facts)
{
    const struct strata_layout_class *class = &copy->classes[index];
    const uint64_t numbers[] = {
        class->free_blocks, class->touched_bytes, copy->mixed.out_blocks[index]};
    const uint64_t cached = kept_by_cpus(copy, index);

    if (!is_bounded(numbers, 3) || class->slabs > ADDRESS_SPACE_BYTES / SLAB_BYTES ||
        (uint64_t) class->block_bytes * class->slab_blocks > SLAB_BYTES) {
        return -EINVAL;
    }
    const uint64_t in_slabs = class->slabs * class->slab_blocks;
    if (class->free_blocks > in_slabs) {
        return -EINVAL;
    }
    const uint64_t out = in_slabs - class->free_blocks + copy->mixed.out_blocks[index];
    if (cached > out || out > ADDRESS_SPACE_BYTES / (class->block_bytes | 1)) {
        return -EINVAL;
    }
    *facts = (struct strata_class_facts){
        .block_bytes = class->block_bytes,
        .slabs = class->slabs,
        .in_use_blocks = out - cached,
        .cached_blocks = cached,
        .free_blocks = class->free_blocks,
        .touched_bytes = class->touched_bytes,
        .peak_blocks = class->peak_out_blocks,
        .purged_bytes = class->purged_bytes,
        .sampled_requests = class->sampled_requests,
        .sampled_bytes = class->sampled_bytes,
    };
    return 0;
}

static void add_class(struct strata_facts *sums, const struct strata_class_facts *class,
    uint32_t slab_blocks)
{
    sums->in_use_blocks += class->in_use_blocks;
    sums->in_use_bytes += class->in_use_blocks * class->block_bytes;
    sums->cached_bytes += class->cached_blocks * class->block_bytes;
    sums->touched_bytes += class->touched_bytes;
    sums->purged_bytes = number_add(sums->purged_bytes, class->purged_bytes);
    if (class->block_bytes > 0) {
        sums->slab_tail_bytes +=
            class->slabs * (SLAB_BYTES - class->block_bytes * slab_blocks);
    }
}

static int add_large(const struct strata_region *copy, struct strata_facts *sums)
{
    const struct strata_layout_large *large = &copy->large;
    const struct strata_layout_units *units = &copy->units;
    const struct strata_layout_mixed *mixed = &copy->mixed;
    const uint64_t numbers[] = {large->large_bytes, large->large_blocks,
        large->large_asked_bytes, large->huge_bytes, large->huge_blocks,
        large->huge_asked_bytes, large->tail_bytes, units->mapped_bytes,
        units->free_bytes, units->dirty_bytes, mixed->touched_bytes};

    if (!is_bounded(numbers, sizeof(numbers) / sizeof(numbers[0])) ||
        mixed->units > ADDRESS_SPACE_BYTES / SLAB_BYTES) {
        return -EINVAL;
    }
    sums->mixed_bytes = mixed->units * SLAB_BYTES;
    sums->mixed_touched_bytes = mixed->touched_bytes;
    sums->large_bytes = large->large_bytes;
    sums->large_blocks = large->large_blocks;
    sums->huge_bytes = large->huge_bytes;
    sums->huge_blocks = large->huge_blocks;
    sums->large_asked_bytes = large->large_asked_bytes + large->huge_asked_bytes;
    sums->span_free_bytes = units->free_bytes;
    sums->span_touched_bytes = units->dirty_bytes;
    sums->in_use_bytes += large->large_bytes + large->huge_bytes;
    sums->in_use_blocks += large->large_blocks + large->huge_blocks;
    sums->held_bytes = units->mapped_bytes + large->huge_bytes;
    sums->touched_bytes +=
        units->dirty_bytes + large->large_bytes + large->tail_bytes + large->huge_bytes;
    sums->touched_bytes += mixed->touched_bytes;
    sums->purged_bytes = number_add(sums->purged_bytes, mixed->purged_bytes);
    sums->purged_bytes = number_add(sums->purged_bytes, units->purged_bytes);
    sums->purged_bytes = number_add(sums->purged_bytes, large->purged_bytes);
    return 0;
}

int heap_strata_sums(const struct strata_region *copy, struct strata_facts *sums)
{
    int rc = 0;

    *sums = (struct strata_facts){0};
    for (uint32_t i = 0; rc == 0 && i < copy->class_count; i++) {
        struct strata_class_facts class;
        rc = read_class(copy, i, &class);
        if (rc == 0) {
            add_class(sums, &class, copy->classes[i].slab_blocks);
        }
    }
    if (rc == 0) {
        rc = add_large(copy, sums);
    }
    if (rc != 0) {
        return rc;
    }
    const uint64_t taken = sums->in_use_bytes + sums->cached_bytes;
    if (taken > sums->held_bytes) {
        return -EINVAL;
    }
    sums->free_bytes = sums->held_bytes - taken;
    sums->free_touched_bytes = number_subtract(sums->touched_bytes, taken);
    return 0;
}

/* ---- lists */

/* A name in a field of fixed size, which may lack its zero. NULL when it is empty. */
static int copy_name(struct region *region, const char *name, size_t room, char **copy)
{
    const size_t length = strnlen(name, room);

    *copy = NULL;
    if (length == 0) {
        return 0;
    }
    *copy = region_copy(region, name, length);
    return *copy == NULL ? -ENOMEM : 0;
}

static int list_classes(
    const struct strata_region *copy, struct region *region, struct strata_facts *facts)
{
    facts->classes = region_alloc(region, copy->class_count * sizeof(*facts->classes));
    if (facts->classes == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < copy->class_count; i++) {
        int rc = read_class(copy, i, &facts->classes[i]);
        if (rc != 0) {
            return rc;
        }
    }
    facts->class_count = copy->class_count;
    return 0;
}

static int list_threads(
    const struct strata_region *copy, struct region *region, struct strata_facts *facts)
{
    facts->threads = region_alloc(region, copy->thread_count * sizeof(*facts->threads));
    if (facts->threads == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < copy->thread_count; i++) {
        const struct strata_layout_thread *from = &copy->threads[i];
        struct strata_thread_facts *to = &facts->threads[i];
        if (from->thread_id < 0) {
            return -EINVAL;
        }
        *to = (struct strata_thread_facts){
            .thread_id = from->thread_id,
            .used_bytes = from->used_bytes,
            .peak_bytes = from->peak_bytes,
            .ceiling_bytes = from->ceiling_bytes,
            .refused = from->refused,
        };
        if (copy_name(region, from->name, sizeof(from->name), &to->name) != 0) {
            return -ENOMEM;
        }
        facts->thread_count++;
    }
    return 0;
}

static int list_records(
    const struct strata_region *copy, struct region *region, struct strata_facts *facts)
{
    facts->records = region_alloc(region, copy->record_count * sizeof(*facts->records));
    if (facts->records == NULL) {
        return -ENOMEM;
    }
    for (uint32_t i = 0; i < copy->record_count; i++) {
        const struct strata_layout_record *from = &copy->records[i];
        struct strata_record_facts *to = &facts->records[facts->record_count];
        if (from->thread >= copy->thread_count || from->tag >= copy->tag_count) {
            return -EINVAL;
        }
        *to = (struct strata_record_facts){
            .thread = from->thread,
            .used_bytes = from->used_bytes,
            .used_blocks = from->used_blocks,
            .peak_bytes = from->peak_bytes,
            .allocations = from->allocations,
        };
        if (copy_name(region, copy->tags[from->tag], sizeof(copy->tags[0]), &to->tag) !=
            0) {
            return -ENOMEM;
        }
        /* Records without an allocation wait for their next thread. */
        facts->record_count += to->tag != NULL && to->allocations > 0;
    }
    return 0;
}

int heap_strata_figures(
    const struct strata_region *copy, struct region *region, struct strata_facts *facts)
{
    int rc = heap_strata_sums(copy, facts);

    facts->layout_version = copy->version;
    facts->generation = copy->generation;
    facts->descriptor_bytes = copy->descriptor_bytes;
    facts->table_bytes = copy->table_bytes;
    facts->trims = copy->trims;
    facts->peak_span_bytes = copy->units.peak_used_bytes;
    facts->peak_large_bytes = copy->large.peak_bytes;
    facts->limit_hard_bytes = copy->limit.hard_bytes;
    facts->limit_soft_bytes = copy->limit.soft_bytes;
    facts->limit_charged_bytes = copy->limit.charged_bytes;
    facts->limit_peak_bytes = copy->limit.peak_charged_bytes;
    facts->limit_refused = copy->limit.refused;
    facts->limit_purges = copy->limit.purges;
    if (rc == 0) {
        rc = list_classes(copy, region, facts);
    }
    if (rc == 0) {
        rc = list_threads(copy, region, facts);
    }
    return rc != 0 ? rc : list_records(copy, region, facts);
}
