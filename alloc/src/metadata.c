/*
 * Descriptors come in multiples of 64 bytes, so that no two share a cache line, and one
 * free list for each multiple. They are cut off mappings of 256 KiB from the low end: 1.7 %
 * of the user's bytes in the worst case (blocks of 8 bytes). The first few come from static
 * memory, so that a small program needs no mapping.
 *
 * A mapping of which no descriptor is in use gives its pages back, but for the one that
 * its head lies on, and is cut anew later: so readers of the directory, which lists it,
 * never find other people's memory there. Mappings lie on multiples of their size, which
 * leads from a descriptor to its mapping.
 *
 * One lock, taken last: nothing is called under it but map, purge and the limit.
 */
#include "metadata.h"

#include <stdint.h>

#include "limit.h"
#include "lock.h"
#include "os.h"
#include "pagesize.h"
#include "region.h"

#define GRAIN STRATA__METADATA_LEAST
#define GRAINS (STRATA__METADATA_MAX / GRAIN)
#define MAPPING_BYTES ((size_t)256 << 10)
#define STATIC_BYTES (2 * STRATA__PAGE_BYTES)

#define PURGING UINT32_MAX

struct kept {
    struct kept *next;
};

/* The head of a mapping. */
struct mapping {
    struct mapping *next; /* of those that are empty */
    uint32_t live;        /* descriptors in use; PURGING for a moment */
    uint32_t cut_bytes;
};

static char static_memory[STATIC_BYTES] __attribute__((aligned(64)));

static struct {
    struct strata__lock lock;
    struct kept *kept[GRAINS + 1]; /* by grains */
    char *next;                    /* the rest of the last mapping */
    size_t left_bytes;
    struct mapping *last;  /* NULL: static memory */
    struct mapping *empty; /* purged ones */
    size_t dead;           /* mappings without a live descriptor, but for the last */
    size_t dead_seen;      /* by the last sweep */
    size_t cut_bytes;
    int static_used;
} metadata;

/* Under the lock. */
static void publish(void)
{
    if (strata__region_is_open()) {
        strata__region_set(&strata__shared.region.descriptor_bytes, metadata.cut_bytes);
    }
}

static int refill(void)
{
    if (!metadata.static_used) {
        metadata.static_used = 1;
        metadata.next = static_memory;
        metadata.left_bytes = sizeof(static_memory);
        return 1;
    }
    struct mapping *mapping = metadata.empty;
    if (mapping != NULL) {
        metadata.empty = mapping->next;
    } else {
        mapping = strata__os->map(MAPPING_BYTES, MAPPING_BYTES);
        if (mapping == NULL) {
            return 0;
        }
        strata__region_add_place(mapping, MAPPING_BYTES, STRATA_PLACE_DESCRIPTOR);
    }
    *mapping = (struct mapping){0};
    metadata.dead += metadata.last != NULL && metadata.last->live == 0;
    metadata.last = mapping;
    metadata.next = (char *)mapping + GRAIN;
    metadata.left_bytes = MAPPING_BYTES - GRAIN;
    return 1;
}

/* NULL: static memory. */
static struct mapping *mapping_of(const void *descriptor)
{
    uintptr_t address = (uintptr_t)descriptor;
    if (address - (uintptr_t)static_memory < STATIC_BYTES) {
        return NULL;
    }
    return (struct mapping *)(address & ~(MAPPING_BYTES - 1));
}

/* A descriptor begins or ends to be in use. */
static void change_live(const void *descriptor, int by)
{
    struct mapping *mapping = mapping_of(descriptor);
    if (mapping != NULL) {
        int was_dead = mapping->live == 0;
        mapping->live += (uint32_t)by;
        if (mapping != metadata.last) {
            metadata.dead += (mapping->live == 0) - (size_t)was_dead;
        }
    }
}

/* NULL: the system gives nothing, or the limit forbids it. The rest of a mapping that is too short for this descriptor is lost. */
static void *cut(size_t bytes)
{
    while (metadata.left_bytes < bytes) {
        if (!refill()) {
            return NULL;
        }
    }
    if (strata__limit_buy(bytes) != 0) {
        return NULL;
    }
    void *descriptor = metadata.next;
    metadata.next += bytes;
    metadata.left_bytes -= bytes;
    metadata.cut_bytes += bytes;
    if (metadata.last != NULL) {
        metadata.last->cut_bytes += (uint32_t)bytes;
    }
    change_live(descriptor, 1);
    publish();
    return descriptor;
}

