/*
 * The operating system as a struct of operations, and the one fatal function. Nothing
 * above this file makes a system call. Tests replace strata__os to count the calls and
 * to fail the nth.
 */
#ifndef STRATA_OS_H
#define STRATA_OS_H

#include <stddef.h>
#include <stdint.h>

/* Operations return 0 or -errno, map and reserve an address or NULL. All sizes and
 * addresses are multiples of the page size, except that map's alignment is any power of
 * two from the page size on. */
struct strata__os_ops {
    /* Readable, writable, zeroed memory. */
    void *(*map)(size_t bytes, size_t alignment);
    /* Address space only, aligned to a chunk, charged to nobody. */
    void *(*reserve)(size_t bytes);
    /* Cannot fail: what the kernel does not take is kept for map. */
    void (*unmap)(void *address, size_t bytes);
    /* Makes a part of reserved address space readable and writable. */
    int (*commit)(void *address, size_t bytes);
    /* Gives the pages of committed memory back; they read as zeroes again. */
    int (*purge)(void *address, size_t bytes);
    /* Makes a mapping longer without moving it. */
    int (*extend)(void *address, size_t old_bytes, size_t new_bytes);
    /* A number that an attacker cannot guess. */
    uint64_t (*secret)(void);
};

extern const struct strata__os_ops strata__os_linux;
extern const struct strata__os_ops *strata__os;

/* Writes "strata: heap 'NAME': WHAT, address 0x..." to stderr and aborts. Allocates
 * nothing and takes no lock. */
_Noreturn void strata__fatal(
    const char *heap_name, const char *what, const void *address);

/* A bug of the library itself; never a mistake of its caller. */
#define STRATA__BUG_IF(condition)                                                        \
    do {                                                                                 \
        if (__builtin_expect(!!(condition), 0)) {                                        \
            strata__fatal("(any)", "internal error: " #condition, NULL);                 \
        }                                                                                \
    } while (0)

#endif
