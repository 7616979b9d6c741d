/*
 * strata_total.c - the figures of strata's malloc by kind of memory.
 *
 * Regions consist of slabs (64 KiB each), units that all small blocks share, large blocks
 * with the ends of their last units, and free spans; what is none of the others is large. So
 * the kinds sum to held.
 */
#include "model/strata_total.h"

#include "base/number.h"
#include "model/known.h"

#define SLAB_BYTES (UINT64_C(1) << 16)

static void finish(struct strata_kind *kind)
{
    kind->free_bytes = number_subtract(
        kind->held_bytes, number_add(kind->in_use_bytes, kind->cached_bytes));
}

static void add(struct strata_kind *sum, const struct strata_kind *kind)
{
    sum->held_bytes = number_add(sum->held_bytes, kind->held_bytes);
    sum->in_use_bytes = number_add(sum->in_use_bytes, kind->in_use_bytes);
    sum->cached_bytes = number_add(sum->cached_bytes, kind->cached_bytes);
    sum->free_bytes = number_add(sum->free_bytes, kind->free_bytes);
    sum->touched_bytes = number_add(sum->touched_bytes, kind->touched_bytes);
}

/* What live blocks of a class lose, if they are as the requests that were sampled. */
static uint64_t lost_by(const struct strata_class_facts *class)
{
    if (class->sampled_requests == 0) {
        return 0;
    }
    const double asked = (double)class->sampled_bytes / (double)class->sampled_requests;
    const double lost = (double)class->block_bytes - asked;
    const double all = lost * (double)class->in_use_blocks;

    return all > 0 && all < (double)UINT32_MAX * (double)UINT32_MAX ? (uint64_t)all : 0;
}

static struct strata_kind small_of(
    struct strata_total *total, const struct strata_facts *facts)
{
    struct strata_kind small = {.cached_bytes = facts->cached_bytes};
    uint64_t slabs = 0;

    small.in_use_bytes = number_subtract(
        facts->in_use_bytes, number_add(facts->large_bytes, facts->huge_bytes));
    for (size_t i = 0; i < facts->class_count; i++) {
        const struct strata_class_facts *class = &facts->classes[i];
        slabs = number_add(slabs, class->slabs);
        small.touched_bytes = number_add(small.touched_bytes, class->touched_bytes);
        total->rounding_small_bytes =
            number_add(total->rounding_small_bytes, lost_by(class));
        total->sampled_requests =
            number_add(total->sampled_requests, class->sampled_requests);
    }
    small.held_bytes = slabs <= UINT64_MAX / SLAB_BYTES ? slabs * SLAB_BYTES : UINT64_MAX;
    small.held_bytes = number_add(small.held_bytes, facts->mixed_bytes);
    small.touched_bytes = number_add(small.touched_bytes, facts->mixed_touched_bytes);
    finish(&small);
    return small;
}

static void add_kinds(struct strata_total *total, const struct strata_facts *facts)
{
    const struct strata_kind small = small_of(total, facts);
    const struct strata_kind huge = {.held_bytes = facts->huge_bytes,
        .in_use_bytes = facts->huge_bytes,
        .touched_bytes = facts->huge_bytes};
    const struct strata_kind spans = {.held_bytes = facts->span_free_bytes,
        .free_bytes = facts->span_free_bytes,
        .touched_bytes = facts->span_touched_bytes};
    const uint64_t others =
        number_add(number_add(small.held_bytes, huge.held_bytes), spans.held_bytes);
    struct strata_kind large = {.in_use_bytes = facts->large_bytes,
        .held_bytes = number_subtract(facts->held_bytes, others)};

    large.touched_bytes = number_subtract(facts->touched_bytes,
        number_add(
            number_add(small.touched_bytes, huge.touched_bytes), spans.touched_bytes));
    finish(&large);
    add(&total->small, &small);
    add(&total->large, &large);
    add(&total->huge, &huge);
    add(&total->spans, &spans);
    add(&total->all, &small);
    add(&total->all, &large);
    add(&total->all, &huge);
    add(&total->all, &spans);
}

struct strata_kind strata_class_kind(
    const struct strata_class_facts *class, struct strata_kind *shared)
{
    const uint64_t bytes = class->block_bytes;
    const uint64_t slabs = number_smaller(class->slabs, UINT32_MAX);
    const uint64_t room = bytes == 0 ? 0 : slabs * (SLAB_BYTES / bytes);
    const uint64_t out = number_smaller(number_subtract(room, class->free_blocks),
        number_add(class->in_use_blocks, class->cached_blocks));
    const uint64_t cached = number_smaller(class->cached_blocks, out);
    struct strata_kind kind = {.held_bytes = slabs * SLAB_BYTES,
        .in_use_bytes = (out - cached) * bytes,
        .cached_bytes = cached * bytes,
        .touched_bytes = class->touched_bytes};
    struct strata_kind rest = {
        .in_use_bytes = (class->in_use_blocks - (out - cached)) * bytes,
        .cached_bytes = (class->cached_blocks - cached) * bytes};

    finish(&kind);
    add(shared, &rest);
    return kind;
}

struct strata_kind strata_shared_kind(
    const struct strata_facts *facts, const struct strata_kind *shared)
{
    struct strata_kind kind = *shared;

    kind.held_bytes = facts->mixed_bytes;
    kind.touched_bytes = facts->mixed_touched_bytes;
    finish(&kind);
    return kind;
}

void strata_total_add(struct strata_total *total, const struct strata_facts *facts)
{
    if (!state_is_known(facts->state)) {
        total->unread += facts->why != NULL;
        return;
    }
    total->processes++;
    total->plus_minus_bytes =
        number_add(total->plus_minus_bytes, facts->plus_minus_bytes);
    add_kinds(total, facts);
    total->in_use_blocks = number_add(total->in_use_blocks, facts->in_use_blocks);
    total->huge_blocks = number_add(total->huge_blocks, facts->huge_blocks);
    total->descriptor_bytes =
        number_add(total->descriptor_bytes, facts->descriptor_bytes);
    total->table_bytes = number_add(total->table_bytes, facts->table_bytes);
    total->purged_bytes = number_add(total->purged_bytes, facts->purged_bytes);
    total->slab_tail_bytes = number_add(total->slab_tail_bytes, facts->slab_tail_bytes);
    total->rounding_large_bytes = number_add(total->rounding_large_bytes,
        number_subtract(
            number_add(facts->large_bytes, facts->huge_bytes), facts->large_asked_bytes));
    if (!state_is_known(facts->resident_state)) {
        total->unseen++;
        return;
    }
    total->resident_bytes = number_add(total->resident_bytes, facts->resident_bytes);
    total->free_resident_bytes =
        number_add(total->free_resident_bytes, facts->free_resident_bytes);
    total->free_resident_bytes =
        number_add(total->free_resident_bytes, facts->cached_bytes);
}
