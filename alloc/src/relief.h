/*
 * Giving back all that can be, when time cannot be waited for: a limit is reached, the
 * system refuses, the kernel tells of pressure, or the program asks (malloc_trim).
 */
#ifndef STRATA_RELIEF_H
#define STRATA_RELIEF_H

#include <stddef.h>

/* With no lock held: everything that CPUs keep goes home, every free page goes back.
 * Returns the bytes given back. */
size_t strata__relief_purge(void);
/* A request for `bytes` was refused: purges, if that can help. Returns whether it is worth
 * trying again. */
int strata__relief_after_refusal(size_t bytes);
/* As purge, because the kernel has told of pressure. */
void strata__relief_under_pressure(void);
/* From the slow paths of allocation: purges when more is held than the soft limit. */
void strata__relief_note_alloc(void);

#endif
