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
#include "record/capture_clock.h"
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
    struct capture_clock captures;
    bool told_missing; /* what is denied is told once */
};

struct record_session {
    struct facts_root root;
    struct recorder *recorder;
    struct record_target *targets;
    size_t target_count;
    struct capture_intervals intervals;
    uint64_t for_ms;    /* 0: without end */
    uint64_t keep_ms;   /* 0: all */
    uint64_t max_bytes; /* 0: no bound */
    struct capture_budget budget;
    bool ending; /* this tick is the last one */
    /* by the first capture of each target */
    size_t captured_targets;
    size_t denied_targets;  /* hardly anything of them is shown to this user */
    size_t limited_targets; /* something of them is not */
    size_t layer_metrics[LAYER_COUNT];
    size_t requests_metric;
    size_t deep_metric;
    struct moment now;
    uint64_t pids; /* fingerprint of all processes at this tick */
};

#endif
