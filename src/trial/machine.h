/* machine.h - what disturbs a measurement: stolen processors, swap, throttling. */
#ifndef STRATA_TRIAL_MACHINE_H
#define STRATA_TRIAL_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

/* Counters since boot; the difference of two moments is a run's. Ticks of 10 ms. */
struct machine_counters {
    uint64_t busy_ticks; /* all processors together, steal not included */
    uint64_t idle_ticks;
    uint64_t steal_ticks;
    uint64_t swapped_pages; /* in and out */
    uint64_t throttled;     /* periods in which the pool's cgroup had no processor left */
    bool throttled_known;
    bool known; /* /proc/stat was readable */
};

/* pid: a process of the pool, for its cgroup; 0: none. */
struct machine_counters machine_read(int32_t pid);

/* after - before, each field. */
struct machine_counters machine_difference(
    const struct machine_counters *before, const struct machine_counters *after);

#endif
