/*
 * Marks for AddressSanitizer and valgrind: which bytes the caller may touch. Nothing in a
 * plain build. AddressSanitizer is found by the compiler's own macro; valgrind's client
 * requests cost a few instructions on every call, so they are compiled in only when the
 * build says STRATA_VALGRIND (Debug builds do, where valgrind's headers are installed).
 */
#ifndef STRATA_TRACK_H
#define STRATA_TRACK_H

#include <stddef.h>

#if defined(__SANITIZE_ADDRESS__)
#    define STRATA__ASAN 1
#elif defined(__has_feature)
#    if __has_feature(address_sanitizer)
#        define STRATA__ASAN 1
#    endif
#endif

#if defined(STRATA__ASAN)
#    include <sanitizer/asan_interface.h>
#endif
#if defined(STRATA_VALGRIND)
#    include <valgrind/memcheck.h>
#endif

/* The caller owns these bytes now; what they hold means nothing. */
static inline void strata__track_hand_out(const void *address, size_t bytes)
{
    (void)address;
    (void)bytes;
#if defined(STRATA__ASAN)
    ASAN_UNPOISON_MEMORY_REGION(address, bytes);
#endif
#if defined(STRATA_VALGRIND)
    VALGRIND_MAKE_MEM_UNDEFINED(address, bytes);
#endif
}

/* Nobody may touch these bytes. */
static inline void strata__track_close(const void *address, size_t bytes)
{
    (void)address;
    (void)bytes;
#if defined(STRATA__ASAN)
    ASAN_POISON_MEMORY_REGION(address, bytes);
#endif
#if defined(STRATA_VALGRIND)
    VALGRIND_MAKE_MEM_NOACCESS(address, bytes);
#endif
}

/* The library is about to read or write these bytes itself. */
static inline void strata__track_open(const void *address, size_t bytes)
{
    (void)address;
    (void)bytes;
#if defined(STRATA__ASAN)
    ASAN_UNPOISON_MEMORY_REGION(address, bytes);
#endif
#if defined(STRATA_VALGRIND)
    VALGRIND_MAKE_MEM_DEFINED(address, bytes);
#endif
}

#endif
