/*
 * The region and the directory live in static memory. To be shared, the region's pages are
 * replaced by a segment of System V shared memory (shmat(2) with SHM_REMAP), which alone
 * has all of: found by strangers, readable by mode instead of by the right to trace, no
 * descriptor in the process, and nothing left behind by kill -9, since it is marked for
 * removal at once and goes with its last user (ipc/shm.c, shm_close; an attach by id
 * works until then). docs/decisions/006-statistics-region.md weighs the others.
 *
 * A child must not go on with the parent's segment. fork's handlers renew it; a child which
 * no handler ran in (_Fork, clone) notices by MADV_WIPEONFORK (mm/madvise.c; kernel 4.14).
 * Where the kernel does not know that, the region stays private.
 *
 * Only the directory has a lock; each group of the region is written under its owner's.
 */
#include "region.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "lock.h"

#define NS_PER_SECOND UINT64_C(1000000000)
#define MODE_OWNER 0600
#define MODE_ALL 0644
#define MODE_READ 0444
#define BITS_PER_BYTE 8

_Static_assert(
    offsetof(struct strata__shared, region) % STRATA__PAGE_BYTES == 0, "whole pages");
_Static_assert(offsetof(struct strata__shared, directory) -
                       offsetof(struct strata__shared, region) ==
                   STRATA_DIRECTORY_OFFSET,
    "where readers look");
_Static_assert(offsetof(struct strata_region, classes) % 64 == 0, "cache lines");
_Static_assert(offsetof(struct strata_region, cpus) % 128 == 0, "a CPU's own lines");

struct strata__shared strata__shared __attribute__((aligned(STRATA__PAGE_BYTES)));

static struct {
    int open;
    enum strata__region_mode mode;
    size_t bytes; /* of the segment */
    uint64_t generation;
} region;

static struct strata__lock places_lock;

