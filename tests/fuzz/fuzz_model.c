/*
 * fuzz_model.c - facts of any shape through model and findings.
 *
 * The input steers a generator of facts (facts_random.h); what comes out must keep every
 * promise of snapshots and findings.
 */
#include <stdio.h>
#include <stdlib.h>

#include "facts_random.h"
#include "findings_check.h"
#include "snapshot_check.h"

static void must_hold(const char *problem)
{
    if (problem != NULL) {
        (void)fprintf(stderr, "%s\n", problem);
        abort();
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct facts facts;
    struct snapshot snapshot;
    struct finding_list list;

    facts_random(&facts, data, size);
    if (snapshot_build(&facts, &snapshot) == 0) {
        must_hold(snapshot_check(&snapshot));
        if (findings_run(&snapshot, &list) == 0) {
            must_hold(findings_check(&list));
            finding_list_release(&list);
        }
        snapshot_release(&snapshot);
    }
    region_release(&facts.region);
    return 0;
}
