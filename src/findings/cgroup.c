/*
 * cgroup.c - the distance to the limit, measured by what cannot be reclaimed, and the time
 * that is lost in reclaim.
 *
 * The kernel compares usage with the limit, reclaims page cache and kernel objects first,
 * and kills only when that does not help (mm/memcontrol.c, try_charge_memcg). So usage
 * near the limit is normal for a cgroup with files; anonymous memory near it is not. The
 * process with the highest oom_score of the cgroup goes first (mm/oom_kill.c).
 *
 * Below an ancestor's limit others are charged too. What they have cached is not read here,
 * so all of it counts as what may stay.
 */
#include "findings/cgroup.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum {
    NEAR_PERCENT = 75,      /* of the limit: not reclaimable */
    CRITICAL_PERCENT = 90,  /* the same */
    USAGE_PERCENT = 90,     /* usage, page cache included */
    STALL_INFO_PERCENT = 1, /* of the last minute: a task waited for memory */
    STALL_WARN_PERCENT = 10,
    MINUTE_MICROSECONDS = 60 * 1000000,
    FULL_PERCENT = 95,     /* of memory.high or the limit: it is what makes them wait */
    ROOMY_PERCENT = 150,   /* of what cannot be reclaimed: the least to propose */
    ROOMIER_PERCENT = 125, /* of the bound that is too near: the same */
};

struct closeness {
    uint64_t limit;
    uint64_t usage;
    uint64_t firm; /* cannot be reclaimed; usage when that is not known */
    bool firm_known;
    uint64_t lazy; /* given up with MADV_FREE: not in firm */
    uint64_t
        others; /* of usage: charged to others below the ancestor that has the limit */
    uint64_t kills;
    bool ancestor; /* the limit is not the cgroup's own */
};

static uint64_t value_of(const struct cgroup_facts *cgroup, enum cgroup_fact id)
{
    const struct fact *fact = &cgroup->values[id];

    return fact_is_known(fact) ? fact->value : 0;
}

/*
 * Memory given up with MADV_FREE: still anonymous and charged, but on the list of inactive
 * file pages (lru_lazyfree, mm/swap.c). So what the file lists hold beyond the page cache
 * is that, and it is dropped without I/O before anything is killed.
 */
static uint64_t lazily_freed(const struct cgroup_facts *cgroup)
{
    const uint64_t lists = number_add(value_of(cgroup, CGROUP_FACT_INACTIVE_FILE),
        value_of(cgroup, CGROUP_FACT_ACTIVE_FILE));
    const uint64_t cache = number_subtract(
        value_of(cgroup, CGROUP_FACT_FILE), value_of(cgroup, CGROUP_FACT_SHMEM));

    return number_smaller(
        number_subtract(lists, cache), value_of(cgroup, CGROUP_FACT_ANON));
}

/* False when there is no limit, or its distance is not known. */
static bool measure(const struct snapshot *snapshot, struct closeness *close)
{
    const struct container_view *container = &snapshot->container;
    const struct cgroup_facts *cgroup = container->facts;
    const struct fact *limit;
    const struct fact *usage;
    const struct fact *kills;

    if (cgroup == NULL) {
        return false;
    }
    limit = &cgroup->values[CGROUP_FACT_LIMIT_EFFECTIVE];
    if (!fact_is_known(limit)) {
        limit = &cgroup->values[CGROUP_FACT_LIMIT];
    }
    usage = &cgroup->values[CGROUP_FACT_USAGE];
    kills = &cgroup->values[CGROUP_FACT_EVENTS_OOM_KILL];
    if (!fact_is_known(limit) || !fact_is_known(usage) || limit->value == 0) {
        return false;
    }
    *close = (struct closeness){
        .limit = limit->value,
        .usage = usage->value,
        .firm_known = fact_is_known(&container->non_reclaimable),
        .kills = fact_is_known(kills) ? kills->value : 0,
        .ancestor = !fact_is_known(&cgroup->values[CGROUP_FACT_LIMIT]) ||
                    cgroup->values[CGROUP_FACT_LIMIT].value > limit->value,
    };
    /* An ancestor may be fuller than this cgroup: what it has left is what counts. */
    if (fact_is_known(&container->headroom)) {
        const uint64_t used = number_subtract(close->limit, container->headroom.value);
        close->others = number_subtract(used, close->usage);
    }
    close->firm = close->firm_known ? container->non_reclaimable.value : close->usage;
    close->usage = number_add(close->usage, close->others);
    close->lazy = close->firm_known ? lazily_freed(cgroup) : 0;
    close->firm = number_subtract(close->firm, close->lazy);
    return true;
}

