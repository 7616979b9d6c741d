/* recorded_memory.h - the memory of a real process of another machine, out of a file. */
#ifndef STRATA_TESTS_UNIT_FACTS_RECORDED_MEMORY_H
#define STRATA_TESTS_UNIT_FACTS_RECORDED_MEMORY_H

#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "facts/memory.h"
#include "facts/thread_list.h"
#include "facts_types/process_facts.h"

enum { RECORDED_THREADS_MAX = 64 };

struct recorded_page {
    uint64_t address;
    uint8_t bits;
    const uint8_t *data; /* NULL: zeroes */
};

/*
 * A file is made by tests/system/record_memory.c and compressed by gzip. Its lines:
 *   strata recorded memory 1
 *   page BYTES                      of the target's page tables
 *   executable PATH
 *   thread ID STACK_POINTER
 *   mapping START END PERMISSIONS FLAGS MAJOR MINOR INODE PATH   (hexadecimal)
 *   pages ADDRESS BITS              '@' + enum page_bits for each page from there on
 *   data ADDRESS                    BYTES of one page follow
 * Pages that are not told are absent, and reading one fails as in a live process.
 */
struct recorded_memory {
    struct memory memory; /* first: is what readers get */
    struct region region; /* owns all of this */
    struct recorded_page *pages;
    size_t page_count;
    struct process_facts process;
    struct thread_ids thread_ids[RECORDED_THREADS_MAX];
    uint64_t stack_pointers[RECORDED_THREADS_MAX];
    struct thread_list threads;
};

/* Reads tests/fixtures/FOLDER/NAME.memory.gz; fails the test when it cannot. Release it. */
void recorded_memory_open(
    struct recorded_memory *recorded, const char *folder, const char *name);
void recorded_memory_release(struct recorded_memory *recorded);

#endif
