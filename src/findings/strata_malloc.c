/*
 * strata_malloc.c - what the statistics region of strata's malloc says.
 *
 * The limit is compared with what is charged: pages that may be resident, descriptors and
 * tables (alloc/src/limit.h). Free spans and wholly free pages of slabs go back within half a
 * second unless the background thread is off, but for a reserve of a quarter of the recent
 * peak; what stays longer are pages with a live block on them.
 */
#include "findings/strata_malloc.h"

#include <inttypes.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "findings/retained.h"
#include "model/known.h"
#include "model/strata_total.h"

enum {
    LIMIT_WARN_PERCENT = 90,
    ROOM_SHARE = 4, /* a limit leaves a quarter above the peak */
};

static bool is_limited(const struct strata_facts *facts)
{
    return state_is_known(facts->state) && facts->limit_hard_bytes > 0;
}

/* The member with refusals, else the one nearest to its limit. */
static const struct process_facts *nearest(const struct snapshot *snapshot)
{
    const struct process_facts *best = NULL;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        if (!is_limited(&process->strata)) {
            continue;
        }
        const struct strata_facts *facts = &process->strata;
        if (best == NULL || facts->limit_refused > best->strata.limit_refused ||
            (facts->limit_refused == best->strata.limit_refused &&
                number_subtract(facts->limit_hard_bytes, facts->limit_charged_bytes) <
                    number_subtract(best->strata.limit_hard_bytes,
                        best->strata.limit_charged_bytes))) {
            best = process;
        }
    }
    return best;
}

static const char *limit_fix(struct finding_list *list, const struct snapshot *snapshot,
    const struct strata_facts *facts)
{
    const uint64_t peak = facts->limit_peak_bytes > facts->limit_hard_bytes
                              ? facts->limit_peak_bytes
                              : facts->limit_hard_bytes;
    const uint64_t wanted = number_add(peak, peak / ROOM_SHARE) / FINDING_MIB + 1;
    const char *value = finding_printf(list, "%" PRIu64 "M", wanted);
    const struct fix_variable variable[] = {{"STRATA_LIMIT", value}};

    return value == NULL ? NULL : fix_environment(list, snapshot, variable, 1);
}

int rule_strata_limit(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct process_facts *process = nearest(snapshot);
    const struct strata_facts *facts = process == NULL ? NULL : &process->strata;
    struct finding finding = {.severity = SEVERITY_WARN};

    if (facts == NULL ||
        (facts->limit_refused == 0 && !at_least_percent(facts->limit_charged_bytes,
                                          facts->limit_hard_bytes, LIMIT_WARN_PERCENT))) {
        return 0;
    }
    finding.pid = process->pid;
    if (facts->limit_refused > 0) {
        finding.severity = SEVERITY_CRITICAL;
        finding.summary = finding_printf(list,
            "%s for memory %s refused because of the limit of %s (STRATA_LIMIT)",
            quantity_count(facts->limit_refused, "request").text,
            quantity_form(facts->limit_refused, "was", "were"),
            quantity_bytes(facts->limit_hard_bytes, false).text);
    } else {
        finding.summary = finding_printf(list,
            "malloc holds %s of its limit of %s (STRATA_LIMIT, %s)",
            quantity_bytes(facts->limit_charged_bytes, false).text,
            quantity_bytes(facts->limit_hard_bytes, false).text,
            quantity_percent(facts->limit_charged_bytes, facts->limit_hard_bytes).text);
    }
    finding.reasoning = "before it refuses, malloc gives back all that is free and tries "
                        "again; so what is left is in use";
    finding_add_bytes(&finding, "limit", facts->limit_hard_bytes);
    finding_add_bytes(&finding, "charged", facts->limit_charged_bytes);
    finding_add_bytes(&finding, "charged_peak", facts->limit_peak_bytes);
    finding_add_bytes(&finding, "in_use", facts->in_use_bytes);
    finding_add_count(&finding, "refused", facts->limit_refused);
    finding_add_count(&finding, "purges", facts->limit_purges);
    finding.fix = limit_fix(list, snapshot, facts);
    finding.verify =
        finding_printf(list, "strata explain %s: refused is 0 after the same load",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}

static struct strata_total total_of(const struct snapshot *snapshot)
{
    struct strata_total total = {0};

    for (size_t i = 0; i < snapshot->member_count; i++) {
        strata_total_add(&total, &snapshot->members[i].facts->strata);
    }
    return total;
}

int rule_strata_retained(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct strata_total total = total_of(snapshot);
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t kept = total.free_resident_bytes;
    const uint64_t small = number_subtract(total.small.touched_bytes,
        number_add(total.small.in_use_bytes, total.small.cached_bytes));
    const uint64_t spans = number_smaller(total.spans.touched_bytes, kept);
    struct finding finding = {.pid = target_pid(snapshot)};

    if (total.processes == total.unseen ||
        !retained_grade(kept, resident, &finding.severity)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "strata's malloc keeps %s of freed memory resident (%s of the resident set): %s",
        quantity_bytes(kept, false).text, quantity_percent(kept, resident).text,
        spans == 0
            ? "all of it on pages with live blocks"
            : finding_printf(list,
                  "up to %s in spans that it can give back, the rest on pages with "
                  "live blocks",
                  quantity_bytes(spans, false).text));
    finding.reasoning =
        "free spans go back within half a second of rest, but for a reserve of a quarter "
        "of the recent peak; a page with one live block cannot go back, and is used "
        "again for blocks of the same size";
    finding_add_bytes(&finding, "free_resident", kept);
    finding_add_bytes(&finding, "free_spans", total.spans.touched_bytes);
    finding_add_bytes(&finding, "free_in_slabs", small);
    finding_add_bytes(&finding, "cached_by_cpus", total.all.cached_bytes);
    finding_add_bytes(&finding, "in_use", total.all.in_use_bytes);
    finding_add_bytes(&finding, "held", total.all.held_bytes);
    finding_add_percent(&finding, "share_of_resident", kept, resident);
    if (spans > 0) {
        finding_predict(&finding, 0, spans, CONFIDENCE_LIKELY);
    }
    finding.fix = finding_printf(list,
        "# in the program, at rest: malloc_trim(0) or strata_malloc_trim()\n"
        "# STRATA_BACKGROUND=no in its environment keeps memory: take it out");
    finding.verify =
        finding_printf(list, "strata explain %s: strata malloc: free is less of resident",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}
