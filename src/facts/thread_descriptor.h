/* thread_descriptor.h - finds glibc's struct pthread of every thread in a process's memory. */
#ifndef STRATA_FACTS_THREAD_DESCRIPTOR_H
#define STRATA_FACTS_THREAD_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

/* Of the part of a struct pthread that is alike on all machines: it begins with list. */
enum {
    THREAD_DESCRIPTOR_TID = 0x10,
    THREAD_DESCRIPTOR_BYTES = 0x500, /* what is read; it is larger in every release */
};

/* Addresses of these parts, ascending, each once. */
struct thread_descriptors {
    uint64_t *addresses;
    size_t count;
};

/*
 * Finds them by content in the mappings of process: running threads, the first one
 * included, and those whose stacks are kept. Empty where there are none (no glibc). 0 or
 * -ENOMEM.
 */
int thread_descriptors_find(struct memory *memory, const struct process_facts *process,
    struct region *region, struct thread_descriptors *descriptors);

#endif
