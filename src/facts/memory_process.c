/*
 * memory_process.c - reads another process's memory without stopping it.
 *
 * Two ways with the same rights (ptrace_may_access() with PTRACE_MODE_ATTACH):
 * /proc/PID/mem is bound to the address space that was there when it was opened, so neither
 * a reused pid nor an execve can slip in, and small reads cost less (1.1 us against 1.4 us);
 * process_vm_readv(2) needs no copy through a kernel page, so large reads are a third faster
 * (measured on Linux 6.18). But since 5.19 the call gives the target its own copy of each
 * anonymous page that it shares with its parent or siblings: process_vm_rw() pins pages
 * (FOLL_PIN), and a pinned anonymous page must be exclusive (gup_must_unshare(), mm/gup.c). A
 * pool of 20 forked workers grew from 23 to 61 MiB by being looked at. /proc/PID/mem does not
 * pin. So the call is for large reads of pages that nobody else maps, and the caller's
 * process_folder_check() afterwards guards them. Where smaps has just told that no page of a
 * mapping is shared, one page in a block is asked for all: only a fork could have changed that,
 * and it shares all pages at once. Both may copy less than asked when the range
 * is partly unmapped, without an error: the count is compared.
 */
#include "facts/memory_process.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "facts/smaps.h"

enum { LARGE_READ_BYTES = 32 << 10, BATCH_PAGES = 256 };

static int read_by_call(
    struct memory_process *process, uint64_t address, void *data, size_t bytes)
{
    struct iovec local = {.iov_base = data, .iov_len = bytes};
    struct iovec remote = {
        .iov_base = (void *)(uintptr_t)address, /* NOLINT(performance-no-int-to-ptr) */
        .iov_len = bytes};
    ssize_t got = process_vm_readv(process->pid, &local, 1, &remote, 1, 0);

    if (got < 0) {
        return -errno;
    }
    return (size_t)got == bytes ? 0 : -EFAULT;
}

static int read_by_file(
    struct memory_process *process, uint64_t address, char *data, size_t bytes)
{
    if (address > INT64_MAX - bytes) {
        return -EFAULT; /* an off_t cannot reach the vsyscall page, nor need we */
    }
    while (bytes > 0) {
        ssize_t got = pread(process->mem_fd, data, bytes, (off_t)address);
        if (got < 0 && errno == EINTR) {
            continue;
        }
        if (got < 0) {
            return errno == EIO ? -EFAULT : -errno;
        }
        if (got == 0) {
            return -ESRCH; /* the address space is gone: ended, or another program */
        }
        data += got;
        address += (uint64_t)got;
        bytes -= (size_t)got;
    }
    return 0;
}

static bool are_unshared(const uint8_t *bits, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        if ((bits[i] & (PAGE_FILE | PAGE_EXCLUSIVE)) == 0) {
            return false;
        }
    }
    return true;
}

/* smaps told all of the range, and that nobody else mapped any of it. */
static bool was_private(
    const struct memory_process *process, uint64_t address, uint64_t end)
{
    size_t low = 0, high = process->mapping_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (process->mappings[middle].end <= address) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < process->mapping_count && process->mappings[low].start <= address &&
           process->mappings[low].end >= end && smaps_is_private(&process->mappings[low]);
}

/* One page speaks for a block of them: a fork shares all at once. */
static bool is_still_private(struct memory_process *process, uint64_t address)
{
    const uint64_t page = process->memory.page_bytes;
    const uint64_t block = address / page / PAGE_LOOKS_BLOCK_PAGES;
    const uint64_t now_ns = page_looks_now();
    uint8_t bits;

    if (block != process->private_block ||
        !page_looks_is_fresh(process->private_ns, now_ns)) {
        if (pagemap_bits(&process->pagemap, address / page * page, 1, &bits) != 0 ||
            !are_unshared(&bits, 1)) {
            return false;
        }
        process->private_block = block;
        process->private_ns = now_ns;
    }
    return true;
}

/* Every page of the range is of a file or mapped by this process alone. */
static bool is_unshared(struct memory_process *process, uint64_t address, size_t bytes)
{
    const uint64_t page = process->memory.page_bytes;
    const uint64_t end = address + bytes;
    uint8_t bits[BATCH_PAGES];

    if (was_private(process, address, end)) {
        if (is_still_private(process, address)) {
            return true;
        }
        process->mapping_count = 0; /* it has forked since, or the page went away */
    }
    for (uint64_t at = address / page * page; at < end;) {
        const uint64_t left = (end - at + page - 1) / page;
        const size_t count = left < BATCH_PAGES ? (size_t)left : BATCH_PAGES;
        if (pagemap_bits(&process->pagemap, at, count, bits) != 0) {
            return false;
        }
        if (!are_unshared(bits, count)) {
            return false;
        }
        at += count * page;
    }
    return true;
}

