/*
 * What programs may expect of malloc and its family, by the C standard, POSIX and the
 * manual of glibc. One binary for every allocator: glibc's own is the oracle, and
 * STRATA_TEST_MALLOC names the library that has to be the one under test. Where the texts
 * leave a choice, each choice passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#define KIB ((size_t)1 << 10)
#define MIB ((size_t)1 << 20)
#define PAGE ((size_t)4096)
#define SENTINEL 77 /* no errno that the family sets */

/* The compiler knows the family and would drop calls whose result it can foresee. */
static void *(*volatile call_malloc)(size_t) = malloc;
static void *(*volatile call_calloc)(size_t, size_t) = calloc;
static void *(*volatile call_realloc)(void *, size_t) = realloc;
static void *(*volatile call_reallocarray)(void *, size_t, size_t) = reallocarray;
static void *(*volatile call_memalign)(size_t, size_t) = memalign;
static void *(*volatile call_aligned)(size_t, size_t) = aligned_alloc;
static void *(*volatile call_valloc)(size_t) = valloc;
static void *(*volatile call_pvalloc)(size_t) = pvalloc;
static int (*volatile call_posix)(void **, size_t, size_t) = posix_memalign;
static void (*volatile call_free)(void *) = free;

/* Around the borders at which allocators change their ways. */
static const size_t sizes[] = {0, 1, 7, 8, 9, 15, 16, 17, 24, 25, 31, 32, 33, 63, 64, 65,
    100, 127, 128, 129, 500, 512, 513, 1000, 1024, 1032, 1033, 2047, 2048, 4080, 4096,
    4097, 8192, 16384, 30000, 32767, 32768, 32769, 65535, 65536, 65537, 100000, 128 * KIB,
    128 * KIB + 1, 300000, MIB - 1, MIB, MIB + 1, 2 * MIB, 5 * MIB};
#define SIZES (sizeof(sizes) / sizeof(sizes[0]))

static const size_t too_large[] = {(size_t)PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1,
    SIZE_MAX - 8 * PAGE, SIZE_MAX - PAGE, SIZE_MAX - 64, SIZE_MAX - 16, SIZE_MAX - 1,
    SIZE_MAX};
#define TOO_LARGE (sizeof(too_large) / sizeof(too_large[0]))

static unsigned char pattern_at(size_t seed, size_t at)
{
    return (unsigned char)(seed * 31 + at * 7 + at / 251);
}

static void fill(unsigned char *block, size_t bytes, size_t seed)
{
    for (size_t at = 0; at < bytes; at++) {
        block[at] = pattern_at(seed, at);
    }
}

static int is_filled(const unsigned char *block, size_t bytes, size_t seed)
{
    for (size_t at = 0; at < bytes; at++) {
        if (block[at] != pattern_at(seed, at)) {
            return 0;
        }
    }
    return 1;
}

static int is_zeroed(const unsigned char *block, size_t bytes)
{
    return bytes == 0 || (block[0] == 0 && memcmp(block, block + 1, bytes - 1) == 0);
}

/* The largest alignment that an object of this size can need, 16 at most. */
static size_t alignment_for(size_t bytes)
{
    return bytes > 8 ? 16 : 8;
}

/* Of a call that was made with errno 0, as it is again afterwards. */
static int refused(const void *block)
{
    int as_it_should = block == NULL && errno == ENOMEM;
    errno = 0;
    return as_it_should;
}

static void the_allocator_is_the_one_under_test(void **state)
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

