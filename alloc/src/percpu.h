/*
 * What each CPU keeps: an array of free blocks of each class, used without locks or atomic
 * instructions by restartable sequences (rseq(2)). Memory follows the CPUs in use, not the
 * threads, and a thread that ends leaves nothing behind.
 */
#ifndef STRATA_PERCPU_H
#define STRATA_PERCPU_H

#include <stddef.h>

#include "sequence.h"

/* Finds out whether the C library has registered rseq. Until then all goes to the central
 * lists. */
void strata__percpu_start(void);
void strata__percpu_stop(void);
/* From now on the fast paths of malloc and free find no CPU and take the slow ones, which
 * use the tables all the same. For good. */
void strata__percpu_close_fast_path(void);

/* At most so many CPUs keep blocks at a time: for a quota that is worth fewer CPUs than
 * threads run on. 0: all that threads run on. */
void strata__percpu_bound(size_t tables);

/* The slow halves: a block after a pop found none, NULL when the system gives no memory;
 * and where a block goes when a push found no room. */
void *strata__percpu_refill(unsigned class);
void strata__percpu_flush(unsigned class, void *block);

/* Sends the blocks that CPUs keep to the central lists: of all CPUs, or of those whose
 * counts have not changed since the last call. Returns how many CPUs. */
unsigned strata__percpu_drain(int all);
/* Blocks of a class that CPUs keep; exact when no other thread calls. */
size_t strata__percpu_blocks(unsigned class);
/* Memory of the tables themselves. */
size_t strata__percpu_metadata_bytes(void);

/* Around fork; the lock ranks above the central lists. `alone`: there are no other threads.
 * `renewed` is what strata__region_renew() said in the child. */
void strata__percpu_fork_prepare(int alone);
void strata__percpu_fork_parent(void);
void strata__percpu_fork_child(int renewed);

#endif
