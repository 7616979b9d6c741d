/*
 * thresholds.c - malloc raised its thresholds, and one line of the environment stops that.
 *
 * A freed block with a mapping of its own raises mmap_threshold to its size and trim_threshold to
 * twice that: blocks of this size then come from the heaps, and each heap may keep twice as much at
 * its end. Any of the parameters that is set switches this off (do_set_mmap_threshold and
 * its like, malloc/malloc.c), so trim_threshold alone leaves mmap_threshold at 128 KiB: large
 * blocks are mapped and go back when they are freed.
 *
 * What stays then: ends below the new threshold, and holes between small blocks. The look does not
 * tell these from holes that large blocks left: none to HOLES_MOST of them may stay. Ends
 * are seldom all as full as the threshold lets them: at most ENDS_MOST of that stays. Measured:
 * docs/decisions/004-what-an-arena-cap-saves.md.
 */
#include "findings/thresholds.h"

#include "base/number.h"
#include "base/quantity.h"
#include "findings/arena_reserve.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"

enum {
    ENDS_MIN_PERCENT = 5,
    SAVED_WARN_PERCENT = 15,
    ROUGH_WIDTH_PERCENT = 30, /* of the upper end: a range as wide is a rough one */
};

static const double HOLES_MOST = 0.75;
static const double ENDS_MOST = 0.75;

static const uint64_t ends_min_bytes = 8 * FINDING_MIB;
static const uint64_t saved_warn_bytes = 64 * FINDING_MIB;

/*
 * 1 MiB for each arena bounds what they keep, and spares small statements the system calls of a
 * trim at each free: 128 KiB saved 3 MiB more of 60, and 4 MiB as much.
 */
static const uint64_t proposed_bytes = FINDING_MIB;
static const char proposed_text[] = "1048576";

struct threshold_estimate threshold_estimate_of(
    const struct glibc_facts *glibc, uint64_t trim_threshold_bytes)
{
    struct threshold_estimate estimate = {.arenas = 0};
    const uint64_t end_may_keep =
        number_add(trim_threshold_bytes, glibc->parameters.top_pad_bytes);
    uint64_t retained = 0, ends_kept = 0;

    if (!thresholds_are_grown(glibc)) {
        return estimate;
    }
    for (size_t i = 0; i < glibc->arena_count; i++) {
        const uint64_t all = arena_retained_bytes(&glibc->arenas[i]);
        const uint64_t end = arena_end_bytes(&glibc->arenas[i]);

        estimate.arenas += all > 0;
        estimate.ends_bytes = number_add(estimate.ends_bytes, end);
        ends_kept = number_add(ends_kept, number_smaller(end, end_may_keep));
        retained = number_add(retained, all);
    }
    const uint64_t holes = number_subtract(retained, estimate.ends_bytes);

    estimate.high_bytes = retained;
    estimate.low_bytes = number_subtract(retained,
        number_add(number_scale(holes, HOLES_MOST), number_scale(ends_kept, ENDS_MOST)));
    return estimate;
}

/* Over the members whose thresholds grew. */
struct grown {
    struct threshold_estimate estimate;
    uint64_t threshold_bytes; /* the largest */
    uint64_t trim_bytes;
    size_t members;
};

static void add_grown(struct grown *grown, const struct glibc_facts *glibc)
{
    const struct threshold_estimate one = threshold_estimate_of(glibc, proposed_bytes);
    struct threshold_estimate *all = &grown->estimate;

    if (!thresholds_are_grown(glibc)) {
        return;
    }
    grown->members++;
    all->arenas += one.arenas;
    all->ends_bytes = number_add(all->ends_bytes, one.ends_bytes);
    all->low_bytes = number_add(all->low_bytes, one.low_bytes);
    all->high_bytes = number_add(all->high_bytes, one.high_bytes);
    if (glibc->parameters.mmap_threshold_bytes > grown->threshold_bytes) {
        grown->threshold_bytes = glibc->parameters.mmap_threshold_bytes;
        grown->trim_bytes = glibc->parameters.trim_threshold_bytes;
    }
}

int rule_glibc_mmap_threshold(const struct snapshot *snapshot, struct finding_list *list)
{
    static const struct fix_variable threshold[] = {
        {"MALLOC_TRIM_THRESHOLD_", proposed_text}};
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct grown grown = {.members = 0};
    const struct threshold_estimate *estimate = &grown.estimate;
    struct finding finding = {.pid = target_pid(snapshot)};

    for (size_t i = 0; i < snapshot->member_count; i++) {
        add_grown(&grown, &snapshot->members[i].facts->glibc);
    }
    if (!finding_reaches(
            estimate->ends_bytes, ends_min_bytes, resident, ENDS_MIN_PERCENT)) {
        return 0;
    }
    finding.severity = finding_reaches(estimate->low_bytes, saved_warn_bytes, resident,
                           SAVED_WARN_PERCENT)
                           ? SEVERITY_WARN
                           : SEVERITY_INFO;
    finding.summary = finding_printf(list,
        "%s is resident at the ends of heaps, unused: a freed block of %s made malloc "
        "keep up to %s at each",
        quantity_bytes(estimate->ends_bytes, false).text,
        quantity_bytes(grown.threshold_bytes, false).text,
        quantity_bytes(grown.trim_bytes, false).text);
    finding.reasoning =
        "a freed block with a mapping of its own raises mmap_threshold to its size (at "
        "most 32 MiB) and trim_threshold to twice that. Either one set stops this: "
        "blocks from 128 KiB on then have a mapping each, which goes back at once, and "
        "ends are cut at 1 MiB. It gives back the ends above that, and the more of the "
        "holes the more of them large blocks left behind";
    finding_add_bytes(&finding, "mmap_threshold", grown.threshold_bytes);
    finding_add_bytes(&finding, "trim_threshold", grown.trim_bytes);
    finding_add_bytes(&finding, "tops_resident", estimate->ends_bytes);
    finding_add_count(&finding, "arenas", estimate->arenas);
    finding_add_count(&finding, "processes", grown.members);
    finding_predict(&finding, estimate->low_bytes, estimate->high_bytes,
        at_least_percent(estimate->high_bytes - estimate->low_bytes, estimate->high_bytes,
            ROUGH_WIDTH_PERCENT)
            ? CONFIDENCE_ROUGH
            : CONFIDENCE_LIKELY);
    finding.fix = fix_environment(list, snapshot, threshold, 1);
    finding.verify = finding_printf(list,
        "after a restart and the same load, strata explain %s: at most 1 MiB at the end "
        "of each arena",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
