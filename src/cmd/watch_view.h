/* watch_view.h - one look at the host as rows with labels; the state that watch.c publishes. */
#ifndef STRATA_CMD_WATCH_VIEW_H
#define STRATA_CMD_WATCH_VIEW_H

#include "cmd/host_account.h"
#include "cmd/watch.h"

/* Names of the row at the same index of the overview. */
struct watch_name {
    struct metrics_labels labels;
    const char *key;
};

/* Immutable once made; references are counted by the watch, under its lock. */
struct watch_view {
    unsigned references;
    struct host_account account;
    struct watch_name *names; /* one for each row of account.overview */
    uint64_t taken_ns;        /* monotonic */
    uint64_t wall_ns;
    uint64_t cpu_ns; /* processor time that it took */
};

/* Reads the host. 0 or -errno. */
int watch_view_read(
    const struct watch_options *options, struct watch_view **result, struct error *error);

void watch_view_free(struct watch_view *view);

#endif
