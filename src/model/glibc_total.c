/*
 * glibc_total.c - sums over arenas, with what is missing counted beside them.
 *
 * malloc_trim() madvises whole free pages of every arena but lowers the top of the main
 * arena only (mtrim and systrim, malloc/malloc.c, glibc 2.31 to 2.43), so resident tops
 * of other arenas are kept apart: nothing but the end of the process gives them back.
 */
#include "model/glibc_total.h"

#include "base/number.h"
#include "model/known.h"

static void add_resident(struct glibc_total *total, const struct glibc_arena *arena)
{
    if (!state_is_known(arena->resident_state)) {
        total->arenas_unseen++;
        return;
    }
    total->free_resident_bytes =
        number_add(total->free_resident_bytes, arena->free_resident_bytes);
    total->free_resident_bytes =
        number_add(total->free_resident_bytes, arena->top_resident_bytes);
    total->trim_gain_bytes = number_add(total->trim_gain_bytes, arena->trim_gain_bytes);
    total->top_untrimmable_bytes = number_add(total->top_untrimmable_bytes,
        number_subtract(arena->top_resident_bytes, arena->top_trimmable_bytes));
}

static void add_shared(struct glibc_total *total, const struct glibc_arena *arena)
{
    if (!fact_is_known(&arena->free_shared_bytes)) {
        total->arenas_unshared++;
        return;
    }
    total->free_shared_bytes =
        number_add(total->free_shared_bytes, arena->free_shared_bytes.value);
    total->free_chunks = number_add(total->free_chunks, arena->free_chunks);
    total->free_chunks = number_add(total->free_chunks, arena->fast_chunks);
}

static void add_arena(struct glibc_total *total, const struct glibc_arena *arena)
{
    total->arenas++;
    if (!state_is_known(arena->state)) {
        total->arenas_unread++;
        total->arenas_unseen++;
        total->arenas_unshared++;
        return;
    }
    total->held_bytes = number_add(total->held_bytes, arena->held_bytes);
    total->in_use_bytes = number_add(total->in_use_bytes, arena->in_use_bytes);
    total->in_use_bytes = number_add(total->in_use_bytes, arena->overhead_bytes);
    total->free_bytes = number_add(total->free_bytes, arena->free_bytes);
    total->free_bytes = number_add(total->free_bytes, arena->fast_bytes);
    total->free_bytes = number_add(total->free_bytes, arena->top_bytes);
    total->cached_bytes = number_add(total->cached_bytes, arena->cached_bytes);
    total->plus_minus_bytes =
        number_add(total->plus_minus_bytes, arena->plus_minus_bytes);
    add_resident(total, arena);
    add_shared(total, arena);
}

void glibc_total_add(struct glibc_total *total, const struct glibc_facts *glibc)
{
    for (size_t i = 0; i < glibc->arena_count; i++) {
        add_arena(total, &glibc->arenas[i]);
    }
    if (state_is_known(glibc->parameters.state)) {
        uint64_t mmapped_bytes = glibc->parameters.mmapped_bytes;
        total->mmapped_bytes = number_add(total->mmapped_bytes, mmapped_bytes);
        total->mmapped_blocks =
            number_add(total->mmapped_blocks, glibc->parameters.mmapped_blocks);
        total->held_bytes = number_add(total->held_bytes, mmapped_bytes);
        total->in_use_bytes = number_add(total->in_use_bytes, mmapped_bytes);
    }
}

struct glibc_total glibc_total_of(const struct snapshot *snapshot)
{
    struct glibc_total total = {0};

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct glibc_facts *glibc = &snapshot->members[i].facts->glibc;
        if (state_is_known(glibc->state)) {
            glibc_total_add(&total, glibc);
        }
    }
    return total;
}