/* What cannot be reclaimed, or with others at most that. */
static uint64_t firm_at_most(const struct closeness *close)
{
    return number_add(close->firm, close->others);
}

static bool grade(const struct closeness *close, enum severity *severity)
{
    if (close->firm_known &&
        at_least_percent(close->firm, close->limit, CRITICAL_PERCENT)) {
        *severity = SEVERITY_CRITICAL;
        return true;
    }
    if (at_least_percent(firm_at_most(close), close->limit, NEAR_PERCENT) ||
        close->kills > 0) {
        *severity = SEVERITY_WARN;
        return true;
    }
    *severity = SEVERITY_INFO;
    return at_least_percent(close->usage, close->limit, USAGE_PERCENT);
}

/* The process that the kernel would end first, among the target and its neighbours. */
static void add_nearest(
    struct finding_list *list, struct finding *finding, const struct snapshot *snapshot)
{
    const struct facts *facts = snapshot->facts;
    const struct process_facts *nearest = NULL;
    uint64_t score = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        const struct fact *fact = &process->values[PROCESS_FACT_OOM_SCORE];
        if (fact_is_known(fact) && (nearest == NULL || fact->value > score)) {
            nearest = process;
            score = fact->value;
        }
    }
    if (fact_is_known(&facts->competitor_oom_score) && facts->competitor_name != NULL &&
        (nearest == NULL || facts->competitor_oom_score.value > score)) {
        score = facts->competitor_oom_score.value;
        finding_add_text(finding, "first_to_be_killed",
            finding_printf(list, "%s (pid %" PRId32 ", oom_score %" PRIu64 ")",
                facts->competitor_name, facts->competitor_pid, score));
    } else if (nearest != NULL) {
        finding_add_text(finding, "first_to_be_killed",
            finding_printf(list, "%s (pid %" PRId32 ", oom_score %" PRIu64 ")",
                nearest->name != NULL ? nearest->name : "?", nearest->pid, score));
    }
}

/* In whole MiB: a bound with room above what is needed now, and above the present one, which was met or nearly so. */
static uint64_t roomier_mib(uint64_t needed, uint64_t bound)
{
    const double for_need = (double)needed * ROOMY_PERCENT;
    const double for_bound = (double)bound * ROOMIER_PERCENT;

    return (uint64_t)((for_need > for_bound ? for_need : for_bound) / 100.0 /
                      (double)FINDING_MIB) +
           1;
}

static const char *limit_fix(struct finding_list *list, const struct snapshot *snapshot,
    const struct closeness *close, enum severity severity)
{
    const uint64_t mib = roomier_mib(firm_at_most(close), close->limit);

    if (severity == SEVERITY_INFO) {
        return "# nothing to change: the kernel takes page cache back before it kills";
    }
    if (close->ancestor) {
        return fix_limit_above(list, snapshot, mib);
    }
    return fix_memory_bound(list, snapshot, "MemoryMax", mib);
}

static void add_numbers(struct finding *finding, const struct closeness *close,
    const struct snapshot *snapshot)
{
    const struct container_view *container = &snapshot->container;

    finding_add_bytes(finding, "usage", close->usage);
    finding_add_bytes(finding, "limit", close->limit);
    finding_add_fact(finding, "non_reclaimable", &container->non_reclaimable);
    finding_add_fact(finding, "working_set", &container->kubelet);
    finding_add_fact(finding, "headroom", &container->headroom);
    finding_add_percent(finding, "share_of_limit", firm_at_most(close), close->limit);
    finding_add_count(finding, "oom_kills", close->kills);
    if (close->lazy > 0) {
        finding_add_bytes(finding, "lazily_freed", close->lazy);
    }
    if (close->others > 0) {
        finding_add_bytes(finding, "others_below_limit", close->others);
    }
    if (close->ancestor && container->facts->limit_path != NULL) {
        finding_add_text(finding, "limit_is_of", container->facts->limit_path);
    }
}

static const char *summary_of(
    struct finding_list *list, const struct closeness *close, enum severity severity)
{
    const struct quantity amount = quantity_bytes(firm_at_most(close), false);
    const struct quantity limit = quantity_bytes(close->limit, false);
    const struct quantity share = quantity_percent(firm_at_most(close), close->limit);
    const char *killed =
        close->kills > 0 ? ", and processes have been killed for it" : "";

