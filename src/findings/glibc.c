/*
 * glibc.c - what one look at glibc's arenas says about memory that was freed and stayed.
 *
 * malloc gives memory back by itself only from the end of the main heap, above
 * trim_threshold, and by shrinking or dropping heaps of other arenas that are empty at their
 * end (systrim and heap_trim, malloc/malloc.c and arena.c, glibc 2.31 to 2.43). malloc_trim(0)
 * also returns whole free pages inside all arenas, and never the tops of other
 * arenas. Predictions for it count those pages one by one, so they are measured.
 */
#include "findings/glibc.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "findings/retained.h"
#include "model/glibc_total.h"
#include "model/known.h"

enum {
    PINNED_MIN_PERCENT = 10,
    PINNED_WARN_PERCENT = 25,
};

static const uint64_t retained_warn_bytes = 64 * FINDING_MIB;
static const uint64_t pinned_min_bytes = 16 * FINDING_MIB;

/* The member with the most memory that malloc_trim would return; there is one. */
static const struct process_facts *most_to_trim(const struct snapshot *snapshot)
{
    const struct process_facts *best = snapshot->members[0].facts;
    uint64_t best_bytes = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        struct glibc_total total = {0};

        glibc_total_add(&total, &snapshot->members[i].facts->glibc);
        if (total.trim_gain_bytes > best_bytes) {
            best = snapshot->members[i].facts;
            best_bytes = total.trim_gain_bytes;
        }
    }
    return best;
}

int rule_glibc_retained(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct glibc_total total = glibc_total_of(snapshot);
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t kept = total.free_resident_bytes;
    struct finding finding = {.pid = target_pid(snapshot)};

    if (!retained_grade(kept, resident, &finding.severity)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "malloc keeps %s of freed memory resident (%s of the resident set); "
        "malloc_trim would give back %s, and %s it never can",
        quantity_bytes(kept, false).text, quantity_percent(kept, resident).text,
        quantity_bytes(total.trim_gain_bytes, false).text,
        quantity_bytes(total.top_untrimmable_bytes, false).text);
    finding.reasoning =
        "the whole pages of free chunks, and the end of the main heap, were looked up in "
        "the page tables one by one; the unused ends of other arenas are resident too, "
        "but malloc_trim leaves them alone: only new allocations or a restart use them";
    finding_add_bytes(&finding, "free_resident", kept);
    finding_add_bytes(&finding, "trim_gain", total.trim_gain_bytes);
    finding_add_bytes(&finding, "top_untrimmable", total.top_untrimmable_bytes);
    finding_add_bytes(&finding, "in_use", total.in_use_bytes);
    finding_add_bytes(&finding, "held", total.held_bytes);
    finding_add_bytes(&finding, "cached_by_threads", total.cached_bytes);
    finding_add_count(&finding, "arenas", total.arenas);
    finding_add_count(&finding, "arenas_unread", total.arenas_unread);
    finding_add_percent(&finding, "share_of_resident", kept, resident);
    finding_predict(&finding,
        number_subtract(total.trim_gain_bytes, total.plus_minus_bytes),
        number_add(total.trim_gain_bytes, total.plus_minus_bytes), CONFIDENCE_MEASURED);
    finding.fix = finding_printf(list,
        "# once, now (the program stands still for some seconds; it comes back with the "
        "load)\n"
        "gdb -p %" PRId32 " -batch -ex 'call (int)malloc_trim(0)'",
        most_to_trim(snapshot)->pid);
    finding.verify = finding_printf(list,
        "strata explain %s: less is free and resident by that much, in use is the same",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* Sums over the main arenas that are pinned. */
struct pinned {
    uint64_t bytes;
    uint64_t gain_bytes;
    uint64_t pin_address;
    uint64_t pin_bytes;
    int32_t pid;
};

static void add_pinned(struct pinned *pinned, const struct process_facts *process)
{
    for (size_t i = 0; i < process->glibc.arena_count; i++) {
        const struct glibc_arena *arena = &process->glibc.arenas[i];
        const uint64_t gain =
            number_subtract(arena->trim_gain_bytes, arena->top_trimmable_bytes);

        if (!arena->main || !state_is_known(arena->state) ||
            !state_is_known(arena->resident_state) || arena->pin_address == 0) {
            continue;
        }
        pinned->bytes = number_add(pinned->bytes, arena->pinned_free_bytes);
        pinned->gain_bytes = number_add(
            pinned->gain_bytes, number_smaller(gain, arena->pinned_free_bytes));
        pinned->pin_address = arena->pin_address;
        pinned->pin_bytes = arena->pin_bytes;
        pinned->pid = process->pid;
    }
}

int rule_glibc_pinned_heap(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct pinned pinned = {0};
    struct finding finding = {.pid = target_pid(snapshot)};

    for (size_t i = 0; i < snapshot->member_count; i++) {
        add_pinned(&pinned, snapshot->members[i].facts);
    }
    if (!finding_reaches(
            pinned.gain_bytes, pinned_min_bytes, resident, PINNED_MIN_PERCENT)) {
        return 0;
    }
    finding.severity = finding_reaches(pinned.gain_bytes, retained_warn_bytes, resident,
                           PINNED_WARN_PERCENT)
                           ? SEVERITY_WARN
                           : SEVERITY_INFO;
    finding.summary = finding_printf(list,
        "%s of free memory in the main heap stays resident because a block of %s near "
        "its end is still in use",
        quantity_bytes(pinned.gain_bytes, false).text,
        quantity_bytes(pinned.pin_bytes, false).text);
    finding.reasoning =
        "the main heap can only shrink from its end; malloc_trim gives back the free "
        "pages below the block as well (the same bytes as in glibc-retained)";
    finding_add_bytes(&finding, "pinned_free", pinned.bytes);
    finding_add_bytes(&finding, "pinned_resident", pinned.gain_bytes);
    finding_add_bytes(&finding, "pin", pinned.pin_bytes);
    finding_add_text(
        &finding, "pin_address", finding_printf(list, "0x%" PRIx64, pinned.pin_address));
    finding_predict(&finding, 0, pinned.gain_bytes, CONFIDENCE_LIKELY);
    finding.fix = finding_printf(list,
        "# once, now (the program stands still for some seconds)\n"
        "gdb -p %" PRId32 " -batch -ex 'call (int)malloc_trim(0)'\n"
        "# in the program: call malloc_trim(0) after work that frees much",
        pinned.pid);
    finding.verify =
        finding_printf(list, "strata explain %s: glibc-free of resident is smaller",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}
