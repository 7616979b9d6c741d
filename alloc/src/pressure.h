/*
 * What the kernel tells of a shortage of memory, for the thread of decay.c: pressure stalls
 * and passing memory.high in version 2 of cgroups, reclaim and nearing the limit in 1.
 */
#ifndef STRATA_PRESSURE_H
#define STRATA_PRESSURE_H

/* Only in a thread of our own: it gets a table of descriptors for itself, and loses all of
 * the program's. A descriptor to wait on, or -1 when nothing can be watched. `system`: see
 * cgroup.h. */
int strata__pressure_open(const char *system);
/* Waits at most so long. Returns whether there is pressure. */
int strata__pressure_wait(int watcher, int milliseconds);

#endif
