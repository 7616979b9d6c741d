/*
 * What programs may expect of malloc and its family, by the C standard, POSIX and the
 * manual of glibc: which blocks are handed out, and what is refused. Where the texts leave a
 * choice, each choice passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "family.h"

static const size_t too_large[] = {(size_t)PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1,
    SIZE_MAX - 8 * PAGE, SIZE_MAX - PAGE, SIZE_MAX - 64, SIZE_MAX - 16, SIZE_MAX - 1,
    SIZE_MAX};
#define TOO_LARGE (sizeof(too_large) / sizeof(too_large[0]))

static void every_size_is_aligned_and_usable(void **state)
{
    (void)state;
    errno = SENTINEL;
    for (size_t bytes = 0; bytes < 70000; bytes += bytes < 4200 ? 1 : 509) {
        unsigned char *block = call_malloc(bytes);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % test_alignment_for(bytes), 0);
        assert_true(malloc_usable_size(block) >= bytes);
        memset(block, 0x5a, malloc_usable_size(block));
        call_free(block);
    }
    assert_int_equal(malloc_usable_size(NULL), 0);
    assert_int_equal(errno, SENTINEL);
}

/* All usable bytes of each block are its own. */
static void neighbours_do_not_share_usable_bytes(void **state)
{
    (void)state;
    enum { BLOCKS = 64 };
    for (size_t i = 0; i < TEST_SIZES && test_sizes[i] <= 128 * KIB; i++) {
        unsigned char *blocks[BLOCKS];
        for (size_t n = 0; n < BLOCKS; n++) {
            blocks[n] = n % 2 == 0 ? call_malloc(test_sizes[i])
                                   : call_memalign(64, test_sizes[i]);
            assert_non_null(blocks[n]);
            test_fill(blocks[n], malloc_usable_size(blocks[n]), n);
        }
        for (size_t n = 0; n < BLOCKS; n++) {
            assert_true(test_is_filled(blocks[n], malloc_usable_size(blocks[n]), n));
            call_free(blocks[n]);
        }
    }
}

static void zero_sizes_are_blocks_of_their_own(void **state)
{
    (void)state;
    void *blocks[] = {call_malloc(0), call_malloc(0), call_calloc(0, 8),
        call_calloc(SIZE_MAX, 0), call_realloc(NULL, 0), call_reallocarray(NULL, 0, 8),
        call_memalign(64, 0), call_aligned(64, 0)};
    enum { BLOCKS = sizeof(blocks) / sizeof(blocks[0]) };
    for (size_t i = 0; i < BLOCKS; i++) {
        assert_non_null(blocks[i]);
        for (size_t k = 0; k < i; k++) {
            assert_ptr_not_equal(blocks[i], blocks[k]);
        }
    }
    for (size_t i = 0; i < BLOCKS; i++) {
        call_free(blocks[i]);
    }
    void *block = NULL;
    assert_int_equal(call_posix(&block, 64, 0), 0);
    call_free(block);
    call_free(call_valloc(0));
    call_free(NULL);
}

/* Of a call that was made with errno 0, as it is again afterwards. */
static int refused(const void *block)
{
    int as_it_should = block == NULL && errno == ENOMEM;
    errno = 0;
    return as_it_should;
}

static void a_request_too_large_is_refused(void **state)
{
    (void)state;
    unsigned char *kept = call_malloc(100);
    test_fill(kept, 100, 1);
    errno = 0;
    for (size_t i = 0; i < TOO_LARGE; i++) {
        size_t bytes = too_large[i];
        void *block = kept;
        assert_true(refused(call_malloc(bytes)));
        assert_true(refused(call_calloc(1, bytes)));
        assert_true(refused(call_calloc(bytes, 1)));
        assert_true(refused(call_realloc(NULL, bytes)));
        assert_true(refused(call_realloc(kept, bytes)));
        assert_true(refused(call_reallocarray(kept, 1, bytes)));
        assert_true(refused(call_memalign(32, bytes)));
        assert_true(refused(call_memalign(2 * PAGE, bytes)));
        assert_true(refused(call_aligned(256, bytes)));
        assert_true(refused(call_valloc(bytes)));
        assert_true(refused(call_pvalloc(bytes)));
        assert_int_equal(call_posix(&block, 64, bytes), ENOMEM);
        errno = 0; /* posix_memalign may change it */
        assert_ptr_equal(block, kept);
        assert_true(test_is_filled(kept, 100, 1));
    }
    call_free(kept);
}

