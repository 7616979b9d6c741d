/* glibc_find.h - finds main_arena, the ring of arenas and mp_ without any symbol. */
#ifndef STRATA_FACTS_GLIBC_FIND_H
#define STRATA_FACTS_GLIBC_FIND_H

#include "facts/glibc_reader.h"

struct glibc_ring {
    uint64_t *arenas; /* main_arena first */
    size_t count;
    bool closed;     /* following next came back to main_arena */
    const char *why; /* when it is not closed */
};

/*
 * Looks through the writable data of libc, or of the program itself when no libc is
 * mapped, for main_arena; fills ring and reader->main_arena, layout, heap_bytes and
 * parameters, and the version, static_binary and layout of the process's glibc facts. 0;
 * -ENOENT when there is no initialised main_arena: glibc malloc never ran; -ENOMEM; or
 * -errno of the memory.
 */
int glibc_find(struct glibc_reader *reader, struct glibc_ring *ring);

/* The mapping that holds address; NULL: none. */
const struct mapping *glibc_mapping_at(
    const struct glibc_reader *reader, uint64_t address);

#endif
