/*
 * A recorder for LD_PRELOAD: what a program asks of glibc's malloc, as a trace.
 *
 * STRATA_RECORD=PREFIX: each process of the program writes PREFIX.PID (a child of fork
 * writes nothing). One lock is held over each call, so the order of the records is the
 * order of the calls: the recorder is for real programs under real load, not for speed.
 * The file is a shared mapping, so a program that is killed leaves all it did. When the
 * file or the table is full, recording ends there, without a word to the program.
 *
 * It owns the table from addresses to block numbers (open addressing, linear probing) and
 * the stack of free numbers. Both are sparse mappings.
 */
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace_format.h"

#define EXPORT __attribute__((visibility("default")))
#define RECORDS_MAX ((size_t)24 << 20)
#define BLOCKS_MAX ((size_t)4 << 20)
#define SLOTS (BLOCKS_MAX * 2)

extern void *libc_malloc(size_t bytes) __asm__("__libc_malloc");
extern void *libc_calloc(size_t count, size_t bytes) __asm__("__libc_calloc");
extern void *libc_realloc(void *block, size_t bytes) __asm__("__libc_realloc");
extern void *libc_memalign(size_t alignment, size_t bytes) __asm__("__libc_memalign");
extern void libc_free(void *block) __asm__("__libc_free");

struct slot {
    uintptr_t address; /* 0: free */
    uint64_t block;
};

static struct {
    pthread_mutex_t lock;
    struct trace_header *header; /* NULL: not recording */
    struct trace_record *records;
    struct slot *slots;
    uint32_t *free_blocks; /* a stack */
    uint16_t *turns;       /* by block */
    size_t free_count;
} recorder = {.lock = PTHREAD_MUTEX_INITIALIZER};

/* glibc's: the next in the order of search may be jemalloc's, which redis is linked to. */
static size_t (*libc_usable_size)(void *block);

static __thread uint32_t thread_number; /* plus 1; 0: has none yet */

static void *map(size_t bytes, int file)
{
    int flags = file < 0 ? MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE : MAP_SHARED;
    void *start = mmap(NULL, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
    return start == MAP_FAILED ? NULL : start;
}

static void stop_in_child(void)
{
    recorder.header = NULL;
    pthread_mutex_init(&recorder.lock, NULL);
}

static void lock(void)
{
    pthread_mutex_lock(&recorder.lock);
}

static void unlock(void)
{
    pthread_mutex_unlock(&recorder.lock);
}

__attribute__((constructor)) static void start(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW | RTLD_NOLOAD);
    void *usable_size = dlsym(libc, "malloc_usable_size");
    memcpy(&libc_usable_size, &usable_size, sizeof(usable_size));
    char path[4096];
    const char *prefix = getenv("STRATA_RECORD");
    if (prefix == NULL || (size_t)snprintf(path, sizeof(path), "%s.%ld", prefix,
                              (long)getpid()) >= sizeof(path)) {
        return;
    }
    size_t bytes =
        sizeof(struct trace_header) + RECORDS_MAX * sizeof(struct trace_record);
    int file = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0 || ftruncate(file, (off_t)bytes) != 0) {
        return;
    }
    struct trace_header *header = map(bytes, file);
    close(file);
    recorder.slots = map(SLOTS * sizeof(*recorder.slots), -1);
    recorder.free_blocks = map(BLOCKS_MAX * sizeof(*recorder.free_blocks), -1);
    recorder.turns = map(BLOCKS_MAX * sizeof(*recorder.turns), -1);
    if (header == NULL || recorder.slots == NULL || recorder.free_blocks == NULL ||
        recorder.turns == NULL) {
        return;
    }
    *header = (struct trace_header){.magic = TRACE_MAGIC};
    recorder.records = (struct trace_record *)(header + 1);
    pthread_atfork(lock, unlock, stop_in_child);
    recorder.header = header;
}

static size_t home_of(uintptr_t address)
{
    return (size_t)((address >> 4) * UINT64_C(0x9e3779b97f4a7c15) >> 40) % SLOTS;
}

static struct slot *find(uintptr_t address)
{
    size_t at = home_of(address);
    while (recorder.slots[at].address != 0 && recorder.slots[at].address != address) {
        at = (at + 1) % SLOTS;
    }
    return &recorder.slots[at];
}

