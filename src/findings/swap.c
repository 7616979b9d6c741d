/*
 * swap.c - memory that no resident set shows: swapped out, or in hugetlbfs.
 *
 * VmSwap leaves shared memory out; HugetlbPages are in no Rss and no Pss
 * (Documentation/filesystems/proc.rst).
 */
#include "findings/swap.h"

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum { SWAP_MIN_PERCENT = 5, SWAP_WARN_PERCENT = 25 };

/* A container that requests as much as its limit gets no swap of the kubelet. */
static const struct fix_setting no_swap = {
    .property = "MemorySwapMax",
    .value = "0",
    .compose = "memswap_limit: ...  # the same value as mem_limit: no swap",
    .pod = "resources:\n"
           "  requests:\n"
           "    memory: ...  # the same value as limits.memory: no swap",
};

static const uint64_t swap_min_bytes = 16 * FINDING_MIB;
static const uint64_t hugetlb_min_bytes = 2 * FINDING_MIB;

static uint64_t sum_of(const struct snapshot *snapshot, enum process_fact id)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct fact *fact = &snapshot->members[i].facts->values[id];
        sum = number_add(sum, fact_is_known(fact) ? fact->value : 0);
    }
    return sum;
}

int rule_swap(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t swapped = sum_of(snapshot, PROCESS_FACT_VM_SWAP);
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t all = number_add(resident, swapped);
    struct finding finding = {.pid = target_pid(snapshot)};

    if (!finding_reaches(swapped, swap_min_bytes, all, SWAP_MIN_PERCENT)) {
        return 0;
    }
    finding.severity =
        at_least_percent(swapped, all, SWAP_WARN_PERCENT) ? SEVERITY_WARN : SEVERITY_INFO;
    finding.summary = finding_printf(list,
        "%s is swapped out: the resident set shows that much less than the program holds",
        quantity_bytes(swapped, false).text);
    finding.reasoning =
        "reading a heap in swap would bring it back in, so strata leaves it "
        "alone and heaps may be shown as not read";
    finding_add_bytes(&finding, "swapped", swapped);
    finding_add_bytes(&finding, "resident", resident);
    finding_add_fact(
        &finding, "swap_free", &snapshot->facts->host.values[HOST_FACT_SWAP_FREE]);
    finding.fix = fix_property(list, snapshot, &no_swap);
    finding.verify = finding_printf(
        list, "strata explain %s: swapped does not grow", fix_target(list, snapshot));
    return finding_push(list, &finding);
}

int rule_hugetlb(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t hugetlb = sum_of(snapshot, PROCESS_FACT_HUGETLB);
    struct finding finding = {.pid = target_pid(snapshot), .severity = SEVERITY_INFO};

    if (hugetlb < hugetlb_min_bytes) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "%s is in hugetlbfs pages: no Rss and no Pss counts them, the machine's memory "
        "does",
        quantity_bytes(hugetlb, false).text);
    finding_add_bytes(&finding, "hugetlb", hugetlb);
    finding_add_bytes(&finding, "resident", target_bytes(snapshot, LAYER_RESIDENT));
    finding_add_fact(
        &finding, "set_aside", &snapshot->facts->host.values[HOST_FACT_HUGETLB]);
    finding.fix = "# nothing to free here; pages set aside and not used cost the host\n"
                  "sysctl vm.nr_hugepages";
    finding.verify = "grep Huge /proc/meminfo";
    return finding_push(list, &finding);
}
