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
 * process_folder_check() afterwards guards them. Both may copy less than asked when the range
 * is partly unmapped, without an error: the count is compared.
 */
#include "facts/memory_process.h"

#include <errno.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

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

/*
 * Every page of the range is of a file or mapped by this process alone. A caller looks at
 * pages before it reads them, and what it was told a moment ago is not asked again.
 */
static bool is_unshared(struct memory_process *process, uint64_t address, size_t bytes)
{
    const uint64_t page = process->memory.page_bytes;
    const uint64_t end = address + bytes;
    uint8_t bits[BATCH_PAGES];

    if (address >= process->look_start &&
        end <= process->look_start + process->look_count * page) {
        const uint64_t first = (address - process->look_start) / page;
        const uint64_t last = (end - 1 - process->look_start) / page;
        return are_unshared(process->look + first, (size_t)(last - first + 1));
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

static int read_pages(
    struct memory *memory, uint64_t address, size_t count, uint8_t *bits)
{
    struct memory_process *process = (struct memory_process *)(void *)memory;
    const uint64_t before = process->pagemap.bytes_read;
    int rc = pagemap_bits(&process->pagemap, address, count, bits);

    memory->bytes_read += process->pagemap.bytes_read - before;
    process->look_count = 0;
    if (rc == 0 && count <= MEMORY_LOOK_PAGES) {
        process->look_start = address;
        process->look_count = count;
        memcpy(process->look, bits, count);
    }
    return rc;
}

static bool next_populated(struct memory *memory, uint64_t address, uint64_t end,
    uint64_t *start, uint64_t *stop)
{
    struct memory_process *process = (struct memory_process *)(void *)memory;

    return pagemap_next_populated(&process->pagemap, address, end, start, stop);
}

static const struct memory_operations process_operations = {
    .read = read_memory, .pages = read_pages, .next_populated = next_populated};

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

void memory_process_close(struct memory_process *process)
{
    pagemap_close(&process->pagemap);
    if (process->mem_fd >= 0) {
        close(process->mem_fd);
        process->mem_fd = -1;
    }
}
