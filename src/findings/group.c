/*
 * group.c - pools of forked processes: what adds up and what does not.
 *
 * Shared pages, and copy-on-write pages of the master, are in the Rss of every worker, also
 * in their RssAnon. Sums of RES or of %MEM therefore exceed what is there, at times the
 * memory of the machine.
 */
#include "findings/group.h"

#include <inttypes.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum { OVER_MIN_PERCENT = 10 };

static const uint64_t over_min_bytes = 8 * FINDING_MIB;

int rule_rss_sum_overstates(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t sum = snapshot->rss_sum_bytes;
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t over = number_subtract(sum, resident);
    const struct layer *layers = snapshot->layers;
    struct finding finding = {.severity = SEVERITY_INFO};

    if (snapshot->member_count < 2 ||
        !finding_reaches(over, over_min_bytes, resident, OVER_MIN_PERCENT)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "the %zu processes have %s together, not the %s that their Rss adds up to",
        snapshot->member_count, quantity_bytes(resident, false).text,
        quantity_bytes(sum, false).text);
    finding.reasoning =
        "each process counts what it shares in full; the limit of workers follows from "
        "what one more adds (its private pages), with the shared part paid once";
    finding_add_count(&finding, "processes", snapshot->member_count);
    finding_add_bytes(&finding, "rss_sum", sum);
    finding_add_bytes(&finding, "resident", resident);
    finding_add_bytes(&finding, "overstated", over);
    if (state_is_known((uint32_t)layers[LAYER_PSS].state)) {
        finding_add_bytes(&finding, "pss_sum", target_bytes(snapshot, LAYER_PSS));
    }
    if (state_is_known((uint32_t)layers[LAYER_EXCLUSIVE].state)) {
        finding_add_bytes(&finding, "exclusive", target_bytes(snapshot, LAYER_EXCLUSIVE));
    }
    finding.fix = "# nothing to change: size the pool by private memory, not by RES";
    finding.verify = finding_printf(list,
        "strata explain %s: unique is what the pool touches, exclusive what its end "
        "frees",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
