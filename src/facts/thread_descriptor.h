/* thread_descriptor.h - finds glibc's struct pthread of every thread in a process's memory. */
#ifndef STRATA_FACTS_THREAD_DESCRIPTOR_H
#define STRATA_FACTS_THREAD_DESCRIPTOR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/memory.h"
#include "facts_types/process_facts.h"

/* What is read of a struct pthread; it is larger in every release (2304 bytes in 2.36). */
enum { THREAD_DESCRIPTOR_BYTES = 0x7c0 };

/* Addresses of struct pthread, ascending, each once. */
struct thread_descriptors {
    uint64_t *addresses;
    size_t count;
};

/* True when the struct at address points at itself where struct pthread does. */
bool thread_descriptor_is_at(struct memory *memory, uint64_t address);

/*
 * Finds them by content in the mappings of process: running threads, the first one
 * included, and those whose stacks are kept. Empty where there are none (no glibc, or not
 * x86-64). 0 or -ENOMEM.
 */
int thread_descriptors_find(struct memory *memory, const struct process_facts *process,
    struct region *region, struct thread_descriptors *descriptors);

#endif
