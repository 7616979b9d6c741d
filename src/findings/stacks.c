/*
 * stacks.c - memory of threads that is neither heap nor data.
 *
 * A thread's stack is one private mapping; it stays resident down to the deepest use it
 * has seen. glibc keeps stacks of ended threads in a list and hands them out again
 * (allocate_stack, nptl/allocatestack.c; the list is bounded by address space, not by
 * what is resident).
 */
#include "findings/stacks.h"

#include <inttypes.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum { STACKS_MIN_PERCENT = 5, STACKS_WARN_PERCENT = 15 };

static const uint64_t stacks_min_bytes = 8 * FINDING_MIB;
static const uint64_t stacks_warn_bytes = 128 * FINDING_MIB;

struct stack_sum {
    uint64_t alive;
    uint64_t alive_bytes;
    uint64_t cached;
    uint64_t cached_bytes;
    uint64_t reserved_bytes;
};

static void add_stacks(struct stack_sum *sum, const struct process_facts *process)
{
    for (size_t i = 0; i < process->span_count; i++) {
        const struct span *span = &process->spans[i];
        const uint64_t resident =
            fact_is_known(&span->resident) ? span->resident.value : 0;

        if (span->owner == SPAN_THREAD_STACK) {
            sum->alive++;
            sum->alive_bytes = number_add(sum->alive_bytes, resident);
        } else if (span->owner == SPAN_CACHED_STACK) {
            sum->cached++;
            sum->cached_bytes = number_add(sum->cached_bytes, resident);
        } else {
            continue;
        }
        sum->reserved_bytes =
            number_add(sum->reserved_bytes, number_subtract(span->end, span->start));
    }
}

int rule_thread_stacks(const struct snapshot *snapshot, struct finding_list *list)
{
    static const struct fix_variable cache[] = {
        {"GLIBC_TUNABLES", "glibc.pthread.stack_cache_size=1048576"}};
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct stack_sum sum = {0};
    struct finding finding = {.pid = target_pid(snapshot)};
    uint64_t bytes;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        add_stacks(&sum, snapshot->members[i].facts);
    }
    bytes = number_add(sum.alive_bytes, sum.cached_bytes);
    if (!finding_reaches(bytes, stacks_min_bytes, resident, STACKS_MIN_PERCENT)) {
        return 0;
    }
    finding.severity =
        finding_reaches(bytes, stacks_warn_bytes, resident, STACKS_WARN_PERCENT)
            ? SEVERITY_WARN
            : SEVERITY_INFO;
    finding.summary = finding_printf(list,
        "%s of threads and %" PRIu64 " kept of ended ones are resident with %s",
        quantity_count(sum.alive, "stack").text, sum.cached,
        quantity_bytes(bytes, false).text);
    finding.reasoning =
        "a stack stays resident down to its deepest use; glibc keeps stacks of ended "
        "threads for the next ones, 40 MiB of address space by default "
        "(stack_cache_size, from glibc 2.34 on a tunable)";
    finding_add_count(&finding, "stacks", sum.alive);
    finding_add_bytes(&finding, "stacks_resident", sum.alive_bytes);
    finding_add_count(&finding, "cached_stacks", sum.cached);
    finding_add_bytes(&finding, "cached_resident", sum.cached_bytes);
    finding_add_bytes(&finding, "reserved", sum.reserved_bytes);
    if (sum.cached_bytes >= FINDING_MIB) {
        finding_predict(&finding, 0, sum.cached_bytes, CONFIDENCE_ROUGH);
        finding.fix = fix_environment(list, snapshot, cache, 1);
    } else {
        finding.fix = "# fewer threads: a pool, or a lower limit of connections in the "
                      "program's configuration";
    }
    finding.verify = finding_printf(list,
        "strata explain %s: stacks of threads, alive and ended, are less of resident",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
