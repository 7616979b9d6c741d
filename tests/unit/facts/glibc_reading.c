/*
 * glibc_reading.c - sets up a synthetic image for a layout and reads it.
 *
 * What is found is compared to the byte: the image knows what it consists of.
 */
#include "glibc_reading.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include "facts/glibc.h"

enum { REGION_BYTES = 64 << 20 };

struct glibc_reading glibc_reading;

void glibc_reading_begin(enum glibc_layout_id layout)
{
    glibc_image_init(&glibc_reading.image, layout);
    region_init(&glibc_reading.region, REGION_BYTES);
}

const struct glibc_facts *glibc_reading_read(void)
{
    glibc_image_process(&glibc_reading.image, &glibc_reading.process);
    assert_int_equal(glibc_read(&glibc_reading.image.memory, &glibc_reading.region,
                         &glibc_reading.process),
        0);
    assert_false(glibc_reading.image.touched_absent);
    return &glibc_reading.process.glibc;
}

void glibc_reading_end(void)
{
    region_release(&glibc_reading.region);
    glibc_image_release(&glibc_reading.image);
}

void glibc_reading_compare(
    const struct glibc_arena *arena, const struct glibc_arena *expected)
{
    if (arena->state != FACT_OK) {
        fail_msg("%s: %s", fact_state_names[arena->state], arena->why);
    }
    assert_true(arena->address == expected->address);
    assert_int_equal(arena->main, expected->main);
    assert_int_equal(arena->contiguous, expected->contiguous);
    assert_int_equal(arena->plus_minus_bytes, 0);
    assert_int_equal(arena->held_bytes, expected->held_bytes);
    assert_int_equal(arena->free_bytes, expected->free_bytes);
    assert_int_equal(arena->free_chunks, expected->free_chunks);
    assert_int_equal(arena->fast_bytes, expected->fast_bytes);
    assert_int_equal(arena->fast_chunks, expected->fast_chunks);
    assert_int_equal(arena->top_bytes, expected->top_bytes);
    assert_int_equal(arena->in_use_bytes, expected->in_use_bytes);
    assert_int_equal(arena->in_use_chunks, expected->in_use_chunks);
    assert_int_equal(arena->overhead_bytes, expected->overhead_bytes);
    assert_int_equal(arena->cached_bytes, expected->cached_bytes);
}