static uint64_t boot_ns(void)
{
    struct timespec now = {0};
    (void)clock_gettime(CLOCK_BOOTTIME, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

/* CPUs that this kernel can ever have, rounded up: the size of its sets of CPUs, which
 * the raw call returns (sched_getaffinity(2)). */
static unsigned possible_cpus(void)
{
    unsigned long set[STRATA_LAYOUT_CPUS / (BITS_PER_BYTE * sizeof(unsigned long))];
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(set), set);
    return bytes > 0 ? (unsigned)bytes * BITS_PER_BYTE : STRATA_LAYOUT_CPUS;
}

static int attach(void)
{
    int mode = region.mode == STRATA__REGION_ALL ? MODE_ALL : MODE_OWNER;
    int flags = IPC_CREAT | IPC_EXCL | SHM_NORESERVE | mode;
    key_t key =
        (key_t)(STRATA_LAYOUT_KEY | ((uint32_t)getpid() & ~STRATA_LAYOUT_KEY_MASK));
    int id = shmget(key, region.bytes, flags);
    if (id < 0 && errno == EEXIST) {
        id = shmget(IPC_PRIVATE, region.bytes, flags);
    }
    if (id < 0) {
        return -errno;
    }
    int failed = shmat(id, &strata__shared.region, SHM_REMAP) == (void *)-1 ? -errno : 0;
    /* Ours is the one mapping that writes; who of our user wants to must now set the mode. */
    struct shmid_ds readable = {.shm_perm = {
                                    .uid = geteuid(),
                                    .gid = getegid(),
                                    .mode = (unsigned short)(mode & MODE_READ),
                                }};
    (void)shmctl(id, IPC_SET, &readable);
    (void)shmctl(id, IPC_RMID, NULL);
    return failed;
}

static void fill(void)
{
    struct strata_region *shown = &strata__shared.region;
    shown->version = STRATA_LAYOUT_VERSION;
    shown->bytes = (uint32_t)region.bytes;
    shown->cpu_count = (uint32_t)((region.bytes - offsetof(struct strata_region, cpus)) /
                                  sizeof(struct strata_layout_cpu));
    shown->process_id = getpid();
    shown->page_bytes = STRATA__PAGE_BYTES;
    shown->started_boot_ns = boot_ns();
    shown->generation = region.generation;
    memcpy(shown->magic, STRATA_LAYOUT_MAGIC, sizeof(STRATA_LAYOUT_MAGIC));
}

void strata__region_start(enum strata__region_mode mode)
{
    size_t rows = possible_cpus();
    rows = rows < STRATA__CPUS_MAX ? rows : STRATA__CPUS_MAX;
    region.bytes = strata__page_round_up(
        offsetof(struct strata_region, cpus) + rows * sizeof(struct strata_layout_cpu));
    region.mode = mode;
    if (mode != STRATA__REGION_PRIVATE &&
        (madvise(&strata__shared, offsetof(struct strata__shared, region),
             MADV_WIPEONFORK) != 0 ||
            attach() != 0)) {
        region.mode = STRATA__REGION_PRIVATE;
    }
    memcpy(strata__shared.directory.magic, STRATA_DIRECTORY_MAGIC,
        sizeof(STRATA_DIRECTORY_MAGIC));
    fill();
    strata__shared.alive = &strata__shared;
    __atomic_store_n(&region.open, 1, __ATOMIC_RELEASE);
}

static int map_private(void)
{
    void *mapped = mmap(&strata__shared.region, region.bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
    return mapped == MAP_FAILED ? -errno : 0;
}

void strata__region_leave(void)
{
    if (strata__region_is_orphaned()) {
        (void)map_private();
    }
}

int strata__region_renew(void)
{
    /* Whoever held it is not here, and an entry counts only when it is complete. */
    strata__lock_reset(&places_lock);
    if (!region.open) {
        return 0;
    }
    region.generation++;
    if (region.mode == STRATA__REGION_PRIVATE || attach() == 0) {
        fill();
    } else {
        /* As many pages of our own, for good. */
        int failed = map_private();
        if (failed != 0) {
            region.open = 0;
            return failed;
        }
        region.mode = STRATA__REGION_PRIVATE;
        fill();
    }
    strata__shared.alive = &strata__shared;
    return 0;
}

static int is_alive(void)
{
    return __atomic_load_n(&strata__shared.alive, __ATOMIC_RELAXED) != NULL;
}

int strata__region_is_open(void)
{
    return __atomic_load_n(&region.open, __ATOMIC_ACQUIRE) && is_alive();
}

int strata__region_is_orphaned(void)
{
    return __atomic_load_n(&region.open, __ATOMIC_ACQUIRE) && !is_alive();
}

void strata__region_count_trim(void)
{
    if (strata__region_is_open()) {
        __atomic_fetch_add(&strata__shared.region.trims, 1, __ATOMIC_RELAXED);
    }
}

void strata__region_count_reset(void)
{
    if (strata__region_is_open()) {
        __atomic_fetch_add(&strata__shared.region.peak_resets, 1, __ATOMIC_RELAXED);
    }
}

void strata__region_add_place(
    const void *address, size_t bytes, enum strata_place_kind kind)
{
    struct strata_directory *directory = &strata__shared.directory;
    strata__lock_take(&places_lock);
    uint32_t count = directory->place_count;
    if (count < STRATA_DIRECTORY_PLACES) {
        directory->places[count] = (struct strata_place){
            (uint64_t)(uintptr_t)address, strata__page_round_up(bytes) | (uint64_t)kind};
        __atomic_store_n(&directory->place_count, count + 1, __ATOMIC_RELEASE);
    } else {
        directory->places_lost++;
    }
    strata__lock_drop(&places_lock);
}

unsigned strata__region_huge_take(void)
{
    struct strata_directory *directory = &strata__shared.directory;
    for (unsigned i = 0; i < directory->huge_count; i++) {
        if (directory->huge[i].bytes_and_kind == 0) {
            return i + 1;
        }
    }
    if (directory->huge_count == STRATA_DIRECTORY_HUGE) {
        return 0;
    }
    directory->huge_count++;
    return directory->huge_count;
}

void strata__region_huge_set(unsigned slot, const void *address, size_t bytes)
{
    if (slot > 0) {
        strata__shared.directory.huge[slot - 1] = (struct strata_place){
            (uint64_t)(uintptr_t)address, bytes | STRATA_PLACE_HUGE};
    }
}

void strata__region_huge_drop(unsigned slot)
{
    if (slot > 0) {
        strata__shared.directory.huge[slot - 1] = (struct strata_place){0};
    }
}
