/*
 * trial_look.c - full looks at the pool, heaps included, as `strata explain` takes them.
 *
 * They cost more than samples, so there are few: some in the last run, of which the one with
 * the largest request is kept, and one after the quiet time.
 */
#include "trial/trial_look.h"

#include "facts/collect.h"
#include "model/known.h"

/* The largest real of any request heap, and of what FPM says of last requests. */
static uint64_t largest_real(const struct facts *facts)
{
    uint64_t most = 0;

    for (size_t i = 0; i < facts->process_count; i++) {
        const struct zend_facts *zend = &facts->processes[i].zend;
        for (size_t j = 0; j < zend->heap_count; j++) {
            const struct zend_heap_facts *heap = &zend->heaps[j];
            most = state_is_known(heap->state) && heap->peak_real_bytes > most
                       ? heap->peak_real_bytes
                       : most;
        }
    }
    for (size_t i = 0; i < facts->fpm_pool_count; i++) {
        const struct fpm_pool_facts *pool = &facts->fpm_pools[i];
        for (size_t j = 0; j < pool->worker_count; j++) {
            const struct fact *memory = &pool->workers[j].last_request_memory;
            most = fact_is_known(memory) && memory->value > most ? memory->value : most;
        }
    }
    return most;
}

/* A full look; the one with the largest request is kept. */
void trial_look_closely(struct trial *trial)
{
    struct trial_look *look = trial->look;
    struct facts facts;

    if (facts_collect(trial->root, trial_target(trial), COLLECT_EXPLAIN, &facts, NULL) !=
        0) {
        return;
    }
    const uint64_t real = largest_real(&facts);
    if (look->taken && real < look->peak_real_bytes) {
        region_release(&facts.region);
        return;
    }
    if (look->taken) {
        region_release(&look->facts.region);
    }
    look->taken = true;
    look->facts = facts;
    look->peak_real_bytes = real;
}

void trial_count_trim_gain(struct trial *trial)
{
    struct fact *gain = &trial->row->trim_gain;
    struct facts now;

    if (facts_collect(trial->root, trial_target(trial), COLLECT_EXPLAIN, &now, NULL) !=
        0) {
        return;
    }
    *gain = (struct fact){.state = FACT_OK};
    for (size_t i = 0; i < now.process_count; i++) {
        const struct process_facts *process = &now.processes[i];
        for (size_t j = 0; j < process->glibc.arena_count; j++) {
            const struct glibc_arena *arena = &process->glibc.arenas[j];
            gain->value +=
                state_is_known(arena->state) && state_is_known(arena->resident_state)
                    ? arena->trim_gain_bytes
                    : 0;
        }
        for (size_t j = 0; j < process->zend.heap_count; j++) {
            const struct zend_heap_facts *heap = &process->zend.heaps[j];
            gain->value += state_is_known(heap->deep_state) ? heap->gc_resident_bytes : 0;
        }
    }
    region_release(&now.region);
}
