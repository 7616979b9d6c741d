/* What a program may do wrong with its blocks, and what it is told when it does. */
#include "support.h"

#include <unistd.h>

#include "blockclass.h"
#include "front.h"
#include "front_support.h"
#include "units.h"

#define UNIT STRATA__UNIT_BYTES

/* The slab has to stay, else its address is nobody's. */
static void free_twice(void)
{
    char *stays = strata__front_alloc(100);
    char *block = strata__front_alloc(100);
    stays[0] = 1;
    strata__front_free(block);
    strata__front_free(block);
}

static void free_twice_later(void)
{
    char *blocks[1000];
    for (size_t i = 0; i < 1000; i++) {
        blocks[i] = strata__front_alloc(100);
    }
    for (size_t round = 0; round < 2; round++) {
        for (size_t i = 1; i < 1000; i += 2) {
            strata__front_free(blocks[i]);
        }
    }
}

static void free_inside(void)
{
    char *blocks[300];
    for (size_t i = 0; i < 300; i++) {
        blocks[i] = strata__front_alloc(100);
    }
    for (size_t i = 0; i < 300; i++) {
        strata__front_free(blocks[i] + 16);
    }
}

static void free_inside_large(void)
{
    char *block = strata__front_alloc(MIB);
    strata__front_free(block + 2 * UNIT);
}

static void free_large_twice(void)
{
    char *block = strata__front_alloc(MIB);
    strata__front_free(block);
    strata__front_free(block);
}

static void leave_quietly(void *block)
{
    (void)block;
    _exit(0);
}

/* Nothing in our own address space is ever taken for a block of the C library. */
static void free_large_twice_beside_libc(void)
{
    char *before = strata__front_alloc(MIB);
    char *block = strata__front_alloc(MIB);
    char *behind = strata__front_alloc(MIB);
    strata__front_foreign.release = leave_quietly;
    strata__front_free(before);
    strata__front_free(behind);
    strata__front_free(block); /* its unit lies inside of a free span now */
    strata__front_free(block);
}

static void free_stack(void)
{
    int variable = 0;
    strata__front_free(&variable);
}

static void misuse_is_fatal(void **state)
{
    (void)state;
    /* In units that classes share a block which was freed is no start of one any more. */
    test_start_class(strata__block_class_of(100));
    test_expect_abort(free_twice, "double free");
    test_expect_abort(free_twice_later, "double free");
    test_expect_abort(free_inside, "not the start of a block");
    test_expect_abort(free_inside_large, "not an allocated block");
    test_expect_abort(free_large_twice, "not an allocated block");
    test_expect_abort(free_large_twice_beside_libc, "not an allocated block");
    test_expect_abort(free_stack, "not an allocated block");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse_is_fatal),
    };
    return test_front_run(tests, sizeof(tests) / sizeof(tests[0]));
}
