/* test_buffer.c - growth, the terminator, and that a failure stays visible. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buffer.h"

static void text_is_terminated_after_every_append(void **state)
{
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    assert_string_equal(buffer_text(&buffer), "");
    for (int i = 0; i < 2000; i++) {
        buffer_append_char(&buffer, (char)('a' + i % 26));
        assert_int_equal(strlen(buffer_text(&buffer)), (size_t)i + 1);
    }
    buffer_printf(&buffer, "%d%%", 42);
    assert_string_equal(buffer_text(&buffer) + 2000, "42%");
    buffer_reset(&buffer);
    assert_string_equal(buffer_text(&buffer), "");
    buffer_release(&buffer);
}

static void a_failed_growth_is_remembered_and_keeps_the_content(void **state)
{
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    buffer_append_text(&buffer, "kept");
    assert_null(buffer_reserve(&buffer, SIZE_MAX / 2));
    assert_int_equal(buffer_error(&buffer), -ENOMEM);
    buffer_append_text(&buffer, " lost");
    assert_string_equal(buffer_text(&buffer), "kept");
    buffer_reset(&buffer);
    assert_int_equal(buffer_error(&buffer), 0);
    buffer_release(&buffer);
}

static void bytes_written_into_reserved_room_count_once_committed(void **state)
{
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    char *place = buffer_reserve(&buffer, 5000);
    assert_non_null(place);
    memset(place, 'x', 5000);
    assert_int_equal(buffer.length_bytes, 0);
    buffer_commit(&buffer, 5000);
    assert_int_equal(buffer.length_bytes, 5000);
    assert_int_equal(buffer_text(&buffer)[5000], '\0');
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(text_is_terminated_after_every_append),
        cmocka_unit_test(a_failed_growth_is_remembered_and_keeps_the_content),
        cmocka_unit_test(bytes_written_into_reserved_room_count_once_committed),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