static void every_size_is_aligned_and_usable(void **state)
{
    (void)state;
    errno = SENTINEL;
    for (size_t bytes = 0; bytes < 70000; bytes += bytes < 4200 ? 1 : 509) {
        unsigned char *block = call_malloc(bytes);
        assert_non_null(block);
        assert_int_equal((uintptr_t)block % alignment_for(bytes), 0);
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
    for (size_t i = 0; i < SIZES && sizes[i] <= 128 * KIB; i++) {
        unsigned char *blocks[BLOCKS];
        for (size_t n = 0; n < BLOCKS; n++) {
            blocks[n] = n % 2 == 0 ? call_malloc(sizes[i]) : call_memalign(64, sizes[i]);
            assert_non_null(blocks[n]);
            fill(blocks[n], malloc_usable_size(blocks[n]), n);
        }
        for (size_t n = 0; n < BLOCKS; n++) {
            assert_true(is_filled(blocks[n], malloc_usable_size(blocks[n]), n));
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

static void a_request_too_large_is_refused(void **state)
{
    (void)state;
    unsigned char *kept = call_malloc(100);
    fill(kept, 100, 1);
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
        assert_true(is_filled(kept, 100, 1));
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
    fill(kept, 5000, 2);
    errno = 0;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        for (size_t turn = 0; turn < 2; turn++) {
            size_t count = pairs[i][turn];
            size_t bytes = pairs[i][1 - turn];
            assert_true(refused(call_calloc(count, bytes)));
            assert_true(refused(call_reallocarray(NULL, count, bytes)));
            assert_true(refused(call_reallocarray(kept, count, bytes)));
            assert_true(is_filled(kept, 5000, 2));
        }
    }
    kept = call_reallocarray(kept, 100, 100);
    assert_true(is_filled(kept, 5000, 2));
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
        for (size_t i = 0; i < SIZES; i++) {
            make_aligned(alignment, sizes[i]);
        }
    }
    assert_int_equal(errno, SENTINEL);
}

/* An aligned block is one like any other to realloc. */
static void aligned_blocks_grow_and_shrink(void **state)
{
    (void)state;
    for (size_t alignment = 32; alignment <= 64 * KIB; alignment *= 4) {
        unsigned char *block = call_memalign(alignment, 1000);
        fill(block, 1000, alignment);
        block = call_realloc(block, 300000);
        assert_true(is_filled(block, 1000, alignment));
        block = call_realloc(block, 10);
        assert_true(is_filled(block, 10, alignment));
        call_free(block);
    }
}

static void pages_are_whole_and_aligned(void **state)
{
    (void)state;
    for (size_t i = 0; i < SIZES; i++) {
        unsigned char *block = call_valloc(sizes[i]);
        unsigned char *whole = call_pvalloc(sizes[i]);
        size_t rounded = (sizes[i] + PAGE - 1) & ~(PAGE - 1);
        assert_non_null(block);
        assert_non_null(whole);
        assert_int_equal((uintptr_t)block % PAGE, 0);
        assert_int_equal((uintptr_t)whole % PAGE, 0);
        memset(block, 1, sizes[i]);
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

/* Whatever was written to a block before its memory came here. */
static void calloc_zeroes_memory_that_was_used(void **state)
{
    (void)state;
    enum { BLOCKS = 16 };
    for (size_t i = 0; i < SIZES; i++) {
        for (int round = 0; round < 3; round++) {
            unsigned char *blocks[BLOCKS];
            for (size_t n = 0; n < BLOCKS; n++) {
                blocks[n] = n % 3 == 0 ? call_malloc(sizes[i]) : call_calloc(sizes[i], 1);
                assert_non_null(blocks[n]);
                assert_true(n % 3 == 0 || is_zeroed(blocks[n], sizes[i]));
                memset(blocks[n], 0xff, malloc_usable_size(blocks[n]));
            }
            for (size_t n = 0; n < BLOCKS; n++) {
                call_free(blocks[(n * 7 + (size_t)round) % BLOCKS]);
            }
            if (round == 1) {
                malloc_trim(0);
            }
        }
    }
}

/* From each size to each other, the common bytes stay. */
static void realloc_keeps_the_content(void **state)
{
    (void)state;
    errno = SENTINEL;
    for (size_t from = 0; from < SIZES; from += 2) {
        for (size_t to = 1; to < SIZES; to += 3) {
            size_t common = sizes[from] < sizes[to] ? sizes[from] : sizes[to];
            unsigned char *block = call_malloc(sizes[from]);
            fill(block, sizes[from], from);
            block = call_realloc(block, sizes[to]);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % alignment_for(sizes[to]), 0);
            assert_true(malloc_usable_size(block) >= sizes[to]);
            assert_true(is_filled(block, common, from));
            memset(block, 1, sizes[to]);
            call_free(block);
        }
    }
    assert_int_equal(errno, SENTINEL);
}

static void realloc_at_its_ends(void **state)
{
    (void)state;
    unsigned char *block = call_realloc(NULL, 50);
    fill(block, 50, 3);
    assert_ptr_equal(call_realloc(block, 50), block); /* nothing to do */
    assert_true(is_filled(block, 50, 3));
    errno = SENTINEL;
    assert_null(call_realloc(block, 0)); /* and it is free */
    assert_null(call_reallocarray(call_malloc(3 * MIB), 0, 8));
    assert_int_equal(errno, SENTINEL);
}

static void a_string_grows_byte_by_byte(void **state)
{
    (void)state;
    unsigned char *first = NULL;
    unsigned char *second = NULL;
    for (size_t bytes = 1; bytes <= 20000; bytes++) {
        first = call_realloc(first, bytes);
        second = call_realloc(second, bytes);
        first[bytes - 1] = pattern_at(4, bytes - 1);
        second[bytes - 1] = pattern_at(5, bytes - 1);
    }
    assert_true(is_filled(first, 20000, 4));
    assert_true(is_filled(second, 20000, 5));
    call_free(first);
    call_free(second);
}

/* free keeps errno whatever it has to ask of the kernel (POSIX 2024; glibc 2.33). */
static void free_keeps_errno(void **state)
{
    (void)state;
    const size_t large[] = {100, 5000, 100000, 3 * MIB, 40 * MIB};
    for (size_t i = 0; i < sizeof(large) / sizeof(large[0]); i++) {
        void *block = call_malloc(large[i]);
        void *aligned = call_memalign(MIB, large[i]);
        memset(block, 1, large[i]);
        errno = SENTINEL;
        call_free(block);
        call_free(aligned);
        assert_int_equal(errno, SENTINEL);
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

/* What the C library hands out is to be freed by the program. */
static void blocks_of_the_c_library(void **state)
{
    (void)state;
    char *text = strdup("text");
    char *print = NULL;
    char *line = NULL;
    size_t room = 0;
    struct dirent **names = NULL;
    assert_int_equal(asprintf(&print, "%s %d", text, 5), 6);
    print = call_realloc(print, 100);
    assert_string_equal(print, "text 5");
    FILE *file = fopen("/proc/self/maps", "r");
    while (getline(&line, &room, file) > 0) {
    }
    fclose(file);
    int count = scandir("/proc/self", &names, NULL, alphasort);
    assert_true(count > 2);
    for (int i = 0; i < count; i++) {
        call_free(names[i]);
    }
    call_free(names);
    call_free(line);
    call_free(realpath("/proc/self/exe", NULL));
    call_free(getcwd(NULL, 0));
    call_free(print);
    call_free(text);
}

static void reports_answer(void **state)
{
    (void)state;
    struct mallinfo2 before = mallinfo2();
    unsigned char *small[100];
    for (size_t i = 0; i < 100; i++) {
        small[i] = call_malloc(10000);
    }
    void *large = call_malloc(30 * MIB);
    struct mallinfo2 after = mallinfo2();
    assert_true(after.uordblks + after.hblkhd >=
                before.uordblks + before.hblkhd + 100 * 10000 + 30 * MIB);
    assert_true(after.hblkhd >= 30 * MIB);
    for (size_t i = 0; i < 100; i++) {
        call_free(small[i]);
    }
    call_free(large);
    after = mallinfo2();
    assert_true(after.hblkhd < before.hblkhd + 30 * MIB);
    assert_in_range(malloc_trim(0), 0, 1);
    assert_in_range(malloc_trim(64 * KIB), 0, 1);
    assert_int_equal(mallopt(M_MMAP_MAX, 65536), 1);
    char *text = NULL;
    size_t length = 0;
    FILE *stream = open_memstream(&text, &length);
    assert_int_equal(malloc_info(0, stream), 0);
    assert_int_equal(malloc_info(1, stream), EINVAL);
    fclose(stream);
    assert_int_equal(strncmp(text, "<malloc version=\"1\">", 20), 0);
    assert_string_equal(text + length - 10, "</malloc>\n");
    call_free(text);
    malloc_stats();
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
    fill(kept, 1000, 6);
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
    if (call_realloc(kept, MIB) != NULL || errno != ENOMEM || !is_filled(kept, 1000, 6) ||
        call_calloc(1, 200000) != NULL || call_posix(&block, 64, MIB) != ENOMEM ||
        call_memalign(4096, MIB) != NULL) {
        return 3;
    }
    while (count > 0) {
        call_free(blocks[--count]);
    }
    for (size_t bytes = 16; bytes < 4 * MIB; bytes *= 3) {
        if ((block = call_calloc(1, bytes)) == NULL || !is_zeroed(block, bytes)) {
            return 4;
        }
        call_free(block);
    }
    return is_filled(kept, 1000, 6) ? 0 : 5;
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
        cmocka_unit_test(the_allocator_is_the_one_under_test),
        cmocka_unit_test(every_size_is_aligned_and_usable),
        cmocka_unit_test(neighbours_do_not_share_usable_bytes),
        cmocka_unit_test(zero_sizes_are_blocks_of_their_own),
        cmocka_unit_test(a_request_too_large_is_refused),
        cmocka_unit_test(products_that_overflow_are_refused),
        cmocka_unit_test(alignments_are_kept),
        cmocka_unit_test(aligned_blocks_grow_and_shrink),
        cmocka_unit_test(pages_are_whole_and_aligned),
        cmocka_unit_test(impossible_alignments),
        cmocka_unit_test(calloc_zeroes_memory_that_was_used),
        cmocka_unit_test(realloc_keeps_the_content),
        cmocka_unit_test(realloc_at_its_ends),
        cmocka_unit_test(a_string_grows_byte_by_byte),
        cmocka_unit_test(free_keeps_errno),
        cmocka_unit_test(more_than_32_bits),
        cmocka_unit_test(blocks_of_the_c_library),
        cmocka_unit_test(reports_answer),
        cmocka_unit_test(no_memory_is_no_crash),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
