/*
 * partition.c - divides Rss, and Pss with it, among the parts of part_table.
 *
 * Order of ownership inside one mapping: first the spans in it, whose owner was recognised
 * by content; then the kind of the mapping; then, for anonymous memory, what can be
 * said by exclusion. The last part is "unexplained". A span never gets more than the
 * mapping has left, so the parts of a mapping sum to its Rss and no part is negative.
 *
 * Pages that were only read are present in pagemap (the zero page) but not in Rss; that
 * surplus is counted, not shown as memory.
 */
#include "model/partition.h"

#include <errno.h>

#include "base/number.h"
#include "model/arena_share.h"
#include "model/budget.h"
#include "model/exclusion.h"
#include "model/known.h"
#include "model/mapping_kind.h"
#include "model/strata_layers.h"
#include "model/zend_layers.h"

enum {
    /* Loader and TLS mappings are a few pages; no allocator maps less than this. */
    LOADER_MAPPING_MAX_BYTES = 64 << 10,
    /* Beyond this sum, small mappings are more than a loader's work. */
    LOADER_TOTAL_MAX_BYTES = 256 << 10,
    /* From this size on, a mapping is somebody's buffer and not the crumbs of a runtime. */
    MAPPED_BUFFER_MIN_BYTES = 256 << 10,
};

struct divider {
    const struct process_facts *process;
    struct partition *partition;
    struct program_files files;
    struct arena_share *arenas;
    size_t arena_count;
    size_t span_count; /* 0 when the spans cannot be trusted to be in order */
    size_t next_span;
    uint64_t span_used_bytes; /* of the resident bytes of next_span */
    uint64_t loader_left_bytes;
    uint64_t
        uncovered_bytes; /* of the mapping under work: address space without a span */
    size_t run_end;      /* index behind the run of mappings that the last one is in */
    uint64_t run_bytes;  /* of that run: address space without a span */
    struct exclusion exclusion;
};

static uint64_t value_or_zero(const struct mapping *mapping, enum mapping_fact fact)
{
    const struct fact *value = &mapping->values[fact];

    return fact_is_known(value) ? value->value : 0;
}

static void give(struct divider *divider, struct budget *budget, enum part_kind kind,
    uint64_t bytes, bool estimate)
{
    uint64_t pss;

    bytes = budget_take(budget, bytes, &pss);
    if (estimate) {
        amounts_add_estimate(&divider->partition->rss, kind, bytes);
        amounts_add_estimate(&divider->partition->pss, kind, pss);
    } else {
        amounts_add(&divider->partition->rss, kind, bytes);
        amounts_add(&divider->partition->pss, kind, pss);
    }
}

static size_t main_arena_index(const struct glibc_facts *glibc)
{
    for (size_t i = 0; i < glibc->arena_count; i++) {
        if (glibc->arenas[i].main) {
            return i;
        }
    }
    return SIZE_MAX;
}

static void give_to_arena(struct divider *divider, struct budget *budget,
    const struct span *span, uint64_t bytes, bool estimate)
{
    const size_t index = span->owner == SPAN_GLIBC_MAIN_HEAP
                             ? main_arena_index(&divider->process->glibc)
                             : span->index;

    if (index >= divider->arena_count) {
        give(divider, budget, PART_GLIBC_UNREAD, bytes, estimate);
        return;
    }
    arena_share_add(&divider->arenas[index], budget, bytes, estimate);
}

