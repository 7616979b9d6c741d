/*
 * span_list.c - keeps the spans of a process sorted and disjoint.
 *
 * Each claim on an address comes from content, and content can lie: a stack that a
 * program took from malloc is both, and stale bytes may look like anything. So claims may
 * overlap until they are settled; the owners of enum span_owner stand in the order of
 * precedence.
 */
#include "facts/span_list.h"

#include <errno.h>
#include <stdlib.h>

#include "facts/root.h"
#include "facts_types/facts.h"

/* No allocator's piece is larger; it bounds the time that a hostile claim may cost. */
#define SPAN_MAX_BYTES (UINT64_C(1) << 40)

static struct fact count_resident(struct memory *memory, uint64_t start, uint64_t end)
{
    uint64_t pages;
    int rc = memory_count_present(memory, start, end, &pages);

    if (rc != 0) {
        return (struct fact){.state = facts_state_of(rc)};
    }
    return (struct fact){.value = pages * memory->page_bytes, .state = FACT_OK};
}

int span_list_add(struct memory *memory, struct region *region,
    struct process_facts *process, const struct span *span)
{
    if (span->end <= span->start || span->end - span->start > SPAN_MAX_BYTES ||
        span->end > UINT64_MAX - memory->page_bytes) {
        return -EINVAL;
    }
    if (process->span_count >= FACTS_MAX_SPANS) {
        return -EFBIG;
    }
    struct span *place = region_grow(
        region, &process->spans, process->span_count, FACTS_MAX_SPANS, sizeof(*place));
    if (place == NULL) {
        return -ENOMEM;
    }
    *place = *span;
    place->resident = count_resident(memory, span->start, span->end);
    process->span_count++;
    return 0;
}

static int compare_spans(const void *left, const void *right)
{
    const struct span *a = left;
    const struct span *b = right;

    if (a->start != b->start) {
        return a->start < b->start ? -1 : 1;
    }
    return (a->owner > b->owner) - (a->owner < b->owner);
}

void span_list_settle(struct span *spans, size_t *count)
{
    size_t kept = 0;

    if (*count == 0) {
        return;
    }
    qsort(spans, *count, sizeof(*spans), compare_spans);
    for (size_t i = 0; i < *count; i++) {
        if (kept == 0 || spans[i].start >= spans[kept - 1].end) {
            spans[kept++] = spans[i];
        } else if (spans[i].owner < spans[kept - 1].owner) {
            spans[kept - 1] = spans[i];
        }
    }
    *count = kept;
}

uint64_t span_list_behind(const struct span *spans, size_t count, uint64_t address)
{
    size_t low = 0;
    size_t high = count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (address < spans[middle].start) {
            high = middle;
        } else if (address >= spans[middle].end) {
            low = middle + 1;
        } else {
            return spans[middle].end;
        }
    }
    return address;
}
