/* allocator_detect.h - which allocators run in a process, and whether LD_PRELOAD worked. */
#ifndef STRATA_FACTS_ALLOCATOR_DETECT_H
#define STRATA_FACTS_ALLOCATOR_DETECT_H

#include <stdbool.h>

#include "base/region.h"
#include "facts/process_folder.h"
#include "facts_types/process_facts.h"

/*
 * Fills process->allocators (in the order of enum allocator_kind) and preload_state. Needs
 * mappings, executable and environment; after glibc_read(), zend_read() and
 * python_arena_read() it can also tell which ones hold memory (heaps_read). folder gives
 * the program's file, searched only when no mapped file explains where memory comes from;
 * NULL: it is not searched. 0, -ENOMEM, or -ESRCH.
 */
int allocator_detect(struct process_folder *folder, bool heaps_read,
    struct region *region, struct process_facts *process);

/* A library of LD_PRELOAD, by its base name, is the mapped file path. */
bool allocator_is_preload(const char *name, size_t bytes, const char *path);

#endif
