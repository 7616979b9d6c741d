/* pagemap.h - /proc/PID/pagemap: which pages are resident, and in which frames. */
#ifndef STRATA_FACTS_PAGEMAP_H
#define STRATA_FACTS_PAGEMAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "facts/process_folder.h"

/* Bits of an entry, Documentation/admin-guide/mm/pagemap.rst. */
#define PAGEMAP_FRAME_MASK ((UINT64_C(1) << 55) - 1) /* 0 without CAP_SYS_ADMIN */
#define PAGEMAP_EXCLUSIVE (UINT64_C(1) << 56)
#define PAGEMAP_FILE (UINT64_C(1) << 61)
#define PAGEMAP_SWAPPED (UINT64_C(1) << 62)
#define PAGEMAP_PRESENT (UINT64_C(1) << 63)

/* Entries read at a time: bounds our memory and how long the target's lock is held. */
enum { PAGEMAP_SLICE = 4096 };

struct pagemap {
    int fd;
    bool can_scan; /* the kernel has the PAGEMAP_SCAN request (6.7) */
    uint64_t page_bytes;
    uint64_t zero_frame; /* frame of the page of zeroes; 0: not known */
    uint64_t bytes_read;
};

/* 0, -ESRCH, -EACCES, -ENOENT (kernel without it) or another -errno of open. */
int pagemap_open(struct pagemap *pagemap, struct process_folder *folder);
void pagemap_close(struct pagemap *pagemap);

/*
 * The raw entries of count pages (at most PAGEMAP_SLICE) from address on; pages the file has
 * no entry for are 0. 0 or -errno.
 */
int pagemap_read(
    struct pagemap *pagemap, uint64_t address, size_t count, uint64_t *entries);

/* The same as enum page_bits of memory.h, for any count; zero pages are told apart. */
int pagemap_bits(struct pagemap *pagemap, uint64_t address, size_t count, uint8_t *bits);

/* Of these PAGE_PRESENT and PAGE_ZERO alone: with PAGEMAP_SCAN a third of the time or less. */
int pagemap_present(
    struct pagemap *pagemap, uint64_t address, size_t count, uint8_t *bits);

/*
 * The first piece of [address, end) that may hold resident pages: skips what the kernel knows
 * to be empty, so that terabytes of reserved address space cost nothing. Small holes are not
 * skipped: a piece is at least a slice long, unless end is nearer. True with *start
 * and *stop, or false when there is none. Without PAGEMAP_SCAN: all of it.
 */
bool pagemap_next_populated(struct pagemap *pagemap, uint64_t address, uint64_t end,
    uint64_t *start, uint64_t *stop);

#endif