static void give_to_span(struct divider *divider, struct budget *budget,
    const struct span *span, uint64_t bytes, bool estimate)
{
    enum part_kind kind = PART_UNEXPLAINED;

    switch ((enum span_owner)span->owner) {
    case SPAN_GLIBC_MAIN_HEAP:
    case SPAN_GLIBC_ARENA_HEAP:
        give_to_arena(divider, budget, span, bytes, estimate);
        return;
    case SPAN_STRATA_REGION:
        kind = PART_STRATA_IN_USE; /* strata_layers_split() divides it */
        break;
    case SPAN_STRATA_HUGE:
        kind = PART_STRATA_HUGE;
        break;
    case SPAN_STRATA_BOOKS:
        kind = PART_STRATA_BOOKS;
        break;
    case SPAN_GLIBC_MMAPPED:
        kind = PART_GLIBC_MMAPPED;
        break;
    case SPAN_THREAD_STACK:
        kind = PART_THREAD_STACKS;
        break;
    case SPAN_CACHED_STACK:
        kind = PART_CACHED_STACKS;
        break;
    case SPAN_ZEND_CHUNK:
        kind = PART_ZEND_CHUNKS;
        break;
    case SPAN_ZEND_HUGE:
        kind = PART_ZEND_HUGE;
        break;
    case SPAN_PYTHON_ARENA:
        kind = PART_PYTHON_ARENAS;
        break;
    case SPAN_OPCACHE:
        kind = PART_OPCACHE;
        break;
    case SPAN_APCU:
        kind = PART_APCU;
        break;
    case SPAN_OWNER_COUNT:
        break;
    }
    give(divider, budget, kind, bytes, estimate);
}

/*
 * The resident bytes of the piece of span that lies in mapping. pagemap counts pages of
 * a whole span; of one that lies in several mappings each takes as much as it can hold.
 * Without pagemap the Rss of the mapping is spread evenly over its pages.
 */
static void divide_span(struct divider *divider, const struct mapping *mapping,
    const struct span *span, uint64_t rss_bytes, struct budget *budget)
{
    const uint64_t start = span->start > mapping->start ? span->start : mapping->start;
    const uint64_t overlap = number_smaller(span->end, mapping->end) - start;
    const bool counted = fact_is_known(&span->resident);
    uint64_t want;

    divider->uncovered_bytes = number_subtract(divider->uncovered_bytes, overlap);
    if (!counted) {
        const uint64_t size = mapping->end - mapping->start;
        want = overlap == size
                   ? rss_bytes
                   : (uint64_t)((double)rss_bytes * ((double)overlap / (double)size));
        give_to_span(divider, budget, span, want, overlap != size);
        return;
    }
    want = number_subtract(span->resident.value, divider->span_used_bytes);
    want = number_smaller(want, overlap);
    if (span->end <= mapping->end && want > budget->rss_bytes) {
        divider->partition->surplus_bytes =
            number_add(divider->partition->surplus_bytes, want - budget->rss_bytes);
    }
    want = number_smaller(want, budget->rss_bytes);
    divider->span_used_bytes = number_add(divider->span_used_bytes, want);
    give_to_span(divider, budget, span, want, false);
}

static void divide_spans(struct divider *divider, const struct mapping *mapping,
    uint64_t rss_bytes, struct budget *budget)
{
    while (divider->next_span < divider->span_count) {
        const struct span *span = &divider->process->spans[divider->next_span];

        if (span->start >= mapping->end) {
            return;
        }
        if (span->end > mapping->start) {
            divide_span(divider, mapping, span, rss_bytes, budget);
        }
        if (span->end > mapping->end) {
            return;
        }
        divider->next_span++;
        divider->span_used_bytes = 0;
    }
}

/* Pages of a private file mapping are the file's own, or copies made by writing. */
static void divide_file(struct divider *divider, const struct mapping *mapping,
    bool program, struct budget *budget)
{
    const uint64_t anonymous = value_or_zero(mapping, MAPPING_FACT_ANONYMOUS);
    enum part_kind file_kind = PART_FILE_PAGES;

    if (program) {
        file_kind = (mapping->permissions & MAPPING_EXECUTE) != 0
                        ? PART_PROGRAM_CODE
                        : PART_PROGRAM_READ_ONLY;
    }
    give(divider, budget, program ? PART_PROGRAM_DATA : PART_FILE_COPIES, anonymous,
        false);
    give(divider, budget, file_kind, budget->rss_bytes, false);
}

static bool is_anonymous(struct divider *divider, size_t index)
{
    return mapping_kind_of(divider->process, index, &divider->files) ==
           MAPPING_KIND_ANONYMOUS;
}

/*
 * Anonymous mappings that touch were one before mprotect(2) or a flag cut them, or would be
 * one without: their size is that of all of them, as far as it has no owner.
 */
