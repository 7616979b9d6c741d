/*
 * guard.h - whatever a lab starts or makes is gone when it ends, however it ends.
 */
#ifndef STRATA_LABS_COMMON_GUARD_H
#define STRATA_LABS_COMMON_GUARD_H

enum { GUARD_PATH_BYTES = 512 };

/* What the lab may use until it ends. */
struct guard {
    char folder[GUARD_PATH_BYTES]; /* its own, empty */
    char cgroup[GUARD_PATH_BYTES]; /* a name for cgroups of its own, used by no other */
};

/*
 * Splits the program in two: it goes on in a child, and the parent only waits for it.
 * Then, also after SIGINT, SIGTERM or a crash of the child, the parent ends every process
 * that descends from it, removes the folder and the cgroups below that name, and exits with
 * the child's code (128 and the number of the signal for a signal). Must be called before
 * threads and output. Ends the program when there is no folder.
 */
void guard_enter(struct guard *guard);

#endif
