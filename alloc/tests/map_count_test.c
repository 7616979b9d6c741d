/* The process has as many mappings as it may (vm.max_map_count): munmap fails where it
 * would cut one in two. Nothing aborts, the memory goes back all the same, the addresses
 * are used again, and once there is room for mappings all of them go. */
#include "support.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "front.h"
#include "front_figures.h"
#include "kept.h"

#define BLOCKS 9
#define BLOCK_BYTES (40 * MIB)

static size_t map_count_max(void)
{
    char line[32] = {0};
    FILE *file = fopen("/proc/sys/vm/max_map_count", "r");
    assert_non_null(file);
    assert_non_null(fgets(line, sizeof(line), file));
    fclose(file);
    return strtoul(line, NULL, 10);
}

/* Pages of which every other one may not be read: a mapping each. Takes all there are. */
static char *use_up_mappings(size_t pages)
{
    char *start = mmap(NULL, pages * PAGE, PROT_READ,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    assert_ptr_not_equal(start, MAP_FAILED);
    size_t page = 1;
    while (page < pages && mprotect(start + page * PAGE, PAGE, PROT_NONE) == 0) {
        page += 2;
    }
    assert_true(page < pages); /* the last one failed */
    return start;
}

static int is_kept(char *const *blocks, const char *block)
{
    for (size_t i = 0; i < BLOCKS; i++) {
        if (block >= blocks[i] && block < blocks[i] + BLOCK_BYTES) {
            return 1;
        }
    }
    return 0;
}

static void munmap_fails_for_want_of_mappings(void **state)
{
    (void)state;
    char *blocks[BLOCKS];
    size_t pages = map_count_max() + 100;
    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = strata__front_alloc(BLOCK_BYTES);
        assert_non_null(blocks[i]);
        memset(blocks[i], 1, 4 * MIB);
        memset(blocks[i] + BLOCK_BYTES - PAGE, 1, PAGE);
    }
    char *user = use_up_mappings(pages);
    size_t before = test_resident_bytes();
    /* Neighbours are one mapping for the kernel: every other one lies in the middle. */
    for (size_t i = 1; i < BLOCKS - 1; i += 2) {
        strata__front_free(blocks[i]);
    }
    assert_true(strata__kept_bytes() >= 2 * BLOCK_BYTES);
    if (test_resident_is_ours()) {
        assert_true(test_resident_bytes() < before - 8 * MIB);
    }
    strata__front_check();
    /* A new block finds no mapping either, but what is kept. */
    char *again = strata__front_alloc(BLOCK_BYTES - PAGE);
    assert_non_null(again);
    assert_true(is_kept(blocks, again));
    for (size_t at = 0; at < BLOCK_BYTES - PAGE; at += PAGE) {
        assert_int_equal(again[at], 0);
    }
    memset(again, 2, BLOCK_BYTES - PAGE);
    strata__front_free(again);
    /* Room for mappings again. */
    assert_int_equal(munmap(user, pages * PAGE), 0);
    for (size_t i = 0; i < BLOCKS; i += 2) {
        assert_int_equal(blocks[i][BLOCK_BYTES - PAGE], 1);
        strata__front_free(blocks[i]);
    }
    strata__kept_retry();
    assert_int_equal(strata__kept_bytes(), 0);
    strata__front_check();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(munmap_fails_for_want_of_mappings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
