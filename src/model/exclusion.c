/*
 * exclusion.c - conclusions from what malloc says it holds and which allocators run.
 *
 * docs/decisions/003-every-resident-byte-has-one-name.md says why this is honest: a
 * conclusion is drawn only for bytes that malloc's own books do not claim.
 */
#include "model/exclusion.h"

#include "base/number.h"
#include "model/known.h"

static bool has_span(const struct process_facts *process, enum span_owner owner)
{
    for (size_t i = 0; i < process->span_count; i++) {
        if (process->spans[i].owner == (uint32_t)owner) {
            return true;
        }
    }
    return false;
}

/*
 * The allocator that owns unmarked anonymous memory by exclusion. PHP, Python and strata
 * are meant only when their spans were not found: else their memory is known exactly.
 */
static int owner_by_exclusion(const struct process_facts *process)
{
    int fallback = -1;

    for (size_t i = 0; i < process->allocator_count; i++) {
        const struct allocator_facts *allocator = &process->allocators[i];

        if (!allocator->active || allocator->kind >= ALLOCATOR_KIND_COUNT ||
            allocator->kind == ALLOCATOR_GLIBC) {
            continue;
        }
        if (allocator->kind == ALLOCATOR_ZEND) {
            fallback = has_span(process, SPAN_ZEND_CHUNK) ? fallback : ALLOCATOR_ZEND;
        } else if (allocator->kind == ALLOCATOR_STRATA) {
            fallback =
                has_span(process, SPAN_STRATA_REGION) ? fallback : ALLOCATOR_STRATA;
        } else if (allocator->kind == ALLOCATOR_PYTHON) {
            fallback = has_span(process, SPAN_PYTHON_ARENA) ? fallback : ALLOCATOR_PYTHON;
        } else {
            return (int)allocator->kind;
        }
    }
    return fallback;
}

/* strata's malloc serves the process, and its places are all among the spans. */
static bool strata_is_complete(const struct process_facts *process)
{
    const struct strata_facts *strata = &process->strata;

    return state_is_known(strata->state) && strata->places_known;
}

struct exclusion exclusion_of(const struct process_facts *process)
{
    const struct glibc_facts *glibc = &process->glibc;
    const struct fact *found = &glibc->mmapped_found_bytes;
    const uint64_t mmapped = glibc->parameters.mmapped_bytes;
    struct exclusion exclusion = {
        .brk_is_glibc = has_span(process, SPAN_GLIBC_MAIN_HEAP),
        .other_allocator = owner_by_exclusion(process),
    };

    if (strata_is_complete(process)) {
        exclusion.malloc_complete = true;
    }
    if (state_is_known(glibc->state) && state_is_known(glibc->parameters.state)) {
        exclusion.malloc_complete = true;
        exclusion.missing_mmapped_bytes =
            fact_is_known(found) ? number_subtract(mmapped, found->value) : mmapped;
    }
    return exclusion;
}
