/*
 * strata_layers.c - the figures of strata's malloc as parts.
 *
 * held = blocks in use + blocks kept by CPUs + free; its books (descriptors, tables, address
 * map) lie outside of held. What is free and resident was measured: resident pages of
 * the regions less what is in use and kept there.
 */
#include "model/strata_layers.h"

#include "base/number.h"
#include "model/known.h"

bool strata_layers_add(const struct process_facts *process, struct heap_amounts *amounts)
{
    const struct strata_facts *facts = &process->strata;
    const uint64_t in_use = number_subtract(facts->in_use_bytes, facts->huge_bytes);

    if (!state_is_known(facts->state)) {
        return false;
    }
    amounts_add(&amounts->held, PART_STRATA_IN_USE, in_use);
    amounts_add(&amounts->held, PART_STRATA_HUGE, facts->huge_bytes);
    amounts_add(&amounts->held, PART_STRATA_CACHED, facts->cached_bytes);
    amounts_add(&amounts->held, PART_STRATA_FREE, facts->free_bytes);
    amounts_add(&amounts->in_use, PART_STRATA_IN_USE, in_use);
    amounts_add(&amounts->in_use, PART_STRATA_HUGE, facts->huge_bytes);
    if (state_is_known(facts->resident_state)) {
        amounts_add(&amounts->free_resident, PART_STRATA_CACHED, facts->cached_bytes);
        amounts_add(
            &amounts->free_resident, PART_STRATA_FREE, facts->free_resident_bytes);
        amounts_add(&amounts->never_touched, PART_STRATA_FREE,
            number_subtract(facts->held_bytes, facts->resident_bytes));
    }
    return true;
}

const char *strata_layers_source(
    struct region *region, const struct process_facts *process)
{
    return region_printf(region, "strata malloc: its statistics region%s",
        process->strata.shared ? ", shared with readers" : "");
}

void strata_layers_split(const struct process_facts *process, struct amounts *resident)
{
    const struct strata_facts *facts = &process->strata;
    const uint64_t here = resident->bytes[PART_STRATA_IN_USE];
    const uint64_t seen =
        number_subtract(facts->resident_bytes, facts->huge_resident_bytes);

    if (!state_is_known(facts->state) || !state_is_known(facts->resident_state) ||
        seen == 0) {
        return;
    }
    /* Of a proportional share, the same proportion is free. */
    const double share = here < seen ? (double)here / (double)seen : 1.0;
    amounts_add(resident, PART_STRATA_FREE,
        amounts_take(resident, PART_STRATA_IN_USE,
            amounts_share_of(facts->free_resident_bytes, share)));
    amounts_add(resident, PART_STRATA_CACHED,
        amounts_take(
            resident, PART_STRATA_IN_USE, amounts_share_of(facts->cached_bytes, share)));
}
