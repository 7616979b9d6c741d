/*
 * Huge blocks. One that grows is moved by mremap(2), which moves page tables instead of
 * bytes and takes any free address, a multiple of a page only: so only its first unit is
 * in the map. What else lies in that unit (a foreign mapping in front of the block) is not
 * ours.
 *
 * In the stronger mode each block of whole pages is one, between pages that may not be
 * touched.
 */
#include "huge.h"

#include <errno.h>
#include <stdint.h>
#include <sys/mman.h>

#include "large_books.h"
#include "limit.h"
#include "metadata.h"
#include "os.h"
#include "pagesize.h"

int strata__huge_guarded;

void strata__huge_harden(void)
{
    strata__huge_guarded = 1;
}

static int move_mapping(void *from, size_t old_bytes, void *to, size_t new_bytes)
{
    void *moved = mremap(from, old_bytes, new_bytes, MREMAP_MAYMOVE | MREMAP_FIXED, to);
    return moved == MAP_FAILED ? -errno : 0;
}

int (*strata__huge_move)(void *, size_t, void *, size_t) = move_mapping;

/* A mapping that the address map can tell. */
static char *map_covered(size_t bytes, size_t alignment)
{
    char *start = strata__os->map(bytes, alignment);
    if (start != NULL && strata__unitmap_cover(start, bytes) != 0) {
        strata__os->unmap(start, bytes);
        start = NULL;
    }
    return start;
}

/* Where the process has no mappings left, a block does without. */
static char *map_guarded(size_t bytes, size_t alignment, uint8_t *guard_bits)
{
    size_t front = alignment < STRATA__PAGE_BYTES ? STRATA__PAGE_BYTES : alignment;
    unsigned bits = (unsigned)__builtin_ctzll(front);
    size_t all = strata__huge_guarded_bytes(bytes, bits);
    char *base =
        map_covered(all, front < STRATA__UNIT_BYTES ? STRATA__UNIT_BYTES : front);
    if (base == NULL) {
        return NULL;
    }
    int saved = errno;
    (void)mprotect(base, front, PROT_NONE);
    (void)mprotect(base + front + bytes, all - front - bytes, PROT_NONE);
    errno = saved;
    *guard_bits = (uint8_t)bits;
    return base + front;
}

/* A unit at least, as a guarded block has: the map can tell of one start in each. */
static size_t huge_bytes_of(size_t asked_bytes)
{
    return !strata__huge_guarded && asked_bytes < STRATA__UNIT_BYTES
               ? STRATA__UNIT_BYTES
               : strata__page_round_up(asked_bytes);
}

void *strata__huge_alloc(size_t asked_bytes, size_t alignment)
{
    size_t bytes = huge_bytes_of(asked_bytes);
    struct strata__span *span = strata__metadata_take(sizeof(*span));
    if (span == NULL) {
        return NULL;
    }
    int bought = strata__limit_buy(bytes) == 0;
    uint8_t guard_bits = 0;
    char *start = NULL;
    if (bought) {
        start = strata__huge_guarded ? map_guarded(bytes, alignment, &guard_bits)
                                     : map_covered(bytes, alignment < STRATA__PAGE_BYTES
                                                              ? STRATA__PAGE_BYTES
                                                              : alignment);
    }
    if (start == NULL) {
        strata__limit_return(bought ? bytes : 0);
        strata__metadata_give(span, sizeof(*span));
        return NULL;
    }
    *span = (struct strata__span){.start = start,
        .guard_bits = guard_bits,
        .bytes = bytes,
        .rounding_bytes = (uint16_t)(bytes - asked_bytes)};
    strata__large_enter(span);
    return start;
}

void strata__huge_free(struct strata__span *span)
{
    size_t bytes = span->bytes;
    char *mapped = strata__huge_mapping(span);
    size_t mapped_bytes = strata__huge_mapping_bytes(span);
    strata__large_leave(span);
    strata__metadata_give(span, sizeof(*span));
    strata__os->unmap(mapped, mapped_bytes);
    strata__limit_return(bytes);
}

/* Everything that can fail is done before the old mapping goes. */
static char *grow_huge(struct strata__span *span, size_t bytes)
{
    char *start = span->start;
    if (strata__os->extend(start, span->bytes, bytes) == 0) {
        return start;
    }
    char *target = map_covered(bytes, STRATA__PAGE_BYTES);
    if (target == NULL) {
        return NULL;
    }
    if (strata__huge_move(start, span->bytes, target, bytes) != 0) {
        strata__os->unmap(target, bytes);
        return NULL;
    }
    return target;
}

/* The block stands aside of the books and of the map while it changes, since another
 * thread's mapping can get the addresses that it leaves. */
char *strata__huge_resize(struct strata__span *span, size_t bytes)
{
    if (bytes < STRATA__GROWN_MAX_BYTES || span->guard_bits != 0) {
        return NULL;
    }
    if (bytes > span->bytes) {
        size_t more = bytes - span->bytes;
        if (strata__limit_buy(more) != 0) {
            return NULL;
        }
        char *start = grow_huge(span, bytes);
        if (start == NULL) {
            strata__limit_return(more);
        }
        return start;
    }
    strata__os->unmap(span->start + bytes, span->bytes - bytes);
    strata__limit_return(span->bytes - bytes);
    return span->start;
}
