/* record_session.h - what the parts of `strata record` share while it runs. */
#ifndef STRATA_CMD_RECORD_SESSION_H
#define STRATA_CMD_RECORD_SESSION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/collect.h"
#include "facts/root.h"
#include "facts_types/moment.h"
#include "model/snapshot.h"
#include "record/recorder.h"

/* One TARGET of the command line. */
struct record_target {
    const char *text;
    uint32_t subject; /* its number in the recording; 0: not seen yet */
    struct region region;
    struct chosen_members found; /* who they are; its lists are in region */
    bool present;                /* found holds the members */
    bool finished;               /* was a pid, and that process has ended */
    bool stale;                  /* members changed: to be found anew */
    int64_t found_boot_ms;
    uint64_t found_pids;  /* fingerprint of all processes when they were looked for */
    uint64_t start_ticks; /* of a target that is a pid; 0: not known yet */
    uint64_t rss_bytes;   /* sum over the members at the last tick */
    size_t members;
    /* full captures */
    uint64_t deep_reads;
    int64_t deep_boot_ms; /* of the last one */
    uint64_t deep_rss_bytes;
    bool told_missing; /* what is denied is told once */
};

struct record_session {
    struct facts_root root;
    struct recorder *recorder;
    struct record_target *targets;
    size_t target_count;
    uint64_t every_ms;
    uint64_t for_ms;    /* 0: without end */
    uint64_t keep_ms;   /* 0: all */
    uint64_t max_bytes; /* 0: no bound */
    uint64_t deep_every_ms;
    bool deep_forced; /* the user chose the interval: it has no budget */
    int64_t
        deep_not_before_ms; /* boot clock: what the last one cost is paid for by then */
    size_t layer_metrics[LAYER_COUNT];
    size_t requests_metric;
    size_t deep_metric;
    struct moment now;
    uint64_t pids; /* fingerprint of all processes at this tick */
};

#endif
