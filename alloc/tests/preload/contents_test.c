/*
 * What programs may expect of the bytes of a block, by the same texts as in semantics_test.c:
 * zeroed, kept when it moves, the program's to free; and of errno and the reports beside it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <dirent.h>
#include <errno.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "family.h"

/* Whatever was written to a block before its memory came here. */
static void calloc_zeroes_memory_that_was_used(void **state)
{
    (void)state;
    enum { BLOCKS = 16 };
    for (size_t i = 0; i < TEST_SIZES; i++) {
        for (int round = 0; round < 3; round++) {
            unsigned char *blocks[BLOCKS];
            for (size_t n = 0; n < BLOCKS; n++) {
                blocks[n] = n % 3 == 0 ? call_malloc(test_sizes[i])
                                       : call_calloc(test_sizes[i], 1);
                assert_non_null(blocks[n]);
                assert_true(n % 3 == 0 || test_is_zeroed(blocks[n], test_sizes[i]));
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
    for (size_t from = 0; from < TEST_SIZES; from += 2) {
        for (size_t to = 1; to < TEST_SIZES; to += 3) {
            size_t common =
                test_sizes[from] < test_sizes[to] ? test_sizes[from] : test_sizes[to];
            unsigned char *block = call_malloc(test_sizes[from]);
            test_fill(block, test_sizes[from], from);
            block = call_realloc(block, test_sizes[to]);
            assert_non_null(block);
            assert_int_equal((uintptr_t)block % test_alignment_for(test_sizes[to]), 0);
            assert_true(malloc_usable_size(block) >= test_sizes[to]);
            assert_true(test_is_filled(block, common, from));
            memset(block, 1, test_sizes[to]);
            call_free(block);
        }
    }
    assert_int_equal(errno, SENTINEL);
}

static void realloc_at_its_ends(void **state)
{
    (void)state;
    unsigned char *block = call_realloc(NULL, 50);
    test_fill(block, 50, 3);
    assert_ptr_equal(call_realloc(block, 50), block); /* nothing to do */
    assert_true(test_is_filled(block, 50, 3));
    errno = SENTINEL;
    assert_null(call_realloc(block, 0)); /* and it is free */
    assert_null(call_reallocarray(call_malloc(3 * MIB), 0, 8));
    assert_int_equal(errno, SENTINEL);
}

/* An aligned block is one like any other to realloc. */
static void aligned_blocks_grow_and_shrink(void **state)
{
    (void)state;
    for (size_t alignment = 32; alignment <= 64 * KIB; alignment *= 4) {
        unsigned char *block = call_memalign(alignment, 1000);
        test_fill(block, 1000, alignment);
        block = call_realloc(block, 300000);
        assert_true(test_is_filled(block, 1000, alignment));
        block = call_realloc(block, 10);
        assert_true(test_is_filled(block, 10, alignment));
        call_free(block);
    }
}

static void a_string_grows_byte_by_byte(void **state)
{
    (void)state;
    unsigned char *first = NULL;
    unsigned char *second = NULL;
    for (size_t bytes = 1; bytes <= 20000; bytes++) {
        first = call_realloc(first, bytes);
        second = call_realloc(second, bytes);
        first[bytes - 1] = test_pattern_at(4, bytes - 1);
        second[bytes - 1] = test_pattern_at(5, bytes - 1);
    }
    assert_true(test_is_filled(first, 20000, 4));
    assert_true(test_is_filled(second, 20000, 5));
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allocator_is_the_one_under_test),
        cmocka_unit_test(calloc_zeroes_memory_that_was_used),
        cmocka_unit_test(realloc_keeps_the_content),
        cmocka_unit_test(realloc_at_its_ends),
        cmocka_unit_test(aligned_blocks_grow_and_shrink),
        cmocka_unit_test(a_string_grows_byte_by_byte),
        cmocka_unit_test(free_keeps_errno),
        cmocka_unit_test(blocks_of_the_c_library),
        cmocka_unit_test(reports_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
