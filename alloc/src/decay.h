/*
 * Memory goes back as time passes: what was free at two looks in a row, a quarter of a
 * second apart, is given to the kernel. Looks are taken by a thread of our own once the
 * program is large enough, and until then by whoever comes along a slow path.
 */
#ifndef STRATA_DECAY_H
#define STRATA_DECAY_H

#include <stddef.h>

/* One look at everything. Returns the bytes given back. */
size_t strata__decay_step(void);

/* From the slow paths of allocation and free, with no lock held. The first may start the
 * thread, the second may wake it or take a look itself. */
void strata__decay_note_alloc(void);
void strata__decay_note_free(void);

/* Allows the thread from now on: the C library must be up. */
void strata__decay_allow_thread(void);

/* Before: the thread also watches for pressure on memory (pressure.h), and then calls
 * `relieve` at once. */
void strata__decay_watch_pressure(void (*relieve)(void));

/* Around fork: the thread does not exist in a child. It is started there again only if the
 * process had no other threads: else it may hold what starting a thread needs. Returns
 * whether that is so. */
int strata__decay_fork_prepare(void);
void strata__decay_fork_child(void);

#endif
