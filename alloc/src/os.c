/*
 * What the library asks of Linux: mmap, munmap, mprotect, madvise, mremap, getrandom,
 * write, abort. It owns no state but the pointer to the operations in use, which only
 * tests change (before they make a heap).
 *
 * Chunks are mapped the way Zend MM does it (zend_mm_chunk_alloc_int): a plain mapping
 * first, and only if the kernel placed it badly a larger one whose ends are cut off. The
 * kernel places mappings top down, so the same calls leave the same gaps, and whether a
 * huge block can grow in place (which the real peak shows) comes out the same.
 *
 * What munmap refuses is kept and handed out again (kept.c).
 *
 * MADV_DONTNEED on private anonymous memory frees the pages at once, and the next touch
 * reads zeroes (madvise(2); mm/madvise.c, madvise_dontneed_single_vma).
 */
#include "os.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <time.h>
#include <unistd.h>

#include "kept.h"
#include "sizeclass.h"

#define MESSAGE_MAX 256
#define HEX_DIGITS 16

static void *map_anywhere(size_t bytes, int protection, int flags)
{
    void *address =
        mmap(NULL, bytes, protection, MAP_PRIVATE | MAP_ANONYMOUS | flags, -1, 0);
    return address == MAP_FAILED ? NULL : address;
}

static void os_unmap(void *address, size_t bytes)
{
    int saved = errno;
    if (munmap(address, bytes) != 0) {
        STRATA__BUG_IF(errno != ENOMEM);
        strata__kept_add(address, bytes);
    }
    errno = saved;
}

/* Maps more than asked and cuts the ends off. */
static void *map_and_cut(size_t bytes, size_t alignment, int protection, int flags)
{
    size_t slack = alignment - STRATA__PAGE_BYTES;
    if (bytes > SIZE_MAX - slack) {
        return NULL;
    }
    char *start = map_anywhere(bytes + slack, protection, flags);
    if (start == NULL) {
        return NULL;
    }
    size_t before = (size_t)(-(uintptr_t)start) & (alignment - 1);
    if (before > 0) {
        os_unmap(start, before);
    }
    if (slack > before) {
        os_unmap(start + before + bytes, slack - before);
    }
    return start + before;
}

static void *map_aligned(size_t bytes, size_t alignment, int protection, int flags)
{
    void *address = map_anywhere(bytes, protection, flags);
    if (address == NULL || ((uintptr_t)address & (alignment - 1)) == 0) {
        return address;
    }
    os_unmap(address, bytes);
    return map_and_cut(bytes, alignment, protection, flags);
}

static void *os_map(size_t bytes, size_t alignment)
{
    void *kept = strata__kept_take(bytes, alignment);
    return kept != NULL ? kept : map_aligned(bytes, alignment, PROT_READ | PROT_WRITE, 0);
}

static void *os_reserve(size_t bytes)
{
    return map_aligned(bytes, STRATA__CHUNK_BYTES, PROT_NONE, MAP_NORESERVE);
}

static int os_commit(void *address, size_t bytes)
{
    return mprotect(address, bytes, PROT_READ | PROT_WRITE) == 0 ? 0 : -errno;
}

static int os_purge(void *address, size_t bytes)
{
    return madvise(address, bytes, MADV_DONTNEED) == 0 ? 0 : -errno;
}

static int os_extend(void *address, size_t old_bytes, size_t new_bytes)
{
    return mremap(address, old_bytes, new_bytes, 0) == MAP_FAILED ? -errno : 0;
}

/* Without getrandom (early boot, a strict seccomp filter) the clock and the address
 * layout have to do: the secret guards against accidents first of all. */
static uint64_t os_secret(void)
{
    uint64_t secret = 0;
    if (getrandom(&secret, sizeof(secret), GRND_NONBLOCK) != (ssize_t)sizeof(secret)) {
        struct timespec now = {0};
        clock_gettime(CLOCK_MONOTONIC, &now);
        secret = (uint64_t)now.tv_nsec * UINT64_C(0x9E3779B97F4A7C15) ^
                 (uint64_t)(uintptr_t)&secret << 20;
    }
    return secret;
}

const struct strata__os_ops strata__os_linux = {
    .map = os_map,
    .reserve = os_reserve,
    .unmap = os_unmap,
    .commit = os_commit,
    .purge = os_purge,
    .extend = os_extend,
    .secret = os_secret,
};

const struct strata__os_ops *strata__os = &strata__os_linux;

static size_t append(char *message, size_t length, const char *text)
{
    while (*text != '\0' && length < MESSAGE_MAX - 1) {
        message[length++] = *text++;
    }
    return length;
}

void strata__fatal(const char *heap_name, const char *what, const void *address)
{
    char message[MESSAGE_MAX];
    char hex[HEX_DIGITS + 1] = {0};
    for (int i = 0; i < HEX_DIGITS; i++) {
        hex[i] =
            "0123456789abcdef"[(uintptr_t)address >> (4 * (HEX_DIGITS - 1 - i)) & 15];
    }
    size_t length = append(message, 0, "strata: heap '");
    length = append(message, length, heap_name);
    length = append(message, length, "': ");
    length = append(message, length, what);
    length = append(message, length, ", address 0x");
    length = append(message, length, hex);
    length = append(message, length, "\n");
    ssize_t written = write(STDERR_FILENO, message, length);
    (void)written; /* there is nothing left to do about it */
    abort();
}
