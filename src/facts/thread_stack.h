/* thread_stack.h - the stacks of glibc's threads, also of threads that have ended. */
#ifndef STRATA_FACTS_THREAD_STACK_H
#define STRATA_FACTS_THREAD_STACK_H

#include "base/region.h"
#include "facts/memory.h"
#include "facts/process_folder.h"
#include "facts/thread_list.h"
#include "facts_types/process_facts.h"

/*
 * Adds to process a SPAN_THREAD_STACK for every thread but the first, whose stack is the
 * mapping "[stack]", and a SPAN_CACHED_STACK for every stack that glibc keeps for the next
 * thread; index is the thread's id (0 for a cached stack). Guard pages are left out. For
 * programs on glibc; others have no such spans. 0 or -ENOMEM.
 */
int thread_stack_find(struct memory *memory, const struct thread_list *threads,
    struct region *region, struct process_facts *process);

/* The same with the threads of folder. 0, -ESRCH or -ENOMEM. */
int thread_stack_read(struct process_folder *folder, struct memory *memory,
    struct region *region, struct process_facts *process);

#endif
