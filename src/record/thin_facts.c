/*
 * thin_facts.c - which mappings, and which of their values, an account depends on.
 *
 * Most mappings of a process are pieces of libraries, the same in each worker of a pool, and
 * half of them have no page in memory. model/mapping_kind.c needs the executable ones, which tell
 * libraries from other files, and the writable ones, behind which bss begins; model/partition.c
 * what is resident, anonymous memory of any size, and all that a span lies in. test_look holds
 * this to what the model and the rules really read.
 */
#include "record/thin_facts.h"

#include <errno.h>
#include <string.h>

enum { MOST_BYTES = 512 << 20 };

/* What an account reads; of the rest of the values none is missed. */
static const enum mapping_fact read_values[] = {
    MAPPING_FACT_RSS,
    MAPPING_FACT_PSS,
    MAPPING_FACT_PRIVATE_CLEAN,
    MAPPING_FACT_PRIVATE_DIRTY,
    MAPPING_FACT_ANONYMOUS,
};

/* Rules sum these over the mappings where the kernel has no smaps_rollup. */
static const struct {
    enum process_fact rollup;
    enum mapping_fact value;
} summed_values[] = {
    {PROCESS_FACT_LAZY_FREE, MAPPING_FACT_LAZY_FREE},
    {PROCESS_FACT_ANON_HUGE, MAPPING_FACT_ANON_HUGE},
};

static bool is_known(const struct fact *fact)
{
    return fact->state == FACT_OK || fact->state == FACT_STALE;
}

static bool is_zero(const struct fact *fact)
{
    return fact->state == FACT_OK && fact->value == 0 && fact->plus_minus == 0;
}

/* Zero is a number, and one that is missing another: both have to stay what they are. */
static bool has_nothing(const struct mapping *mapping)
{
    for (int i = 0; i < MAPPING_FACT_COUNT; i++) {
        const struct fact *fact = &mapping->values[i];
        if (fact->state != FACT_ABSENT && !is_zero(fact)) {
            return false;
        }
    }
    return is_zero(&mapping->values[MAPPING_FACT_RSS]) &&
           is_zero(&mapping->values[MAPPING_FACT_PSS]);
}

static bool is_idle_file(const struct mapping *mapping)
{
    return mapping->inode != 0 &&
           (mapping->permissions & (MAPPING_WRITE | MAPPING_EXECUTE)) == 0 &&
           has_nothing(mapping);
}

static struct mapping thin_mapping(
    const struct process_facts *process, const struct mapping *mapping)
{
    struct mapping thin = *mapping;

    thin.offset_bytes = 0;
    memset(thin.values, 0, sizeof(thin.values));
    for (size_t i = 0; i < sizeof(read_values) / sizeof(read_values[0]); i++) {
        thin.values[read_values[i]] = mapping->values[read_values[i]];
    }
    for (size_t i = 0; i < sizeof(summed_values) / sizeof(summed_values[0]); i++) {
        if (!is_known(&process->values[summed_values[i].rollup])) {
            thin.values[summed_values[i].value] = mapping->values[summed_values[i].value];
        }
    }
    return thin;
}

static int thin_process(struct region *region, struct process_facts *process)
{
    const struct mapping *mappings = process->mappings;
    const size_t count = process->mapping_count;
    struct mapping *kept = region_alloc(region, (count + 1) * sizeof(*kept));
    size_t span = 0;
    size_t kept_count = 0;

    if (kept == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        while (
            span < process->span_count && process->spans[span].end <= mappings[i].start) {
            span++;
        }
        const bool covered =
            span < process->span_count && process->spans[span].start < mappings[i].end;
        /* One stays in any case: that there are mappings is known by that. */
        if (covered || !is_idle_file(&mappings[i]) ||
            (kept_count == 0 && i + 1 == count)) {
            kept[kept_count++] = thin_mapping(process, &mappings[i]);
        }
    }
    process->mappings = kept;
    process->mapping_count = kept_count;
    return 0;
}

int thin_facts(const struct facts *facts, struct facts *thin)
{
    const size_t bytes = facts->process_count * sizeof(*facts->processes);
    int rc = 0;

    *thin = *facts;
    region_init(&thin->region, MOST_BYTES);
    thin->processes = region_alloc(&thin->region, bytes + 1);
    if (thin->processes == NULL) {
        rc = -ENOMEM;
    } else if (bytes > 0) {
        memcpy(thin->processes, facts->processes, bytes);
    }
    for (size_t i = 0; rc == 0 && i < thin->process_count; i++) {
        rc = thin_process(&thin->region, &thin->processes[i]);
    }
    if (rc != 0) {
        region_release(&thin->region);
    }
    return rc;
}
