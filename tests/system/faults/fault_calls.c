/*
 * fault_calls.c - a library for LD_PRELOAD that lets one call of one kind fail.
 *
 *   FAULT_CALL=read FAULT_NTH=7 FAULT_ERRNO=5 FAULT_REPORT=FILE LD_PRELOAD=... PROGRAM
 *
 * FAULT_REPORT gets "CALLS FAILED LIVE": how often that kind was called, how many calls
 * failed (0 or 1), and how many blocks of malloc were not freed when the program ended.
 * Calls are numbered from 1, by all threads together. Children inherit nothing but the
 * variables, and count by themselves; the last to end has the report.
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>

/* glibc's own malloc under its other names; dlsym would call malloc to find it. */
extern void *libc_malloc(size_t bytes) __asm__("__libc_malloc");
extern void *libc_calloc(size_t count, size_t bytes) __asm__("__libc_calloc");
extern void *libc_realloc(void *block, size_t bytes) __asm__("__libc_realloc");
extern void libc_free(void *block) __asm__("__libc_free");

static const char *chosen;
static unsigned long nth;
static int error_number;
static atomic_ulong calls;
static atomic_ulong failed;
static atomic_long live;
static atomic_bool ready;

/* True when this call of that kind is the one to fail; errno is set. */
static bool fails(const char *kind)
{
    if (!ready || strcmp(kind, chosen) != 0 || atomic_fetch_add(&calls, 1) + 1 != nth) {
        return false;
    }
    atomic_fetch_add(&failed, 1);
    errno = error_number;
    return true;
}

__attribute__((constructor)) static void start(void)
{
    const char *call = getenv("FAULT_CALL");
    const char *number = getenv("FAULT_NTH");
    const char *code = getenv("FAULT_ERRNO");

    if (call != NULL && number != NULL && code != NULL) {
        chosen = call;
        nth = strtoul(number, NULL, 10);
        error_number = (int)strtol(code, NULL, 10);
        ready = true;
    }
}

__attribute__((destructor)) static void report(void)
{
    const char *path = getenv("FAULT_REPORT");
    char text[96];

    ready = false;
    if (path == NULL) {
        return;
    }
    int length = snprintf(text, sizeof(text), "%lu %lu %ld\n", (unsigned long)calls,
        (unsigned long)failed, (long)live);
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (fd >= 0) {
        if (write(fd, text, (size_t)length) != length) {
            (void)unlink(path);
        }
        close(fd);
    }
}

/* The next definition of a function; looked up each time, since that is slow and simple. */
#define CALL_NEXT(name, ...)                                                             \
    ({                                                                                   \
        void *symbol_ = dlsym(RTLD_NEXT, #name);                                         \
        __typeof__(&name) function_;                                                     \
        memcpy(&function_, &symbol_, sizeof(function_));                                 \
        function_(__VA_ARGS__);                                                          \
    })

/* The C library gives its parameters reserved names.
 * NOLINTBEGIN(readability-inconsistent-declaration-parameter-name) */

/* ---- memory */

static void *counted(void *block)
{
    if (block != NULL) {
        atomic_fetch_add(&live, 1);
    }
    return block;
}

void *malloc(size_t bytes)
{
    return fails("malloc") ? NULL : counted(libc_malloc(bytes));
}

void *calloc(size_t count, size_t bytes)
{
    return fails("malloc") ? NULL : counted(libc_calloc(count, bytes));
}

void *realloc(void *block, size_t bytes)
{
    if (fails("malloc")) {
        return NULL;
    }
    void *moved = libc_realloc(block, bytes);
    return block == NULL ? counted(moved) : moved;
}

void *reallocarray(void *block, size_t count, size_t bytes)
{
    size_t all;

    if (__builtin_mul_overflow(count, bytes, &all)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, all);
}

void free(void *block)
{
    if (block != NULL) {
        atomic_fetch_sub(&live, 1);
    }
    libc_free(block);
}

void *mmap(void *address, size_t bytes, int protection, int flags, int fd, off_t offset)
{
    return fails("mmap") ? MAP_FAILED
                         : CALL_NEXT(mmap, address, bytes, protection, flags, fd, offset);
}

/* ---- files */

static mode_t mode_of(int flags, va_list *arguments)
{
    return (flags & (O_CREAT | O_TMPFILE)) != 0 ? (mode_t)va_arg(*arguments, int) : 0;
}

int open(const char *path, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    mode_t mode = mode_of(flags, &arguments);
    va_end(arguments);
    return fails("open") ? -1 : CALL_NEXT(open, path, flags, mode);
}

int openat(int folder, const char *path, int flags, ...)
{
    va_list arguments;

    va_start(arguments, flags);
    mode_t mode = mode_of(flags, &arguments);
    va_end(arguments);
    return fails("open") ? -1 : CALL_NEXT(openat, folder, path, flags, mode);
}

FILE *fopen(const char *path, const char *mode)
{
    return fails("open") ? NULL : CALL_NEXT(fopen, path, mode);
}

ssize_t read(int fd, void *data, size_t bytes)
{
    return fails("read") ? -1 : CALL_NEXT(read, fd, data, bytes);
}

ssize_t pread(int fd, void *data, size_t bytes, off_t offset)
{
    return fails("read") ? -1 : CALL_NEXT(pread, fd, data, bytes, offset);
}

ssize_t process_vm_readv(pid_t pid, const struct iovec *local, unsigned long local_count,
    const struct iovec *remote, unsigned long remote_count, unsigned long flags)
{
    return fails("vm") ? -1
                       : CALL_NEXT(process_vm_readv, pid, local, local_count, remote,
                             remote_count, flags);
}

ssize_t write(int fd, const void *data, size_t bytes)
{
    return fails("write") ? -1 : CALL_NEXT(write, fd, data, bytes);
}

DIR *fdopendir(int fd)
{
    return fails("folder") ? NULL : CALL_NEXT(fdopendir, fd);
}

DIR *opendir(const char *path)
{
    return fails("folder") ? NULL : CALL_NEXT(opendir, path);
}

struct dirent *readdir(DIR *folder)
{
    return fails("folder") ? NULL : CALL_NEXT(readdir, folder);
}

int fstat(int fd, struct stat *status)
{
    return fails("stat") ? -1 : CALL_NEXT(fstat, fd, status);
}

ssize_t readlinkat(int folder, const char *path, char *text, size_t bytes)
{
    return fails("link") ? -1 : CALL_NEXT(readlinkat, folder, path, text, bytes);
}

/* NOLINTEND(readability-inconsistent-declaration-parameter-name) */
