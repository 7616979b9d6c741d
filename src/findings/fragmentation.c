/*
 * fragmentation.c - holes between blocks in use, which nothing gives back while these live.
 *
 * The kernel takes whole pages. A free chunk that begins or ends inside a page leaves the rest
 * of that page to its neighbours, so malloc_trim(0) passes over it (mtrim(), malloc/malloc.c,
 * glibc 2.26 to 2.43). Such bytes were counted chunk by chunk. How many of them another layout
 * of the same blocks would save depends on the load to come: nothing is predicted.
 */
#include "findings/fragmentation.h"

#include <stdbool.h>

#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "findings/retained.h"
#include "model/glibc_total.h"

enum { MANY_ARENAS = 2 }; /* for each process: with more, fewer of them come first */

/* The library is found by its name where it is installed for the loader. */
static const char *fragmentation_fix(struct finding_list *list,
    const struct snapshot *snapshot, const struct glibc_total *total)
{
    static const struct fix_variable preload[] = {{"LD_PRELOAD", "libstrata-malloc.so"}};
    const bool many = total->arenas / MANY_ARENAS > snapshot->member_count;
    const char *other = fix_environment(list, snapshot, preload, 1);

    return other == NULL
               ? NULL
               : finding_printf(list,
                     "%s# another malloc keeps blocks of one size together: try it under "
                     "the real load\n"
                     "strata run -- COMMAND\n"
                     "# and where that is smaller, for good\n"
                     "%s",
                     many ? "# first MALLOC_ARENA_MAX=2: threads that share arenas fill "
                            "each other's holes\n"
                          : "",
                     other);
}

int rule_glibc_fragmentation(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const struct glibc_total total = glibc_total_of(snapshot);
    struct finding finding = {.pid = target_pid(snapshot)};
    const uint64_t holes = total.free_shared_bytes;
    const uint64_t each = total.free_chunks > 0 ? holes / total.free_chunks : holes;

    if (!retained_grade(holes, resident, &finding.severity)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "%s of free memory lies between blocks in use, on pages that these need (%s of "
        "the resident set): malloc_trim cannot give it back",
        quantity_bytes(holes, false).text, quantity_percent(holes, resident).text);
    finding.reasoning =
        "a page leaves the process when all of it is free; malloc uses the holes again "
        "for blocks that fit into them. How much less the same load needs in fewer "
        "arenas, under another malloc or after a restart is not predicted: it depends on "
        "which blocks come and stay";
    finding_add_bytes(&finding, "free_shared", holes);
    finding_add_count(&finding, "free_chunks", total.free_chunks);
    finding_add_bytes(&finding, "each", each);
    finding_add_bytes(&finding, "in_use", total.in_use_bytes - total.mmapped_bytes);
    finding_add_bytes(&finding, "plus_minus", total.plus_minus_bytes);
    finding_add_count(&finding, "arenas", total.arenas);
    finding_add_count(&finding, "arenas_unread", total.arenas_unread);
    finding_add_percent(&finding, "share_of_resident", holes, resident);
    finding.fix = fragmentation_fix(list, snapshot, &total);
    finding.verify = finding_printf(list,
        "after a restart and the same load, strata explain %s: resident is smaller, in "
        "use is the same",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