static void products_that_overflow_are_refused(void **state)
{
    (void)state;
    const size_t half = (size_t)1 << 32;
    const size_t pairs[][2] = {{SIZE_MAX / 2 + 1, 2}, {half, half}, {half + 1, half - 1},
        {SIZE_MAX, SIZE_MAX}, {3, SIZE_MAX / 3 + 1}, {SIZE_MAX / 16 + 2, 16}};
    unsigned char *kept = call_malloc(5000);
    test_fill(kept, 5000, 2);
    errno = 0;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        for (size_t turn = 0; turn < 2; turn++) {
            size_t count = pairs[i][turn];
            size_t bytes = pairs[i][1 - turn];
            assert_true(refused(call_calloc(count, bytes)));
            assert_true(refused(call_reallocarray(NULL, count, bytes)));
            assert_true(refused(call_reallocarray(kept, count, bytes)));
            assert_true(test_is_filled(kept, 5000, 2));
        }
    }
    kept = call_reallocarray(kept, 100, 100);
    assert_true(test_is_filled(kept, 5000, 2));
    call_free(kept);
}

static void check_aligned(void *block, size_t alignment, size_t bytes)
{
    assert_non_null(block);
    assert_int_equal((uintptr_t)block % alignment, 0);
    assert_true(malloc_usable_size(block) >= bytes);
    memset(block, 1, bytes);
}

/* By all three ways at once, so that they lie beside each other. */
static void make_aligned(size_t alignment, size_t bytes)
{
    void *old = call_memalign(alignment, bytes);
    void *standard = call_aligned(alignment, bytes);
    void *posix = NULL;
    check_aligned(old, alignment, bytes);
    check_aligned(standard, alignment, bytes);
    if (alignment >= sizeof(void *)) {
        assert_int_equal(call_posix(&posix, alignment, bytes), 0);
        check_aligned(posix, alignment, bytes);
    }
    call_free(old);
    call_free(standard);
    call_free(posix);
}

static void alignments_are_kept(void **state)
{
    (void)state;
    errno = SENTINEL;
    for (size_t alignment = 1; alignment <= 4 * MIB; alignment *= 2) {
        for (size_t i = 0; i < TEST_SIZES; i++) {
            make_aligned(alignment, test_sizes[i]);
        }
    }
    assert_int_equal(errno, SENTINEL);
}

static void pages_are_whole_and_aligned(void **state)
{
    (void)state;
    for (size_t i = 0; i < TEST_SIZES; i++) {
        unsigned char *block = call_valloc(test_sizes[i]);
        unsigned char *whole = call_pvalloc(test_sizes[i]);
        size_t rounded = (test_sizes[i] + PAGE - 1) & ~(PAGE - 1);
        assert_non_null(block);
        assert_non_null(whole);
        assert_int_equal((uintptr_t)block % PAGE, 0);
        assert_int_equal((uintptr_t)whole % PAGE, 0);
        memset(block, 1, test_sizes[i]);
        memset(whole, 1, rounded);
        assert_true(malloc_usable_size(whole) >= rounded);
        call_free(block);
        call_free(whole);
    }
}