static void begin_run(struct divider *divider, size_t index)
{
    const struct process_facts *process = divider->process;
    const uint64_t start = process->mappings[index].start;
    uint64_t end = start;
    size_t i = index;

    for (; i < process->mapping_count && process->mappings[i].start == end; i++) {
        if (!is_anonymous(divider, i)) {
            break;
        }
        end = process->mappings[i].end;
    }
    divider->run_end = i;
    divider->run_bytes = end - start;
    for (i = divider->next_span; i < divider->span_count; i++) {
        const struct span *span = &process->spans[i];
        if (span->start >= end) {
            break;
        }
        if (span->end > start) {
            const uint64_t from = span->start > start ? span->start : start;
            divider->run_bytes = number_subtract(
                divider->run_bytes, number_smaller(span->end, end) - from);
        }
    }
}

/*
 * Private anonymous memory without a span and without a mark: by exclusion, or not. It is
 * part of ownerless_bytes that belong together.
 */
static void divide_anonymous(struct divider *divider, const struct mapping *mapping,
    uint64_t ownerless_bytes, struct budget *budget)
{
    const uint64_t size = mapping->end - mapping->start;
    const bool is_buffer =
        divider->exclusion.malloc_complete && ownerless_bytes >= MAPPED_BUFFER_MIN_BYTES;

    if (size <= LOADER_MAPPING_MAX_BYTES && !is_buffer) {
        const uint64_t bytes =
            number_smaller(budget->rss_bytes, divider->loader_left_bytes);
        divider->loader_left_bytes -= bytes;
        give(divider, budget, PART_ANON_LOADER, bytes, true);
    }
    if (divider->exclusion.other_allocator >= 0) {
        give(divider, budget,
            (enum part_kind)(PART_ALLOCATOR + divider->exclusion.other_allocator),
            budget->rss_bytes, true);
    }
    if (is_buffer) {
        const uint64_t unknown =
            number_smaller(budget->rss_bytes, divider->exclusion.missing_mmapped_bytes);
        divider->exclusion.missing_mmapped_bytes -= unknown;
        give(divider, budget, PART_UNEXPLAINED, unknown, false);
        give(divider, budget, PART_ANON_MAPPED,
            number_smaller(budget->rss_bytes, divider->uncovered_bytes), true);
    }
    give(divider, budget, PART_UNEXPLAINED, budget->rss_bytes, false);
}

static void divide_brk(
    struct divider *divider, const struct mapping *mapping, struct budget *budget)
{
    if (divider->exclusion.brk_is_glibc) {
        give(divider, budget, PART_BRK_OTHER, budget->rss_bytes, true);
        return;
    }
    divide_anonymous(divider, mapping, divider->uncovered_bytes, budget);
}

/* What the spans left over, by the kind of the mapping. */
static void divide_rest(struct divider *divider, size_t index, struct budget *budget)
{
    const struct mapping *mapping = &divider->process->mappings[index];
    enum part_kind kind = PART_UNEXPLAINED;

    switch (mapping_kind_of(divider->process, index, &divider->files)) {
    case MAPPING_KIND_PROGRAM:
        divide_file(divider, mapping, true, budget);
        return;
    case MAPPING_KIND_FILE:
        divide_file(divider, mapping, false, budget);
        return;
    case MAPPING_KIND_ANONYMOUS:
        divide_anonymous(divider, mapping, divider->run_bytes, budget);
        return;
    case MAPPING_KIND_BRK:
        divide_brk(divider, mapping, budget);
        return;
    case MAPPING_KIND_BSS:
        kind = PART_PROGRAM_DATA;
        break;
    case MAPPING_KIND_SHM_ANONYMOUS:
        kind = PART_SHM_ANONYMOUS;
        break;
    case MAPPING_KIND_SHM_MEMFD:
        kind = PART_SHM_MEMFD;
        break;
    case MAPPING_KIND_SHM_SYSV:
        kind = PART_SHM_SYSV;
        break;
    case MAPPING_KIND_SHM_POSIX:
        kind = PART_SHM_POSIX;
        break;
    case MAPPING_KIND_DEVICE:
        kind = PART_DEVICE;
        break;
    case MAPPING_KIND_KERNEL:
        kind = PART_KERNEL_PAGES;
        break;
    case MAPPING_KIND_MAIN_STACK:
        kind = PART_MAIN_STACK;
        break;
    case MAPPING_KIND_GENERATED_CODE:
        kind = PART_GENERATED_CODE;
        break;
    case MAPPING_KIND_NAMED:
        kind = PART_ANON_NAMED;
        break;
    }
    give(divider, budget, kind, budget->rss_bytes, false);
}

