/*
 * Address ranges that the kernel would not take back: munmap(2) fails with ENOMEM when it
 * would have to cut a mapping in two and the process has vm.max_map_count of them. Their
 * memory is given back all the same; the addresses are kept and used again.
 */
#ifndef STRATA_KEPT_H
#define STRATA_KEPT_H

#include <stddef.h>

/* After munmap of the range has failed. */
void strata__kept_add(void *address, size_t bytes);
/* Readable, writable, zeroed memory from a range that is kept, or NULL. */
void *strata__kept_take(size_t bytes, size_t alignment);
/* Tries again to unmap what is kept. */
void strata__kept_retry(void);
/* Bytes that are kept, a page of each range resident. */
size_t strata__kept_bytes(void);

/* For fork; below every other lock. */
void strata__kept_lock(void);
void strata__kept_unlock(void);
void strata__kept_reset_lock(void);

#endif