/* When the system gives no more, a longer descriptor has to do. So who gives one back can
 * have one of any shorter length for it (exchange). */
static void *take_kept(size_t grains, size_t grains_max)
{
    for (size_t i = grains; i <= grains_max; i++) {
        struct kept *kept = metadata.kept[i];
        if (kept != NULL) {
            metadata.kept[i] = kept->next;
            change_live(kept, 1);
            return kept;
        }
    }
    return NULL;
}

static size_t grains_of(size_t bytes)
{
    return (bytes + GRAIN - 1) / GRAIN;
}

static void *take_locked(size_t grains)
{
    STRATA__BUG_IF(grains > GRAINS);
    void *descriptor = take_kept(grains, grains);
    if (descriptor == NULL) {
        descriptor = cut(grains * GRAIN);
    }
    return descriptor != NULL ? descriptor : take_kept(grains, GRAINS);
}

static void give_locked(void *descriptor, size_t grains)
{
    struct kept *kept = descriptor;
    kept->next = metadata.kept[grains];
    metadata.kept[grains] = kept;
    change_live(descriptor, -1);
}

void *strata__metadata_take(size_t bytes)
{
    strata__lock_take(&metadata.lock);
    void *descriptor = take_locked(grains_of(bytes));
    strata__lock_drop(&metadata.lock);
    return descriptor;
}

void strata__metadata_give(void *descriptor, size_t bytes)
{
    strata__lock_take(&metadata.lock);
    give_locked(descriptor, grains_of(bytes));
    strata__lock_drop(&metadata.lock);
}

void *strata__metadata_exchange(void *descriptor, size_t old_bytes, size_t bytes)
{
    size_t old_grains = grains_of(old_bytes);
    size_t grains = grains_of(bytes);
    if (grains == old_grains) {
        return descriptor;
    }
    strata__lock_take(&metadata.lock);
    give_locked(descriptor, old_grains);
    void *other = take_locked(grains);
    strata__lock_drop(&metadata.lock);
    STRATA__BUG_IF(other == NULL);
    return other;
}

/* Takes the descriptors of dead mappings off their free list; the mappings go on a list. */
static void collect_dead(struct kept **link, struct mapping **dead)
{
    while (*link != NULL) {
        struct mapping *mapping = mapping_of(*link);
        if (mapping == NULL || mapping == metadata.last ||
            (mapping->live != 0 && mapping->live != PURGING)) {
            link = &(*link)->next;
            continue;
        }
        if (mapping->live == 0) {
            mapping->live = PURGING;
            mapping->next = *dead;
            *dead = mapping;
        }
        *link = (*link)->next;
    }
}

/* What mlockall holds stays resident, and is used again all the same. */
static size_t purge_mapping(struct mapping *mapping)
{
    size_t bytes = mapping->cut_bytes;
    (void)strata__os->purge(
        (char *)mapping + STRATA__PAGE_BYTES, MAPPING_BYTES - STRATA__PAGE_BYTES);
    *mapping = (struct mapping){.next = metadata.empty};
    metadata.empty = mapping;
    metadata.cut_bytes -= bytes;
    metadata.dead--;
    strata__limit_return(bytes);
    return bytes;
}

size_t strata__metadata_sweep(int now)
{
    struct mapping *dead = NULL;
    size_t purged = 0;
    strata__lock_take(&metadata.lock);
    if (metadata.dead > 0 && (now || metadata.dead == metadata.dead_seen)) {
        for (size_t i = 0; i <= GRAINS; i++) {
            collect_dead(&metadata.kept[i], &dead);
        }
    }
    while (dead != NULL) {
        struct mapping *next = dead->next;
        purged += purge_mapping(dead);
        dead = next;
    }
    metadata.dead_seen = metadata.dead;
    publish();
    strata__lock_drop(&metadata.lock);
    return purged;
}

size_t strata__metadata_bytes(void)
{
    strata__lock_take(&metadata.lock);
    size_t bytes = metadata.cut_bytes;
    strata__lock_drop(&metadata.lock);
    return bytes;
}

void strata__metadata_publish(void)
{
    strata__lock_take(&metadata.lock);
    publish();
    strata__lock_drop(&metadata.lock);
}

void strata__metadata_lock(void)
{
    strata__lock_take(&metadata.lock);
}

void strata__metadata_unlock(void)
{
    strata__lock_drop(&metadata.lock);
}

void strata__metadata_reset_lock(void)
{
    strata__lock_reset(&metadata.lock);
}