static void impossible_alignments(void **state)
{
    (void)state;
    const size_t never[] = {0, 1, 2, 4, 3, 12, 24, 40, 65, SIZE_MAX, SIZE_MAX / 2 + 2};
    for (size_t i = 0; i < sizeof(never) / sizeof(never[0]); i++) {
        void *block = &errno;
        assert_int_equal(call_posix(&block, never[i], 64), EINVAL);
        assert_ptr_equal(block, &errno);
    }
    errno = 0;
    assert_null(call_memalign(SIZE_MAX / 2 + 2, 64));
    assert_int_equal(errno, EINVAL);
    errno = 0;
    assert_null(call_memalign((size_t)1 << 62, 64));
    assert_int_equal(errno, ENOMEM);
    /* memalign rounds up; aligned_alloc does as well before glibc 2.38, and refuses then. */
    for (size_t alignment = 3; alignment < 5000; alignment = alignment * 2 + 1) {
        size_t power = 1;
        while (power < alignment) {
            power *= 2;
        }
        void *block = call_memalign(alignment, 10);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % power, 0);
        call_free(block);
        errno = 0;
        block = call_aligned(alignment, 10);
        assert_true(block != NULL ? (uintptr_t)block % power == 0 : errno == EINVAL);
        call_free(block);
    }
}

/* A length must not lose its upper half on the way. */
static void more_than_32_bits(void **state)
{
    (void)state;
    size_t bytes = ((size_t)4 << 30) + 100;
    unsigned char *block = call_malloc(bytes);
    assert_non_null(block);
    assert_true(malloc_usable_size(block) >= bytes);
    block[0] = 1;
    block[bytes - 1] = 2;
    block = call_realloc(block, bytes + 4 * MIB);
    assert_non_null(block);
    assert_int_equal(block[0], 1);
    assert_int_equal(block[bytes - 1], 2);
    call_free(block);
    block = call_calloc((size_t)1 << 16, ((size_t)1 << 16) + 1);
    assert_non_null(block);
    assert_int_equal(block[((size_t)4 << 30) + 1], 0);
    call_free(block);
}

/* In a child whose address space is full: all of the family is refused, nothing is lost,
 * and once something is freed there is memory again. */
static int survives_without_memory(void)
{
    static void *blocks[100000];
    size_t count = 0;
    const struct rlimit limit = {256 * MIB, 256 * MIB};
    unsigned char *kept = call_malloc(1000);
    void *block = NULL;
    test_fill(kept, 1000, 6);
    if (setrlimit(RLIMIT_AS, &limit) != 0) {
        return 1;
    }
    for (size_t bytes = MIB; bytes >= 16; bytes /= 4) {
        errno = 0;
        while (count < 100000 && (block = call_malloc(bytes)) != NULL) {
            blocks[count++] = block;
        }
        if (count == 100000 || errno != ENOMEM) {
            return 2;
        }
    }
    if (call_realloc(kept, MIB) != NULL || errno != ENOMEM ||
        !test_is_filled(kept, 1000, 6) || call_calloc(1, 200000) != NULL ||
        call_posix(&block, 64, MIB) != ENOMEM || call_memalign(4096, MIB) != NULL) {
        return 3;
    }
    while (count > 0) {
        call_free(blocks[--count]);
    }
    for (size_t bytes = 16; bytes < 4 * MIB; bytes *= 3) {
        if ((block = call_calloc(1, bytes)) == NULL || !test_is_zeroed(block, bytes)) {
            return 4;
        }
        call_free(block);
    }
    return test_is_filled(kept, 1000, 6) ? 0 : 5;
}

static void no_memory_is_no_crash(void **state)
{
    (void)state;
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        _exit(survives_without_memory());
    }
    int status = -1;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_int_equal(status, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocator_is_the_one_under_test),
        cmocka_unit_test(every_size_is_aligned_and_usable),
        cmocka_unit_test(neighbours_do_not_share_usable_bytes),
        cmocka_unit_test(zero_sizes_are_blocks_of_their_own),
        cmocka_unit_test(a_request_too_large_is_refused),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(alignments_are_kept),
        cmocka_unit_test(pages_are_whole_and_aligned),
        cmocka_unit_test(impossible_alignments),
        cmocka_unit_test(more_than_32_bits),
        cmocka_unit_test(no_memory_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