static int read_memory(struct memory *memory, uint64_t address, void *data, size_t bytes)
{
    struct memory_process *process = (struct memory_process *)(void *)memory;

    if (process->use_readv && bytes >= LARGE_READ_BYTES &&
        is_unshared(process, address, bytes)) {
        int rc = read_by_call(process, address, data, bytes);
        if (rc != -ENOSYS && rc != -EPERM) {
            return rc;
        }
        process->use_readv = false; /* a seccomp filter, perhaps; the file still works */
    }
    return read_by_file(process, address, data, bytes);
}

/* The call stops at the first place that is not mapped; the others are read behind it. */
static int read_scattered_by_call(struct memory_process *process,
    const uint64_t *addresses, size_t count, size_t bytes, void *data, bool *was_read)
{
    struct iovec remote[MEMORY_SCATTERED];

    for (size_t i = 0; i < count; i++) {
        remote[i] = (struct iovec){
            .iov_base =
                (void *)(uintptr_t)addresses[i], /* NOLINT(performance-no-int-to-ptr) */
            .iov_len = bytes};
    }
    for (size_t done = 0; done < count;) {
        struct iovec local = {
            .iov_base = (char *)data + done * bytes, .iov_len = (count - done) * bytes};
        ssize_t got =
            process_vm_readv(process->pid, &local, 1, remote + done, count - done, 0);
        if (got < 0 && errno != EFAULT) {
            return -errno;
        }
        for (size_t whole = got < 0 ? 0 : (size_t)got / bytes; whole > 0; whole--) {
            was_read[done++] = true;
        }
        if (done < count) {
            was_read[done++] = false;
        }
    }
    return 0;
}

static int read_scattered(struct memory *memory, const uint64_t *addresses, size_t count,
    size_t bytes, uint8_t *data, bool *was_read)
{
    struct memory_process *process = (struct memory_process *)(void *)memory;
    bool by_call = process->use_readv;

    for (size_t i = 0; by_call && i < count; i++) {
        by_call = was_private(process, addresses[i], addresses[i] + bytes);
    }
    if (by_call && is_still_private(process, addresses[0])) {
        int rc = read_scattered_by_call(process, addresses, count, bytes, data, was_read);
        if (rc != -ENOSYS && rc != -EPERM) {
            return rc;
        }
        process->use_readv = false;
    }
    for (size_t i = 0; i < count; i++) {
        int rc = read_by_file(process, addresses[i], (char *)data + i * bytes, bytes);
        if (rc != 0 && rc != -EFAULT) {
            return rc;
        }
        was_read[i] = rc == 0;
    }
    return 0;
}

static int read_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    struct memory_process *process = (struct memory_process *)(void *)memory;
    const uint64_t before = process->pagemap.bytes_read;
    int rc = pagemap_bits(&process->pagemap, address, count, bits);

    memory->bytes_read += process->pagemap.bytes_read - before;
    return rc;
}

static int find_present(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    struct memory_process *process = (struct memory_process *)(void *)memory;
    const uint64_t before = process->pagemap.bytes_read;
    int rc = page_looks_find(&process->looks, &process->pagemap, address, count, bits);

    memory->bytes_read += process->pagemap.bytes_read - before;
    return rc;
}

static bool next_populated(struct memory *memory, uint64_t address, uint64_t end,
    uint64_t *start, uint64_t *stop)
{
    struct memory_process *process = (struct memory_process *)(void *)memory;

    return pagemap_next_populated(&process->pagemap, address, end, start, stop);
}

static const struct memory_operations process_operations = {.read = read_memory,
    .pages = read_pages,
    .present = find_present,
    .read_scattered = read_scattered,
    .next_populated = next_populated};

int memory_process_open(struct memory_process *process, struct process_folder *folder)
{
    *process = (struct memory_process){
        .memory.operations = &process_operations, .pid = folder->thread, .mem_fd = -1};
    int rc = pagemap_open(&process->pagemap, folder);
    if (rc != 0) {
        return rc;
    }
    process->memory.page_bytes = process->pagemap.page_bytes;
    /* In another pid namespace the call would read another process. */
    process->use_readv = folder->root->pids_are_ours;
    int fd = process_folder_open_file(folder, "mem");
    if (fd < 0) {
        pagemap_close(&process->pagemap);
        return fd;
    }
    process->mem_fd = fd;
    return 0;
}

void memory_process_know(
    struct memory_process *process, const struct process_facts *facts)
{
    process->mappings = facts->mappings;
    process->mapping_count = facts->mappings_have_values ? facts->mapping_count : 0;
}

void memory_process_close(struct memory_process *process)
{
    pagemap_close(&process->pagemap);
    if (process->mem_fd >= 0) {
        close(process->mem_fd);
        process->mem_fd = -1;
    }
}
