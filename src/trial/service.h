/* service.h - programs that a bench starts, and ends whatever happens. */
#ifndef STRATA_TRIAL_SERVICE_H
#define STRATA_TRIAL_SERVICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/error.h"

/* One process group of ours. */
struct service {
    const char *role;
    pid_t pid; /* 0: not running */
    int stop_signal;
    int status; /* of waitpid, when it ended by itself */
    bool ended;
};

/*
 * Runs the words of command (split at blanks) in a process group of its own, its output
 * appended to log. It is told to end when we do. procs is the cgroup.procs file to enter first,
 * or NULL. 0 or -errno with error set; a program that cannot be run is -ENOEXEC.
 */
int service_start(struct service *service, const char *command, const char *log,
    const char *procs, struct error *error);

/* The service still runs; notes its status when it does not. */
bool service_is_alive(struct service *service);

/* Stop signal, at most 10 s of patience, then SIGKILL to the whole group. */
void service_stop(struct service *service);

/* Runs a command to its end within seconds: its exit code, or -errno with error set. */
int service_run(
    const char *command, const char *log, unsigned seconds, struct error *error);

/* Sleeps; ends early when a signal asked us to stop. */
void service_pause_ms(unsigned ms);

/* From now on SIGINT, SIGTERM and SIGHUP only set the flag that the next line returns. */
void service_catch_signals(void);
bool service_was_told_to_stop(void);

/* Monotonic time. */
int64_t service_now_ns(void);

#endif
