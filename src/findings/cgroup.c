/*
 * cgroup.c - the distance to the limit, measured by what cannot be reclaimed.
 *
 * The kernel compares usage with the limit, reclaims page cache and kernel objects first,
 * and kills only when that does not help (mm/memcontrol.c, try_charge_memcg). So usage
 * near the limit is normal for a cgroup with files; anonymous memory near it is not. The
 * process with the highest oom_score of the cgroup goes first (mm/oom_kill.c).
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
    NEAR_PERCENT = 75,     /* of the limit: not reclaimable */
    CRITICAL_PERCENT = 90, /* the same */
    USAGE_PERCENT = 90,    /* usage, page cache included */
    ADVISED_PERCENT = 125, /* of what cannot be reclaimed: the limit that is proposed */
};

struct closeness {
    uint64_t limit;
    uint64_t usage;
    uint64_t firm; /* cannot be reclaimed; usage when that is not known */
    bool firm_known;
    uint64_t lazy; /* given up with MADV_FREE: not in firm */
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
        close->usage = used > close->usage ? used : close->usage;
    }
    close->firm = close->firm_known ? container->non_reclaimable.value : close->usage;
    close->lazy = close->firm_known ? lazily_freed(cgroup) : 0;
    close->firm = number_subtract(close->firm, close->lazy);
    return true;
}

static bool grade(const struct closeness *close, enum severity *severity)
{
    if (close->firm_known &&
        at_least_percent(close->firm, close->limit, CRITICAL_PERCENT)) {
        *severity = SEVERITY_CRITICAL;
        return true;
    }
    if (at_least_percent(close->firm, close->limit, NEAR_PERCENT) || close->kills > 0) {
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

/* A limit with room above what is needed now, in whole MiB. */
static const char *limit_fix(struct finding_list *list, const struct snapshot *snapshot,
    const struct closeness *close)
{
    const uint64_t mib =
        (uint64_t)((double)close->firm * ADVISED_PERCENT / 100.0 / (double)FINDING_MIB) +
        1;
    const char *value = finding_printf(list, "%" PRIu64 "M", mib);
    const char *compose = finding_printf(list, "mem_limit: %" PRIu64 "m", mib);

    return fix_property(list, snapshot, "MemoryMax", value != NULL ? value : "",
        compose != NULL ? compose : "");
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
    finding_add_percent(finding, "share_of_limit", close->firm, close->limit);
    finding_add_count(finding, "oom_kills", close->kills);
    if (close->lazy > 0) {
        finding_add_bytes(finding, "lazily_freed", close->lazy);
    }
    if (close->ancestor && container->facts->limit_path != NULL) {
        finding_add_text(finding, "limit_is_of", container->facts->limit_path);
    }
}

int rule_cgroup_near_limit(const struct snapshot *snapshot, struct finding_list *list)
{
    struct closeness close;
    struct finding finding = {.pid = 0};

    if (!measure(snapshot, &close) || !grade(&close, &finding.severity)) {
        return 0;
    }
    if (finding.severity == SEVERITY_INFO) {
        finding.summary = finding_printf(list,
            "usage is at %s of the limit, but only %s of %s cannot be reclaimed: page "
            "cache and kernel objects fill the rest",
            quantity_percent(close.usage, close.limit).text,
            quantity_bytes(close.firm, false).text,
            quantity_bytes(close.limit, false).text);
    } else {
        finding.summary =
            finding_printf(list, "%s of the limit of %s cannot be reclaimed (%s)%s",
                quantity_bytes(close.firm, false).text,
                quantity_bytes(close.limit, false).text,
                quantity_percent(close.firm, close.limit).text,
                close.kills > 0 ? ", and processes have been killed for it" : "");
    }
    finding.reasoning =
        "the kernel reclaims page cache and kernel objects before it kills; "
        "anonymous memory, shared memory and dirty pages stay";
    add_numbers(&finding, &close, snapshot);
    add_nearest(list, &finding, snapshot);
    finding.fix = limit_fix(list, snapshot, &close);
    finding.verify = finding_printf(list,
        "strata explain %s: headroom is larger, oom_kills does not grow",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
