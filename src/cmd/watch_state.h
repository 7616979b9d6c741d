/* watch_state.h - what a watch remembers, for watch.c and watch_schedule.c. */
#ifndef STRATA_CMD_WATCH_STATE_H
#define STRATA_CMD_WATCH_STATE_H

#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "cmd/watch.h"
#include "cmd/watch_view.h"

/* What is remembered of a row from look to look. */
struct watch_entry {
    char *key;
    struct watch_look *look; /* the last good one, or NULL */
    uint64_t due_ns;
    unsigned failures; /* in a row */
};

/* One lock guards everything in it, and is never held while something is read or made. */
struct watch {
    struct watch_options options;
    pthread_mutex_t lock;
    pthread_cond_t changed; /* something below changed; CLOCK_MONOTONIC */
    bool stopping;
    bool paused;
    bool threads_run;
    pthread_t host_thread;
    pthread_t look_thread;
    struct watch_view *view; /* NULL: none yet */
    uint64_t host_due_ns;
    struct watch_entry *entries; /* at most 2 * options.most */
    size_t entry_count;
    char *focus; /* a key, or NULL */
    uint64_t focus_changes;
    uint64_t sequence;
    struct watch_counts counts;
};

#endif