    if (severity == SEVERITY_INFO) {
        return finding_printf(list,
            "usage is at %s of the limit, but only %s of %s cannot be reclaimed: page "
            "cache and kernel objects fill the rest",
            quantity_percent(close->usage, close->limit).text, amount.text, limit.text);
    }
    if (close->kills > 0 &&
        !at_least_percent(firm_at_most(close), close->limit, NEAR_PERCENT)) {
        return finding_printf(list,
            "processes have been killed for the limit of %s; of what is left %s "
            "cannot be reclaimed (%s), and what the killed ones needed is not known",
            limit.text, amount.text, share.text);
    }
    if (close->others > 0) {
        return finding_printf(list,
            "up to %s of the limit of %s cannot be reclaimed (%s): %s here, and %s are "
            "of others below the same limit, page cache included%s",
            amount.text, limit.text, share.text, quantity_bytes(close->firm, false).text,
            quantity_bytes(close->others, false).text, killed);
    }
    return finding_printf(list, "%s of the limit of %s cannot be reclaimed (%s)%s",
        amount.text, limit.text, share.text, killed);
}

int rule_cgroup_near_limit(const struct snapshot *snapshot, struct finding_list *list)
{
    struct closeness close;
    struct finding finding = {.pid = 0};

    if (!measure(snapshot, &close) || !grade(&close, &finding.severity)) {
        return 0;
    }
    finding.summary = summary_of(list, &close, finding.severity);
    finding.reasoning =
        "the kernel reclaims page cache and kernel objects before it kills; "
        "anonymous memory, shared memory and dirty pages stay";
    add_numbers(&finding, &close, snapshot);
    add_nearest(list, &finding, snapshot);
    finding.fix = limit_fix(list, snapshot, &close, finding.severity);
    finding.verify = finding_printf(list,
        finding.severity == SEVERITY_INFO
            ? "strata explain %s: non_reclaimable stays well below the limit"
            : "strata explain %s: headroom is larger, oom_kills does not grow",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* The bound that makes tasks wait: the lower one that usage is at; NULL when it is at none. */
static const char *bound_met(const struct cgroup_facts *cgroup, uint64_t *bytes)
{
    static const struct {
        enum cgroup_fact fact;
        const char *property;
    } bounds[] = {{CGROUP_FACT_HIGH, "MemoryHigh"}, {CGROUP_FACT_LIMIT, "MemoryMax"}};
    const uint64_t usage = value_of(cgroup, CGROUP_FACT_USAGE);

    for (size_t i = 0; i < sizeof(bounds) / sizeof(bounds[0]); i++) {
        *bytes = value_of(cgroup, bounds[i].fact);
        if (*bytes > 0 && at_least_percent(usage, *bytes, FULL_PERCENT)) {
            return bounds[i].property;
        }
    }
    return NULL;
}

int rule_cgroup_stalls(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct cgroup_facts *cgroup = snapshot->container.facts;
    struct finding finding = {.severity = SEVERITY_INFO};
    uint64_t bound;

    if (cgroup == NULL) {
        return 0;
    }
    const char *property = bound_met(cgroup, &bound);
    const uint64_t waited = value_of(cgroup, CGROUP_FACT_PRESSURE_MINUTE);
    if (property == NULL ||
        !at_least_percent(waited, MINUTE_MICROSECONDS, STALL_INFO_PERCENT)) {
        return 0;
    }
    if (at_least_percent(waited, MINUTE_MICROSECONDS, STALL_WARN_PERCENT)) {
        finding.severity = SEVERITY_WARN;
    }
    finding.summary = finding_printf(list,
        "in %s of the last minute a task of the cgroup waited for memory: usage is at %s "
        "(%s)",
        quantity_percent(waited, MINUTE_MICROSECONDS).text, property,
        quantity_bytes(bound, false).text);
    finding.reasoning =
        "at that bound the kernel reclaims before it gives a page, and the task that "
        "wants one stands still meanwhile; nothing is killed, everything is slow";
    finding_add_percent(&finding, "share_of_minute", waited, MINUTE_MICROSECONDS);
    finding_add_fact(&finding, "usage", &cgroup->values[CGROUP_FACT_USAGE]);
    finding_add_bytes(&finding, "bound", bound);
    finding_add_fact(&finding, "swap_usage", &cgroup->values[CGROUP_FACT_SWAP_USAGE]);
    finding_add_fact(&finding, "events_high", &cgroup->values[CGROUP_FACT_EVENTS_HIGH]);
    finding_add_fact(&finding, "events_max", &cgroup->values[CGROUP_FACT_EVENTS_MAX]);
    finding.fix = fix_memory_bound(list, snapshot, property,
        roomier_mib(number_add(value_of(cgroup, CGROUP_FACT_USAGE),
                        value_of(cgroup, CGROUP_FACT_SWAP_USAGE)),
            bound));
    finding.verify = finding_printf(list,
        "strata explain %s: share_of_minute falls within some minutes",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
