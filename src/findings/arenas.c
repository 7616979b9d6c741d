/*
 * arenas.c - one reserve for each arena, where two would do.
 *
 * glibc gives a new thread an arena of its own until there are 8 for each core; it counts
 * the host's cores, never the quota of a container (arena_get2, malloc/arena.c;
 * __get_nprocs since 2.39 and in the stable branches of 2.35 to 2.38). How many there are
 * is counted here, not computed: the limit differs between versions.
 *
 * The advice is for programs with several threads only. A process with one thread has
 * one arena, and a cap changes nothing for it.
 */
#include "findings/arenas.h"

#include <inttypes.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/arena_cap.h"
#include "findings/arena_reserve.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum {
    CAP = 2,
    SAVED_MIN_PERCENT = 5,
    SAVED_WARN_PERCENT = 15,
    ROUGH_WIDTH_PERCENT = 30, /* of what is retained: a range as wide is a rough one */
};

static const uint64_t saved_min_bytes = 16 * FINDING_MIB;
static const uint64_t saved_warn_bytes = 64 * FINDING_MIB;

struct arenas_sum {
    struct arena_cap_estimate estimate; /* sums; even_arenas of the largest member */
    uint64_t largest_saving_bytes;
    uint64_t threads;
    size_t members;
    bool grown;         /* malloc raised the thresholds of one of them */
    uint64_t arena_max; /* of the last member that has one set */
    const char *version;
};

/* True when the process may have several arenas and is not capped already. */
static bool is_candidate(const struct process_facts *process)
{
    const struct glibc_facts *glibc = &process->glibc;
    const struct fact *threads = &process->values[PROCESS_FACT_THREADS];
    const uint64_t arena_max = glibc->parameters.arena_max;

    if (!state_is_known(glibc->state) || glibc->arena_count <= CAP) {
        return false;
    }
    if (state_is_known(glibc->parameters.state) && arena_max > 0 && arena_max <= CAP) {
        return false;
    }
    return !fact_is_known(threads) || threads->value > 0;
}

static void add_process(struct arenas_sum *sum, const struct process_facts *process)
{
    const struct fact *threads = &process->values[PROCESS_FACT_THREADS];
    const struct arena_cap_estimate one = arena_cap_estimate_of(&process->glibc, CAP);
    struct arena_cap_estimate *all = &sum->estimate;

    if (!is_candidate(process) || one.high_bytes == 0) {
        return;
    }
    sum->members++;
    sum->grown = sum->grown || thresholds_are_grown(&process->glibc);
    all->arenas += one.arenas;
    all->retained_bytes = number_add(all->retained_bytes, one.retained_bytes);
    all->low_bytes = number_add(all->low_bytes, one.low_bytes);
    all->high_bytes = number_add(all->high_bytes, one.high_bytes);
    if (one.high_bytes > sum->largest_saving_bytes) {
        sum->largest_saving_bytes = one.high_bytes;
        all->even_arenas = one.even_arenas;
        sum->version = process->glibc.version;
    }
    if (fact_is_known(threads)) {
        sum->threads = number_add(sum->threads, threads->value);
    }
    if (process->glibc.parameters.arena_max > 0) {
        sum->arena_max = process->glibc.parameters.arena_max;
    }
}

static void add_numbers(struct finding *finding, const struct arenas_sum *sum,
    const struct snapshot *snapshot)
{
    const struct fact *cpus = &snapshot->facts->host.values[HOST_FACT_CPUS_ONLINE];

    finding_add_count(finding, "arenas", sum->estimate.arenas);
    finding_add_count(
        finding, "equal_arenas", (uint64_t)(sum->estimate.even_arenas + 0.5));
    finding_add_count(finding, "threads", sum->threads);
    if (fact_is_known(cpus)) {
        finding_add_count(finding, "cpus_of_the_host", cpus->value);
    }
    finding_add_bytes(finding, "retained", sum->estimate.retained_bytes);
    finding_add_count(finding, "cap", CAP);
    if (sum->arena_max > 0) {
        finding_add_count(finding, "arena_max", sum->arena_max);
    }
    finding_add_count(finding, "processes", sum->members);
}

static const char *reasoning_of(struct finding_list *list, const struct arenas_sum *sum)
{
    if (sum->grown) {
        return finding_printf(list,
            "threads that share arenas use each other's reserves, unless all are busy at "
            "once with equal work; and since malloc has raised its thresholds, each of "
            "the %d may keep a large end: so the range is wide. A fixed threshold gives "
            "back the same bytes more surely (glibc-mmap-threshold): not both. Blocks in "
            "use stay as they are",
            (int)CAP);
    }
    return finding_printf(list,
        "each arena keeps what its own busiest moment needed, and these moments do not "
        "fall together: pooled into %d, the reserves of %.1f equal arenas shrink to "
        "about sqrt(%d/%.1f) = %.0f %% of their sum, and less where malloc trims the "
        "ends of the few. Blocks in use stay as they are",
        (int)CAP, sum->estimate.even_arenas, (int)CAP, sum->estimate.even_arenas,
        100.0 * arena_cap_kept_share(CAP, sum->estimate.even_arenas));
}

int rule_glibc_arenas(const struct snapshot *snapshot, struct finding_list *list)
{
    static const struct fix_variable cap[] = {{"MALLOC_ARENA_MAX", "2"}};
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct arenas_sum sum = {.members = 0};
    struct finding finding = {.pid = target_pid(snapshot)};

    for (size_t i = 0; i < snapshot->member_count; i++) {
        add_process(&sum, snapshot->members[i].facts);
    }
    const uint64_t low = sum.estimate.low_bytes;
    const uint64_t high = sum.estimate.high_bytes;

    if (!finding_reaches(high, saved_min_bytes, resident, SAVED_MIN_PERCENT)) {
        return 0;
    }
    finding.severity =
        finding_reaches(low, saved_warn_bytes, resident, SAVED_WARN_PERCENT)
            ? SEVERITY_WARN
            : SEVERITY_INFO;
    finding.summary = finding_printf(list,
        "%zu arenas of malloc keep %s resident beyond the blocks in use; with %d arenas "
        "the same load would leave %s less",
        sum.estimate.arenas, quantity_bytes(sum.estimate.retained_bytes, false).text,
        (int)CAP, quantity_range(low, high, false).text);
    finding.reasoning = reasoning_of(list, &sum);
    add_numbers(&finding, &sum, snapshot);
    finding_predict(&finding, low, high,
        at_least_percent(high - low, sum.estimate.retained_bytes, ROUGH_WIDTH_PERCENT)
            ? CONFIDENCE_ROUGH
            : CONFIDENCE_LIKELY);
    finding.fix = fix_environment(list, snapshot, cap, 1);
    finding.verify = finding_printf(list,
        "after a restart and the same load, strata explain %s: at most %d arenas. "
        "Resident then goes up and down as they fill and are trimmed: the range is the "
        "mean of some idle moments, of five minutes and more",
        fix_target(list, snapshot), (int)CAP);
    return finding_push(list, &finding);
}
