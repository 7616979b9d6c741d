/* compare_report.c - arena by arena, then the sums. */
#include "compare_report.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "facts_types/fact.h"

static void compare_arena(
    const struct glibc_arena *arena, const struct report_arena *told, uint64_t page_bytes)
{
    if (arena->state != FACT_OK) {
        fail_msg("arena %#lx: %s: %s", arena->address, fact_state_names[arena->state],
            arena->why);
    }
    assert_true(arena->plus_minus_bytes == 0);
    assert_int_equal(arena->held_bytes, told->held_bytes);
    assert_int_equal(arena->held_peak_bytes, told->held_peak_bytes);
    assert_int_equal(arena->fast_chunks, told->fast_chunks);
    assert_int_equal(arena->fast_bytes, told->fast_bytes);
    /* malloc_info sums raw size words: one too many for each free chunk; top is one chunk. */
    assert_int_equal(arena->free_chunks + 1, told->rest_chunks);
    assert_int_equal(
        arena->free_bytes + arena->top_bytes + arena->free_chunks, told->rest_bytes);
    assert_int_equal(arena->held_bytes, arena->in_use_bytes + arena->free_bytes +
                                            arena->fast_bytes + arena->top_bytes +
                                            arena->overhead_bytes);
    /* What of the free bytes is on no resident page is whole pages. */
    const uint64_t freed = arena->free_bytes + arena->fast_bytes + arena->top_bytes;
    const uint64_t resident = arena->free_resident_bytes + arena->top_resident_bytes +
                              arena->free_shared_bytes.value;
    assert_int_equal(arena->free_shared_bytes.state, FACT_OK);
    assert_true(resident <= freed);
    assert_int_equal((freed - resident) % page_bytes, 0);
}

void compare_report(
    const struct glibc_facts *glibc, const struct report *report, uint64_t page_bytes)
{
    uint64_t in_use = 0, freed = 0, held = 0;

    if (glibc->state != FACT_OK) {
        fail_msg("%s: %s", fact_state_names[glibc->state], glibc->why);
    }
    assert_int_equal(glibc->arena_count, report->arena_count);
    for (size_t i = 0; i < glibc->arena_count; i++) {
        const struct glibc_arena *arena = &glibc->arenas[i];
        compare_arena(arena, &report->arenas[i], page_bytes);
        held += arena->held_bytes;
        in_use += arena->in_use_bytes + arena->overhead_bytes;
        freed += arena->free_bytes + arena->fast_bytes + arena->top_bytes;
    }
    assert_int_equal(held, report->arena_bytes);
    assert_int_equal(in_use, report->in_use_bytes);
    assert_int_equal(freed, report->free_bytes);
    assert_int_equal(glibc->parameters.state, FACT_OK);
    assert_int_equal(glibc->parameters.mmapped_blocks, report->mmapped_blocks);
    assert_int_equal(glibc->parameters.mmapped_bytes, report->mmapped_bytes);
    assert_int_equal(glibc->arenas[0].top_bytes, report->top_bytes);
    assert_int_equal(glibc->mmapped_found_bytes.state, FACT_OK);
    assert_int_equal(glibc->mmapped_found_bytes.value, report->mmapped_bytes);
}
