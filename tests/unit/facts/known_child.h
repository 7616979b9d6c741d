/* known_child.h - children whose memory is known: written, shared, read only and untouched. */
#ifndef STRATA_TESTS_KNOWN_CHILD_H
#define STRATA_TESTS_KNOWN_CHILD_H

#include <stdint.h>

#include "child.h"

#define MIB (UINT64_C(1) << 20)

enum { KNOWN_PRIVATE_MIB = 4, KNOWN_SHARED_MIB = 2, KNOWN_UNTOUCHED_MIB = 64 };

/* Anonymous memory, MAP_PRIVATE or MAP_SHARED, without huge pages. */
char *known_child_map(uint64_t bytes, int sharing);

/* A body: maps one of each. words: private and written, shared and written, untouched. */
int known_child_map_things(struct child_side *side);

/*
 * A body: starts this program anew, in memory that it shares with nobody, when it may go on. It
 * closes its pipe when it is ready. The program's main calls known_child_hold() when it has an
 * argument.
 */
int known_child_become_holder(struct child_side *side);

/* The new program: holds written, shared and merely read memory until it is killed. */
int known_child_hold(const char *ready);

/* Starts a holder and waits until it is ready. */
void known_child_start_holder(struct child *child);

#endif
