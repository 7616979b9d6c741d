/* test_descriptor.c - pieces become a whole; bounds and failures are told. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/descriptor.h"

/* A pipe that already holds text and has no writer any more. */
static int pipe_with(const char *text)
{
    int ends[2];

    assert_int_equal(pipe(ends), 0);
    assert_int_equal(descriptor_write_all(ends[1], text, strlen(text)), 0);
    assert_int_equal(close(ends[1]), 0);
    return ends[0];
}

static int read_bounded(const char *text, size_t maximum_bytes, struct buffer *buffer)
{
    int fd = pipe_with(text);
    int rc = descriptor_read_all(fd, maximum_bytes, buffer);

    assert_int_equal(close(fd), 0);
    return rc;
}

static void all_is_appended_up_to_the_bound(void **state)
{
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    assert_int_equal(read_bounded("arena ", 6, &buffer), 0);
    assert_int_equal(read_bounded("heap", 10, &buffer), 0);
    assert_string_equal(buffer_text(&buffer), "arena heap");
    assert_int_equal(read_bounded("s", 10, &buffer), -EFBIG);
    assert_string_equal(buffer_text(&buffer), "arena heap");
    assert_int_equal(read_bounded("", 10, &buffer), 0);
    buffer_release(&buffer);
}

static void failures_are_negative_errno(void **state)
{
    struct buffer buffer;
    char byte;

    (void)state;
    buffer_init(&buffer);
    assert_int_equal(descriptor_read(-1, &byte, 1), -EBADF);
    assert_int_equal(descriptor_read_all(-1, 10, &buffer), -EBADF);
    assert_int_equal(descriptor_write_all(-1, "x", 1), -EBADF);
    assert_int_equal(descriptor_write_all(-1, "x", 0), 0);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_is_appended_up_to_the_bound),
        cmocka_unit_test(failures_are_negative_errno),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
