/*
 * One binary for every allocator: glibc's own is the oracle, and STRATA_TEST_MALLOC names the
 * library that has to be the one under test.
 */
#include "family.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>

#include <cmocka.h>

#include <dlfcn.h>
#include <malloc.h>
#include <stdlib.h>
#include <string.h>

void *(*volatile call_malloc)(size_t) = malloc;
void *(*volatile call_calloc)(size_t, size_t) = calloc;
void *(*volatile call_realloc)(void *, size_t) = realloc;
void *(*volatile call_reallocarray)(void *, size_t, size_t) = reallocarray;
void *(*volatile call_memalign)(size_t, size_t) = memalign;
void *(*volatile call_aligned)(size_t, size_t) = aligned_alloc;
void *(*volatile call_valloc)(size_t) = valloc;
void *(*volatile call_pvalloc)(size_t) = pvalloc;
int (*volatile call_posix)(void **, size_t, size_t) = posix_memalign;
void (*volatile call_free)(void *) = free;

const size_t test_sizes[TEST_SIZES] = {0, 1, 7, 8, 9, 15, 16, 17, 24, 25, 31, 32, 33, 63,
    64, 65, 100, 127, 128, 129, 500, 512, 513, 1000, 1024, 1032, 1033, 2047, 2048, 4080,
    4096, 4097, 8192, 16384, 30000, 32767, 32768, 32769, 65535, 65536, 65537, 100000,
    128 * KIB, 128 * KIB + 1, 300000, MIB - 1, MIB, MIB + 1, 2 * MIB, 5 * MIB};

unsigned char test_pattern_at(size_t seed, size_t at)
{
    return (unsigned char)(seed * 31 + at * 7 + at / 251);
}

void test_fill(unsigned char *block, size_t bytes, size_t seed)
{
    for (size_t at = 0; at < bytes; at++) {
        block[at] = test_pattern_at(seed, at);
    }
}

int test_is_filled(const unsigned char *block, size_t bytes, size_t seed)
{
    for (size_t at = 0; at < bytes; at++) {
        if (block[at] != test_pattern_at(seed, at)) {
            return 0;
        }
    }
    return 1;
}

int test_is_zeroed(const unsigned char *block, size_t bytes)
{
    return bytes == 0 || (block[0] == 0 && memcmp(block, block + 1, bytes - 1) == 0);
}

size_t test_alignment_for(size_t bytes)
{
    return bytes > 8 ? 16 : 8;
}

void test_allocator_is_the_one_under_test(void **state)
{
    (void)state;
    const char *wanted = getenv("STRATA_TEST_MALLOC");
    const char *const names[] = {"malloc", "free", "calloc", "realloc", "reallocarray",
        "aligned_alloc", "memalign", "posix_memalign", "valloc", "pvalloc",
        "malloc_usable_size", "malloc_trim", "mallopt", "mallinfo", "mallinfo2",
        "malloc_info", "malloc_stats"};
    if (wanted == NULL) {
        fail_msg("STRATA_TEST_MALLOC says which library has to be the malloc");
        return;
    }
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        Dl_info info;
        void *symbol = dlsym(RTLD_DEFAULT, names[i]);
        assert_non_null(symbol);
        assert_true(dladdr(symbol, &info) != 0);
        assert_non_null(strstr(info.dli_fname, wanted));
    }
}