/* Moves back what was pushed on by the slot that is now free. */
static void forget(struct slot *slot)
{
    size_t hole = (size_t)(slot - recorder.slots);
    for (size_t at = (hole + 1) % SLOTS; recorder.slots[at].address != 0;
         at = (at + 1) % SLOTS) {
        size_t home = home_of(recorder.slots[at].address);
        if ((at + SLOTS - home) % SLOTS >= (at + SLOTS - hole) % SLOTS) {
            recorder.slots[hole] = recorder.slots[at];
            hole = at;
        }
    }
    recorder.slots[hole].address = 0;
}

static void add(uint64_t block, size_t bytes, unsigned operation, size_t alignment)
{
    struct trace_header *header = recorder.header;
    if (thread_number == 0) {
        thread_number = ++header->threads;
    }
    uint32_t thread = thread_number - 1;
    recorder.records[header->records++] = (struct trace_record){.block = (uint32_t)block,
        .bytes = bytes > UINT32_MAX ? UINT32_MAX : (uint32_t)bytes,
        .turn = recorder.turns[block]++,
        .operation = (uint8_t)operation,
        .alignment_bits = (uint8_t)(alignment == 0 ? 0 : __builtin_ctzll(alignment)),
        .thread = thread < TRACE_THREADS_MAX ? thread : TRACE_THREADS_MAX - 1};
    if (header->records == RECORDS_MAX) {
        recorder.header = NULL;
    }
}

static void note_new(void *start, size_t bytes, unsigned operation, size_t alignment)
{
    struct trace_header *header = recorder.header;
    if (header == NULL || start == NULL) {
        return;
    }
    uint64_t block = 0;
    if (recorder.free_count > 0) {
        block = recorder.free_blocks[--recorder.free_count];
    } else if (header->blocks < BLOCKS_MAX) {
        block = header->blocks++;
    } else {
        recorder.header = NULL;
        return;
    }
    *find((uintptr_t)start) = (struct slot){.address = (uintptr_t)start, .block = block};
    add(block, bytes, operation, alignment);
}

/* Blocks from before the constructor are not in the table. */
static void note_free(void *start)
{
    struct slot *slot = recorder.header != NULL ? find((uintptr_t)start) : NULL;
    if (slot != NULL && slot->address != 0) {
        uint64_t block = slot->block;
        forget(slot);
        add(block, 0, TRACE_FREE, 0);
        recorder.free_blocks[recorder.free_count++] = (uint32_t)block;
    }
}

static void note_resize(const void *old, void *start, size_t bytes)
{
    struct slot *slot = recorder.header != NULL ? find((uintptr_t)old) : NULL;
    if (slot != NULL && slot->address != 0 && start != NULL) {
        uint64_t block = slot->block;
        forget(slot);
        *find((uintptr_t)start) =
            (struct slot){.address = (uintptr_t)start, .block = block};
        add(block, bytes, TRACE_RESIZE, 0);
    }
}

/* Names of parameters are ours: NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */
EXPORT void *malloc(size_t bytes)
{
    lock();
    void *block = libc_malloc(bytes);
    note_new(block, bytes, TRACE_ALLOC, 0);
    unlock();
    return block;
}

EXPORT void *calloc(size_t count, size_t bytes)
{
    lock();
    void *block = libc_calloc(count, bytes);
    note_new(block, count * bytes, TRACE_CALLOC, 0);
    unlock();
    return block;
}

EXPORT void free(void *block)
{
    int saved = errno;
    if (block != NULL) {
        lock();
        note_free(block);
        libc_free(block);
        unlock();
    }
    errno = saved;
}

EXPORT void *realloc(void *block, size_t bytes)
{
    if (block == NULL) {
        return malloc(bytes);
    }
    if (bytes == 0) {
        free(block);
        return NULL;
    }
    lock();
    void *moved = libc_realloc(block, bytes);
    note_resize(block, moved, bytes);
    unlock();
    return moved;
}

EXPORT void *memalign(size_t alignment, size_t bytes)
{
    lock();
    void *block = libc_memalign(alignment, bytes);
    note_new(block, bytes, TRACE_ALLOC, alignment);
    unlock();
    return block;
}

EXPORT void *aligned_alloc(size_t alignment, size_t bytes)
{
    return memalign(alignment, bytes);
}

EXPORT int posix_memalign(void **block, size_t alignment, size_t bytes)
{
    int saved = errno;
    void *got = memalign(alignment, bytes);
    errno = saved;
    *block = got != NULL ? got : *block;
    return got != NULL ? 0 : ENOMEM;
}

EXPORT size_t malloc_usable_size(void *block)
{
    return block == NULL ? 0 : libc_usable_size(block);
}
/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
