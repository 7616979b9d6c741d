/* heap_strata_source.h - where the statistics region of strata's malloc can be read. */
#ifndef STRATA_FACTS_HEAP_STRATA_SOURCE_H
#define STRATA_FACTS_HEAP_STRATA_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/memory.h"
#include "facts/process_folder.h"
#include "facts_types/process_facts.h"

/* A region by its segment of shared memory, or by the memory of its process, or both. */
struct heap_strata_source {
    const uint8_t *segment; /* attached for reading; NULL: not */
    struct memory *memory;  /* NULL: no right to read it */
    uint64_t address;       /* in the process; 0: not known */
    size_t bytes;           /* what can be read at most */
    uint64_t bytes_read;    /* from the segment, for the stated cost */
};

/*
 * Looks for the region of process: by its mapping, by the list of segments of shared memory
 * that this process created (when folder is one of the live system, else NULL), by its first
 * bytes in the data of the library. memory NULL: it may not be read. 0; -ENOENT: there is
 * none; -EACCES: there is one which neither way may be read; or -errno. On 0 release with
 * heap_strata_source_close().
 */
int heap_strata_source_open(struct process_folder *folder, struct memory *memory,
    const struct process_facts *process, struct heap_strata_source *source);
void heap_strata_source_close(struct heap_strata_source *source);

/* Copies bytes from offset on; only pages that exist. 0, -EFAULT beyond the end, or -errno. */
int heap_strata_source_read(
    struct heap_strata_source *source, uint64_t offset, void *data, size_t bytes);

#endif
