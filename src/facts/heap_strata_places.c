/*
 * heap_strata_places.c - the directory of layout_places.h, in the memory of the process.
 *
 * It is private, since it holds addresses, so it needs the right to read that memory. Only
 * its used entries are read, some at a time. Resident pages are counted by the page map, and
 * of regions less is subtracted what is in use there: pages between that hold no live
 * block are what could go back. A live block that was never written to makes that too
 * little, never too much.
 */
#include "facts/heap_strata_places.h"

#include <errno.h>
#include <string.h>
#include <strata/layout_places.h>

#include "base/number.h"
#include "facts/root.h"
#include "facts/span_list.h"

enum { PLACES_AT_ONCE = 256 };

/* The beginning of struct strata_directory, which as a whole is too large for a stack. */
struct directory_head {
    char magic[sizeof(STRATA_DIRECTORY_MAGIC)];
    uint32_t place_count;
    uint32_t places_lost;
    uint32_t huge_count;
};
_Static_assert(offsetof(struct directory_head, huge_count) ==
                   offsetof(struct strata_directory, huge_count),
    "the same places");

/* What the spans that were added come to. */
struct place_sums {
    uint64_t region_bytes;
    uint64_t huge_bytes;
    uint64_t region_resident_bytes;
    uint64_t huge_resident_bytes;
    uint32_t resident_state;
};

static int add_span(const struct heap_strata_source *source, struct region *region,
    struct process_facts *process, const struct span *span)
{
    int rc = span_list_add(source->memory, region, process, span);

    /* What cannot be a span of memory is a lie, and then the sums will not agree. */
    return rc == -EINVAL || rc == -EFBIG ? 0 : rc;
}

static int add_place(const struct heap_strata_source *source, struct region *region,
    struct process_facts *process, const struct strata_place *place,
    struct place_sums *sums)
{
    const uint64_t kind = place->bytes_and_kind & STRATA_PLACE_KIND_MASK;
    const uint64_t bytes = place->bytes_and_kind & ~STRATA_PLACE_KIND_MASK;
    struct span span = {
        .start = place->address, .end = place->address, .owner = SPAN_STRATA_BOOKS};

    if (bytes == 0 || place->address > UINT64_MAX - bytes) {
        return 0;
    }
    span.end += bytes;
    if (kind == STRATA_PLACE_REGION) {
        span.owner = SPAN_STRATA_REGION;
    } else if (kind == STRATA_PLACE_HUGE) {
        span.owner = SPAN_STRATA_HUGE;
    }
    const size_t before = process->span_count;
    int rc = add_span(source, region, process, &span);
    if (rc != 0 || process->span_count == before) {
        return rc;
    }
    const struct fact *resident = &process->spans[before].resident;
    if (resident->state != FACT_OK) {
        sums->resident_state = resident->state;
    }
    if (span.owner == SPAN_STRATA_REGION) {
        sums->region_bytes = number_add(sums->region_bytes, bytes);
        sums->region_resident_bytes =
            number_add(sums->region_resident_bytes, resident->value);
    } else if (span.owner == SPAN_STRATA_HUGE) {
        sums->huge_bytes = number_add(sums->huge_bytes, bytes);
        sums->huge_resident_bytes =
            number_add(sums->huge_resident_bytes, resident->value);
    }
    return 0;
}

static int add_places(const struct heap_strata_source *source, struct region *region,
    struct process_facts *process, uint64_t address, uint32_t count,
    struct place_sums *sums)
{
    struct strata_place places[PLACES_AT_ONCE];
    int rc = 0;

    for (uint32_t done = 0; rc == 0 && done < count;) {
        const uint32_t left = count - done;
        const uint32_t some = left < PLACES_AT_ONCE ? left : PLACES_AT_ONCE;
        rc = memory_read_present(source->memory, address + done * sizeof(places[0]),
            places, some * sizeof(places[0]));
        for (uint32_t i = 0; rc == 0 && i < some; i++) {
            rc = add_place(source, region, process, &places[i], sums);
        }
        done += some;
    }
    return rc;
}

static int read_directory(const struct heap_strata_source *source, struct region *region,
    struct process_facts *process, struct place_sums *sums)
{
    const uint64_t address = source->address + STRATA_DIRECTORY_OFFSET;
    struct directory_head head;

    int rc = memory_read_present(source->memory, address, &head, sizeof(head));
    if (rc != 0) {
        return rc;
    }
    if (memcmp(head.magic, STRATA_DIRECTORY_MAGIC, sizeof(head.magic)) != 0 ||
        head.place_count > STRATA_DIRECTORY_PLACES ||
        head.huge_count > STRATA_DIRECTORY_HUGE) {
        return -EINVAL;
    }
    rc = add_places(source, region, process,
        address + offsetof(struct strata_directory, places), head.place_count, sums);
    return rc != 0 ? rc
                   : add_places(source, region, process,
                         address + offsetof(struct strata_directory, huge),
                         head.huge_count, sums);
}

static void set_residency(struct strata_facts *facts, const struct place_sums *sums)
{
    const uint64_t blocks = number_add(
        number_subtract(facts->in_use_bytes, facts->huge_bytes), facts->cached_bytes);

    facts->places_known =
        number_add(sums->region_bytes, sums->huge_bytes) == facts->held_bytes &&
        sums->huge_bytes == facts->huge_bytes;
    facts->resident_state = sums->resident_state;
    if (sums->resident_state == FACT_OK && !facts->places_known) {
        facts->resident_state = facts->state == FACT_STALE ? FACT_STALE : FACT_MALFORMED;
    }
    facts->resident_bytes =
        number_add(sums->region_resident_bytes, sums->huge_resident_bytes);
    facts->huge_resident_bytes = sums->huge_resident_bytes;
    facts->free_resident_bytes = number_subtract(sums->region_resident_bytes, blocks);
}

int heap_strata_places_read(const struct heap_strata_source *source,
    struct region *region, struct process_facts *process)
{
    struct strata_facts *facts = &process->strata;
    struct place_sums sums = {.resident_state = FACT_OK};

    if (source->memory == NULL) {
        facts->resident_state = FACT_DENIED;
        return 0;
    }
    if (source->address == 0) {
        facts->resident_state = FACT_ABSENT;
        return 0;
    }
    if (source->segment != NULL) {
        /* The region itself is memory of the allocator too. */
        const struct span span = {.start = source->address,
            .end = source->address + source->bytes,
            .owner = SPAN_STRATA_BOOKS};
        int rc = add_span(source, region, process, &span);
        if (rc != 0) {
            return rc;
        }
    }
    int rc = read_directory(source, region, process, &sums);
    if (rc == -ESRCH || rc == -ENOMEM) {
        return rc;
    }
    if (rc != 0) {
        facts->resident_state = facts_state_of(rc);
        return 0;
    }
    set_residency(facts, &sums);
    return 0;
}