static void divide_mapping(struct divider *divider, size_t index)
{
    const struct mapping *mapping = &divider->process->mappings[index];
    struct partition *partition = divider->partition;
    const uint64_t size = number_subtract(mapping->end, mapping->start);
    const uint64_t rss_bytes = number_smaller(value_or_zero(mapping, MAPPING_FACT_RSS),
        number_smaller(size, AMOUNTS_MAX_BYTES));
    const uint64_t pss_bytes =
        number_smaller(value_or_zero(mapping, MAPPING_FACT_PSS), rss_bytes);
    struct budget budget = budget_of(rss_bytes, pss_bytes);

    if (!fact_is_known(&mapping->values[MAPPING_FACT_PSS])) {
        partition->pss_known = false;
    }
    if (size == 0) {
        return;
    }
    divider->uncovered_bytes = size;
    if (index >= divider->run_end && is_anonymous(divider, index)) {
        begin_run(divider, index);
    }
    partition->private_bytes = number_add(partition->private_bytes,
        number_smaller(
            rss_bytes, number_add(value_or_zero(mapping, MAPPING_FACT_PRIVATE_CLEAN),
                           value_or_zero(mapping, MAPPING_FACT_PRIVATE_DIRTY))));
    divide_spans(divider, mapping, rss_bytes, &budget);
    divide_rest(divider, index, &budget);
}

static bool spans_in_order(const struct process_facts *process)
{
    uint64_t end = 0;

    for (size_t i = 0; i < process->span_count; i++) {
        const struct span *span = &process->spans[i];

        if (span->start < end || span->end <= span->start ||
            span->owner >= SPAN_OWNER_COUNT) {
            return false;
        }
        end = span->end;
    }
    return true;
}

static bool mappings_in_order(const struct process_facts *process)
{
    uint64_t end = 0;

    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];

        if (mapping->start < end || mapping->end < mapping->start) {
            return false;
        }
        end = mapping->end;
    }
    return true;
}

int partition_build(struct region *scratch, const struct process_facts *process,
    struct partition *partition)
{
    struct divider divider = {
        .process = process,
        .partition = partition,
        .arena_count = process->glibc.arena_count,
        .loader_left_bytes = LOADER_TOTAL_MAX_BYTES,
        .exclusion = exclusion_of(process),
    };
    int error;

    *partition = (struct partition){.pss_known = process->mapping_count > 0};
    if (mappings_in_order(process) && spans_in_order(process)) {
        divider.span_count = process->span_count;
    } else {
        divider.exclusion.malloc_complete = false;
        divider.exclusion.brk_is_glibc = false;
    }
    divider.arenas =
        region_alloc(scratch, (divider.arena_count + 1) * sizeof(*divider.arenas));
    error = divider.arenas == NULL ? -ENOMEM : 0;
    if (error == 0) {
        error = program_files_collect(scratch, process, &divider.files);
    }
    if (error != 0) {
        return error;
    }
    for (size_t i = 0; i < process->mapping_count; i++) {
        divide_mapping(&divider, i);
    }
    for (size_t i = 0; i < divider.arena_count; i++) {
        arena_share_divide(&divider.arenas[i], &process->glibc.arenas[i], partition);
    }
    zend_layers_split(process, &partition->rss);
    zend_layers_split(process, &partition->pss);
    strata_layers_split(process, &partition->rss);
    strata_layers_split(process, &partition->pss);
    return 0;
}
