/*
 * The stronger mode (STRATA_HARDENED): what is freed is filled with a pattern, waits in a
 * quarantine, and is looked at before it is handed out again; blocks are taken at random
 * places of their slabs; large blocks have pages around them that may not be touched.
 *
 * Detected on top of what always is: each second free of a small block, not only the next
 * one; writes to freed memory, when it leaves the quarantine and when it is handed out;
 * any access beyond the pages of a large block, or to one that was freed.
 */
#ifndef STRATA_HARD_H
#define STRATA_HARD_H

#include <stddef.h>

extern int strata__hard_active;

/* Once, before other threads use the allocator, and with no CPU tables. */
void strata__hard_start(void);
/* A small block that is about to be handed out: fatal if it was written to. NULL passes. */
void *strata__hard_taken(void *block, unsigned class);
/* A small block was freed. The one that leaves the quarantine for it, with its class, and
 * has to be given back now; NULL: none. */
void *strata__hard_freed(void *block, unsigned *class);
/* Blocks of a class that wait in the quarantine. */
size_t strata__hard_blocks(unsigned class);
/* Gives the whole quarantine back. */
void strata__hard_flush(void);

/* For fork: outermost. */
void strata__hard_lock(void);
void strata__hard_unlock(void);
/* Behind the tables of CPUs, whose place in the region it takes. */
void strata__hard_fork_child(void);

#endif
