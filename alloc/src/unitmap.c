/*
 * The address map's root and its leaves. A leaf covers 4 GiB of address space and is
 * mapped when the first memory in there is; the kernel gives it pages as they are used:
 * 4 KiB of entries for each 32 MiB. Leaves stay for ever, so a reader without a lock
 * never sees one go. Root and first leaf take 0.9 MiB of address space, which counts where
 * that is limited (ulimit -v); leaves of 32 GiB would take 5 MiB.
 *
 * User space on x86-64 has 47 bits of addresses, on aarch64 up to 48, unless a program asks for
 * more by a hint (Documentation/arch/x86/x86_64/5level-paging.rst, arch/arm64/memory.rst), which
 * nobody does here.
 */
#include "unitmap.h"

#include <errno.h>

#include "os.h"
#include "pagesize.h"
#include "region.h"

struct strata__leaf *strata__unitmap_root[STRATA__ROOT_ENTRIES];

static struct strata__leaf *leaf_of(const void *address)
{
    struct strata__leaf **slot =
        &strata__unitmap_root[(uintptr_t)address >> STRATA__ROOT_SHIFT];
    return __atomic_load_n(slot, __ATOMIC_ACQUIRE);
}

/* Two threads may both map a leaf; the second gives its own back. */
static int cover_one(size_t root_index)
{
    struct strata__leaf **slot = &strata__unitmap_root[root_index];
    if (__atomic_load_n(slot, __ATOMIC_ACQUIRE) != NULL) {
        return 0;
    }
    struct strata__leaf *leaf = strata__os->map(sizeof(*leaf), STRATA__PAGE_BYTES);
    if (leaf == NULL) {
        return -ENOMEM;
    }
    struct strata__leaf *nobody = NULL;
    if (!__atomic_compare_exchange_n(
            slot, &nobody, leaf, 0, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        strata__os->unmap(leaf, sizeof(*leaf));
    } else {
        strata__region_add_place(leaf, sizeof(*leaf), STRATA_PLACE_MAP);
    }
    return 0;
}

int strata__unitmap_cover(const void *start, size_t bytes)
{
    uintptr_t last = (uintptr_t)start + bytes - 1;
    if (last >> STRATA__ADDRESS_BITS != 0) {
        return -ENOMEM;
    }
    for (size_t i = (uintptr_t)start >> STRATA__ROOT_SHIFT;
         i <= last >> STRATA__ROOT_SHIFT; i++) {
        int failed = cover_one(i);
        if (failed != 0) {
            return failed;
        }
    }
    return 0;
}

void strata__unitmap_set(const void *address, uint64_t entry)
{
    struct strata__leaf *leaf = leaf_of(address);
    STRATA__BUG_IF(leaf == NULL);
    __atomic_store_n(
        &leaf->entries[strata__leaf_index(address)], entry, __ATOMIC_RELEASE);
}

uint16_t *strata__unitmap_touched(const void *address)
{
    struct strata__leaf *leaf = leaf_of(address);
    STRATA__BUG_IF(leaf == NULL);
    return &leaf->touched[strata__leaf_index(address)];
}

size_t strata__unitmap_touched_pages(const char *start, size_t units)
{
    size_t pages = 0;
    for (size_t i = 0; i < units; i++) {
        pages += (size_t)__builtin_popcount(
            *strata__unitmap_touched(start + i * STRATA__UNIT_BYTES));
    }
    return pages;
}

int strata__unitmap_any_touched(const char *start, size_t units)
{
    for (size_t i = 0; i < units; i++) {
        if (*strata__unitmap_touched(start + i * STRATA__UNIT_BYTES) != 0) {
            return 1;
        }
    }
    return 0;
}
