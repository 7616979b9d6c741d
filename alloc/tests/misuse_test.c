/* What a program may do wrong with its blocks, and what it is told when it does. */
#include "support.h"

#include <sys/mman.h>
#include <unistd.h>

#include "blockclass.h"
#include "front.h"
#include "front_support.h"
#include "huge.h"
#include "units.h"

#define UNIT STRATA__UNIT_BYTES
#define HUGE (40 * MIB)

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

static void *leave_quietly_resizing(void *block, size_t bytes)
{
    (void)bytes;
    leave_quietly(block);
    return NULL;
}

static size_t leave_quietly_measuring(void *block)
{
    leave_quietly(block);
    return 0;
}

static void have_libc(void)
{
    strata__front_foreign = (struct strata__front_foreign){.release = leave_quietly,
        .resize = leave_quietly_resizing,
        .usable = leave_quietly_measuring};
}

/* Nothing in our own address space is ever taken for a block of the C library. */
static void free_large_twice_beside_libc(void)
{
    char *before = strata__front_alloc(MIB);
    char *block = strata__front_alloc(MIB);
    char *behind = strata__front_alloc(MIB);
    have_libc();
    strata__front_free(before);
    strata__front_free(behind);
    strata__front_free(block); /* its unit lies inside of a free span now */
    strata__front_free(block);
}

/* Beside smaller and larger ones, between which it must not be searched for. */
static char *huge_beside_libc(void)
{
    (void)strata__front_alloc(2 * HUGE);
    char *block = strata__front_alloc(HUGE);
    (void)strata__front_alloc(HUGE - MIB);
    have_libc();
    return block;
}

static void free_inside_huge_near(void)
{
    strata__front_free(huge_beside_libc() + 16);
}

static void free_inside_huge_far(void)
{
    strata__front_free(huge_beside_libc() + HUGE / 2);
}

static void free_inside_huge_at_the_end(void)
{
    strata__front_free(huge_beside_libc() + HUGE - 1);
}

static void realloc_inside_huge(void)
{
    (void)strata__front_realloc(huge_beside_libc() + MIB, 100);
}

static void usable_inside_huge(void)
{
    (void)strata__front_usable(huge_beside_libc() + MIB);
}

static void free_inside_grown(void)
{
    char *block = strata__front_realloc(huge_beside_libc(), 3 * HUGE);
    strata__front_free(block + 3 * HUGE - 16);
}

/* Also when the directory that readers outside have is long full. */
static void free_inside_one_of_many(void)
{
    static char *blocks[1200];
    for (size_t i = 0; i < 1200; i++) {
        blocks[i] = strata__huge_alloc(2 * MIB, 1);
    }
    have_libc();
    strata__front_free(blocks[1199] + MIB);
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
    test_expect_abort(free_inside_large, "not the start of a block");
    test_expect_abort(free_large_twice, "not an allocated block");
    test_expect_abort(free_large_twice_beside_libc, "not an allocated block");
    test_expect_abort(free_stack, "not an allocated block");
}

static void inner_pointers_of_huge_blocks_are_fatal(void **state)
{
    (void)state;
    const char *const said = "not the start of a block";
    test_expect_abort(free_inside_huge_near, said);
    test_expect_abort(free_inside_huge_far, said);
    test_expect_abort(free_inside_huge_at_the_end, said);
    test_expect_abort(realloc_inside_huge, said);
    test_expect_abort(usable_inside_huge, said);
    test_expect_abort(free_inside_grown, said);
    test_expect_abort(free_inside_one_of_many, said);
}

static unsigned went_home;

static void count_home(void *block)
{
    (void)block;
    went_home++;
}

static char *map_page(char *place)
{
    char *mapped = mmap(place, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_equal(mapped, place); /* nobody has it */
    return mapped;
}

/* Other people's pages right before and behind a huge block, in units that they share with it, and
 * where one was that shrank or is gone. */
static void neighbours_of_huge_blocks_are_not_blamed(void **state)
{
    (void)state;
    const struct strata__front_foreign nobody = strata__front_foreign;
    strata__front_foreign.release = count_home;
    went_home = 0;
    for (size_t offset = 1; offset < UNIT / PAGE; offset++) {
        char *block = strata__front_alloc(HUGE + offset * PAGE);
        block = strata__front_realloc(block, HUGE);
        char *before = map_page(block - PAGE);
        char *behind = map_page(block + HUGE);
        strata__front_free(before + 16);
        strata__front_free(behind + 16);
        strata__front_free(behind);
        strata__front_free(block);
        strata__front_free(block + MIB);
        munmap(before, PAGE);
        munmap(behind, PAGE);
    }
    assert_int_equal(went_home, (UNIT / PAGE - 1) * 4);
    strata__front_foreign = nobody;
}

/* Such a block has a mapping of its own, however short: if another one of ours began in the
 * same unit, the map would forget this one. */
static void r_a_short_block_of_great_alignment_has_its_unit(void **state)
{
    (void)state;
    char *block = strata__front_aligned(64 * MIB, 100);
    assert_non_null(block);
    char *wanted = block + UNIT - PAGE;
    char *behind = mmap(wanted, PAGE, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(behind, wanted);
    munmap(behind, PAGE);
    strata__front_free(block);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(misuse_is_fatal),
        cmocka_unit_test(inner_pointers_of_huge_blocks_are_fatal),
        cmocka_unit_test(neighbours_of_huge_blocks_are_not_blamed),
        cmocka_unit_test(r_a_short_block_of_great_alignment_has_its_unit),
    };
    return test_front_run(tests, sizeof(tests) / sizeof(tests[0]));
}
