/*
 * A list of ranges, each described in its own first page, so that there can be any number
 * of them: what cannot be unmapped may be thousands of blocks out of the middle of one
 * mapping (mm/vma.c, do_vmi_align_munmap: ENOMEM before anything is changed).
 *
 * MADV_DONTNEED cuts no mapping, so the memory goes back at once and reads as zeroes
 * later. A range that may not be written to and cannot be made so is let go of: that is
 * address space without memory. Neighbours are joined as far as a short search finds them.
 *
 * One lock, under which only the system is called.
 */
#include "kept.h"

#include <stdint.h>
#include <string.h>
#include <sys/mman.h>

#include "lock.h"
#include "pagesize.h"

#define NEIGHBOURS_MAX 256

struct range {
    struct range *next;
    size_t bytes;
};

static struct {
    struct strata__lock lock;
    struct range *head;
    size_t bytes; /* read without the lock */
} kept;

static void count(size_t by)
{
    __atomic_store_n(&kept.bytes, kept.bytes + by, __ATOMIC_RELAXED);
}

static int make_writable(void *address, size_t bytes)
{
    return mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0;
}

/* Takes a range that touches this one off the list and returns it, or NULL. */
static struct range *take_neighbour(const char *start, size_t bytes)
{
    struct range **link = &kept.head;
    for (int i = 0; *link != NULL && i < NEIGHBOURS_MAX; i++) {
        struct range *range = *link;
        if ((const char *)range == start + bytes ||
            (const char *)range + range->bytes == start) {
            *link = range->next;
            count(-range->bytes);
            return range;
        }
        link = &range->next;
    }
    return NULL;
}

static void push(char *start, size_t bytes)
{
    struct range *range = (struct range *)(void *)start;
    *range = (struct range){.next = kept.head, .bytes = bytes};
    kept.head = range;
    count(bytes);
}

/* The range reads as zeroes and its first page is writable. */
static void insert(char *start, size_t bytes)
{
    struct range *neighbour = NULL;
    while ((neighbour = take_neighbour(start, bytes)) != NULL) {
        size_t more = neighbour->bytes;
        char *low = (char *)neighbour < start ? (char *)neighbour : start;
        memset(neighbour, 0, sizeof(*neighbour));
        start = low;
        bytes += more;
    }
    push(start, bytes);
}

void strata__kept_add(void *address, size_t bytes)
{
    int purged = madvise(address, bytes, MADV_DONTNEED) == 0;
    if (!make_writable(address, STRATA__PAGE_BYTES)) {
        return;
    }
    if (!purged) { /* locked in memory by mlockall */
        if (!make_writable(address, bytes)) {
            return;
        }
        memset(address, 0, bytes);
    }
    strata__lock_take(&kept.lock);
    insert(address, bytes);
    strata__lock_drop(&kept.lock);
}

/* The wanted bytes of a range, or NULL when it is too short or not to be written to. */
static char *fit(struct range *range, size_t bytes, size_t alignment)
{
    size_t skipped = (size_t)(-(uintptr_t)range) & (alignment - 1);
    char *start = (char *)range + skipped;
    if (skipped > range->bytes || range->bytes - skipped < bytes) {
        return NULL;
    }
    size_t behind = range->bytes - skipped - bytes;
    /* What is left behind it needs a first page as well. */
    return make_writable(start, bytes + (behind > 0 ? STRATA__PAGE_BYTES : 0)) ? start
                                                                               : NULL;
}

static void *take_locked(size_t bytes, size_t alignment)
{
    for (struct range **link = &kept.head; *link != NULL; link = &(*link)->next) {
        struct range *range = *link;
        char *start = fit(range, bytes, alignment);
        if (start == NULL) {
            continue;
        }
        char *low = (char *)range;
        char *end = low + range->bytes;
        *link = range->next;
        count(-range->bytes);
        memset(range, 0, sizeof(*range));
        if (start > low) {
            push(low, (size_t)(start - low));
        }
        if (end > start + bytes) {
            push(start + bytes, (size_t)(end - (start + bytes)));
        }
        return start;
    }
    return NULL;
}

void *strata__kept_take(size_t bytes, size_t alignment)
{
    if (strata__kept_bytes() < bytes || bytes == 0) {
        return NULL;
    }
    strata__lock_take(&kept.lock);
    void *start = take_locked(bytes, alignment);
    strata__lock_drop(&kept.lock);
    return start;
}

void strata__kept_retry(void)
{
    if (strata__kept_bytes() == 0) {
        return;
    }
    strata__lock_take(&kept.lock);
    struct range **link = &kept.head;
    while (*link != NULL) {
        struct range *range = *link;
        struct range copy = *range;
        if (munmap(range, copy.bytes) == 0) {
            *link = copy.next;
            count(-copy.bytes);
        } else {
            link = &range->next;
        }
    }
    strata__lock_drop(&kept.lock);
}

size_t strata__kept_bytes(void)
{
    return __atomic_load_n(&kept.bytes, __ATOMIC_RELAXED);
}

void strata__kept_lock(void)
{
    strata__lock_take(&kept.lock);
}

void strata__kept_unlock(void)
{
    strata__lock_drop(&kept.lock);
}

void strata__kept_reset_lock(void)
{
    strata__lock_reset(&kept.lock);
}
