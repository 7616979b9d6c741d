/*
 * arena_share.c - from the pages of an arena to blocks in use, free memory and top.
 *
 * The heaps of an arena may lie in several mappings, and facts on free pages are per arena;
 * so the resident bytes of its heaps are summed first and divided here. What the facts call
 * free beyond what is resident is a conflict, counted in the partition.
 */
#include "model/arena_share.h"

#include "base/number.h"
#include "model/amounts.h"
#include "model/known.h"

void arena_share_add(
    struct arena_share *share, struct budget *budget, uint64_t bytes, bool estimate)
{
    uint64_t pss;

    bytes = budget_take(budget, bytes, &pss);
    share->rss_bytes = number_smaller(share->rss_bytes + bytes, AMOUNTS_MAX_BYTES);
    share->pss_bytes = number_smaller(share->pss_bytes + pss, AMOUNTS_MAX_BYTES);
    share->estimate = share->estimate || estimate;
}

/* Moves bytes of an arena's share to a part, Pss in proportion. */
static uint64_t move_share(struct partition *partition, struct arena_share *share,
    enum part_kind kind, uint64_t bytes)
{
    struct budget budget = budget_of(share->rss_bytes, share->pss_bytes);
    uint64_t pss;

    bytes = budget_take(&budget, bytes, &pss);
    amounts_add(&partition->rss, kind, bytes);
    amounts_add(&partition->pss, kind, pss);
    if (share->estimate && bytes > 0) {
        partition->rss.estimate[kind] = true;
        partition->pss.estimate[kind] = true;
    }
    share->rss_bytes = budget.rss_bytes;
    share->pss_bytes = budget.pss_bytes;
    return bytes;
}

/*
 * Blocks in use are what is neither free nor top, headers included, but no more than was
 * handed out: what is resident beyond that is free and shares its pages with blocks in use.
 * Where these free bytes were counted they come first, since of the blocks in use some pages
 * may never have been touched.
 */
void arena_share_divide(struct arena_share *share, const struct glibc_arena *arena,
    struct partition *partition)
{
    if (!state_is_known(arena->state) || !state_is_known(arena->resident_state)) {
        (void)move_share(partition, share, PART_GLIBC_UNREAD, share->rss_bytes);
        return;
    }
    const enum part_kind top_kind =
        arena->main ? PART_GLIBC_MAIN_TOP : PART_GLIBC_ARENA_TOPS;
    const uint64_t gain_bytes =
        number_subtract(arena->trim_gain_bytes, arena->top_trimmable_bytes);
    const uint64_t inner_bytes = number_smaller(gain_bytes, arena->free_resident_bytes);
    const uint64_t want =
        number_add(arena->top_resident_bytes, arena->free_resident_bytes);
    uint64_t moved = move_share(partition, share, top_kind, arena->top_resident_bytes);

    moved += move_share(partition, share, PART_GLIBC_FREE, inner_bytes);
    moved += move_share(partition, share, PART_GLIBC_FREE_EDGES,
        arena->free_resident_bytes - inner_bytes);
    partition->conflict_bytes = number_add(partition->conflict_bytes, want - moved);
    if (fact_is_known(&arena->free_shared_bytes)) {
        (void)move_share(
            partition, share, PART_GLIBC_FREE_EDGES, arena->free_shared_bytes.value);
    }
    (void)move_share(partition, share, PART_GLIBC_IN_USE,
        number_add(arena->in_use_bytes, arena->overhead_bytes));
    (void)move_share(partition, share, PART_GLIBC_FREE_EDGES, share->rss_bytes);
}
