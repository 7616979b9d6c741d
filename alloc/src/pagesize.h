/*
 * The page: what the kernel maps, protects and gives back, and what all books count in.
 * Tables and masks are made for 4096 bytes; the malloc replacement refuses to start on a
 * kernel with other pages (override.c).
 */
#ifndef STRATA_PAGESIZE_H
#define STRATA_PAGESIZE_H

#include <stddef.h>

#define STRATA__PAGE_BITS 12
#define STRATA__PAGE_BYTES ((size_t)1 << STRATA__PAGE_BITS)

/* To whole pages. */
static inline size_t strata__page_round_up(size_t bytes)
{
    return (bytes + STRATA__PAGE_BYTES - 1) & ~(STRATA__PAGE_BYTES - 1);
}

#endif
