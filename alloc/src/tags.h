/*
 * Tags: whose memory is it. Each block that a thread allocates under a tag carries the
 * number of a record, outside of the user's pages; a record is a thread and a tag, with
 * what they hold. Nothing here is called before the first push, see front.c.
 */
#ifndef STRATA_TAGS_H
#define STRATA_TAGS_H

#include <stddef.h>
#include <stdint.h>

#include "tag_records.h"

/* Has any thread ever used tags or a ceiling? Changes once, from 0 to 1. */
extern int strata__tags_active;
static inline int strata__tags_are_active(void)
{
    return __atomic_load_n(&strata__tags_active, __ATOMIC_RELAXED);
}

/* The functions of malloc.h, in its terms. push and ceiling set strata__tags_active. */
int strata__tags_push(const char *name);
void strata__tags_pop(void);
int strata__tags_get(const char *name, int of_all_threads, struct strata__tag_stats *out);
int strata__tags_set_thread_name(const char *name);
int strata__tags_set_ceiling(size_t bytes);
void strata__tags_reset_peaks(void);

/* May this thread have so much more? The second counts a refusal. */
int strata__tags_has_room(size_t bytes);
int strata__tags_admit(size_t bytes);
/* A block was handed out to this thread, or is about to be freed by it; `bytes` are those
 * of its class or its pages. Any block of ours, tagged or not. */
void strata__tags_charge(void *block, size_t bytes);
void strata__tags_release(void *block, size_t bytes);
/* May a block that is not to be copied grow so? Under a ceiling one that did not count for
 * this thread is all its own from then on. */
int strata__tags_may_grow(const void *block, size_t old_bytes, size_t bytes);
/* A block of whole pages is resized: what stands for it is lifted before, since its old address
 * may be another thread's block right after; and settled behind it, also when it failed. Its
 * record goes along, but for the case above. */
unsigned strata__tags_lift(const void *block);
void strata__tags_settle(unsigned lifted, size_t old_bytes, void *block, size_t bytes);

/* For fork; ranks above the central lists and below the CPU tables. */
void strata__tags_lock(void);
void strata__tags_unlock(void);
void strata__tags_fork_child(void);

#endif
