/* run_process.h - a child that is started, passed signals, and waited for. */
#ifndef STRATA_CMD_RUN_PROCESS_H
#define STRATA_CMD_RUN_PROCESS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <sys/types.h>

#include "facts/child_region.h"

struct run_process {
    pid_t pid;
    int status; /* as of wait(2), once it has ended */
    struct rusage usage;
    uint64_t microseconds; /* from start to end */
    char
        greeting; /* of the library's constructor (alloc/src/launcher.h); 0: it did not run */
    struct child_region figures;
};

/*
 * Runs command (argv, NULL at its end; looked up as execvp does) with the environment as
 * it is. With greet the child gets a descriptor to greet on, which the library closes.
 * Signals that end or inform a process are passed on. Returns when the child has ended: 0,
 * or -errno when it could not be started (ENOENT: there is no such command).
 */
int run_process(char *const *command, bool greet, struct run_process *process);

#endif
