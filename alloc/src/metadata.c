/*
 * Descriptors come in multiples of 64 bytes, so that no two share a cache line, and one
 * free list for each multiple. They are cut off mappings of 256 KiB from the low end and
 * never go back to the system: 1.7 % of the user's bytes in the worst case (blocks of 8
 * bytes). The first few come from static memory, so that a small program needs no mapping.
 *
 * One lock, taken last: nothing is called under it but map and the limit.
 */
#include "metadata.h"

#include <stdint.h>

#include "limit.h"
#include "lock.h"
#include "os.h"
#include "region.h"

#define GRAIN STRATA__METADATA_LEAST
#define GRAINS (STRATA__METADATA_MAX / GRAIN)
#define MAPPING_BYTES ((size_t)256 << 10)
#define PAGE_BYTES ((size_t)4096)
#define STATIC_BYTES (2 * PAGE_BYTES)

struct kept {
    struct kept *next;
};

static char static_memory[STATIC_BYTES] __attribute__((aligned(64)));

static struct {
    struct strata__lock lock;
    struct kept *kept[GRAINS + 1]; /* by grains */
    char *next;                    /* the rest of the last mapping */
    size_t left_bytes;
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
    char *mapping = strata__os->map(MAPPING_BYTES, PAGE_BYTES);
    if (mapping == NULL) {
        return 0;
    }
    strata__region_add_place(mapping, MAPPING_BYTES, STRATA_PLACE_DESCRIPTOR);
    metadata.next = mapping;
    metadata.left_bytes = MAPPING_BYTES;
    return 1;
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
