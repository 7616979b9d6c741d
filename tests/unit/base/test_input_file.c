/* test_input_file.c - what can be read to its end is opened, and nothing is waited for. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/descriptor.h"
#include "base/input_file.h"

enum { PATH_BYTES = 256, LONGEST_SECONDS = 60 };

static char folder[] = "/tmp/strata-input-XXXXXX";

static const char *in_folder(const char *name)
{
    static char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, name);
    return path;
}

static int setup(void **state)
{
    (void)state;
    (void)alarm(LONGEST_SECONDS); /* an open that waits ends the test */
    return mkdtemp(folder) == NULL ? -1 : 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(in_folder("file"));
    (void)unlink(in_folder("pipe"));
    (void)unlink(in_folder("socket"));
    return rmdir(folder);
}

/* A descriptor that was accepted, or -errno. */
static int open_input(const char *path, const char **why)
{
    const int fd = open(path, INPUT_FILE_FLAGS);

    assert_true(fd >= 0);
    const int rc = input_file_accept(fd, why);
    if (rc != 0) {
        assert_int_equal(close(fd), 0);
    }
    return rc != 0 ? rc : fd;
}

static void assert_no_file(const char *path, int code, const char *why_part)
{
    const char *why = NULL;

    assert_int_equal(input_file_check(path, &why), code);
    assert_non_null(why);
    assert_non_null(strstr(why, why_part));
}

static void assert_refused(const char *path, int code, const char *why_part)
{
    const char *why = NULL;

    assert_int_equal(open_input(path, &why), code);
    assert_non_null(why);
    assert_non_null(strstr(why, why_part));
    assert_no_file(path, code, why_part);
}

static void assert_reads(int fd, const char *text)
{
    struct buffer buffer;

    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFL) & O_ACCMODE, O_RDONLY);
    buffer_init(&buffer);
    assert_int_equal(descriptor_read_all(fd, PATH_BYTES, &buffer), 0);
    assert_string_equal(buffer_text(&buffer), text);
    buffer_release(&buffer);
    assert_int_equal(close(fd), 0);
}

static void a_regular_file_is_opened(void **state)
{
    const char *why = NULL;
    const int fd = open(in_folder("file"), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

    (void)state;
    assert_true(fd >= 0);
    assert_int_equal(descriptor_write_all(fd, "facts", 5), 0);
    assert_int_equal(close(fd), 0);
    assert_int_equal(input_file_check(in_folder("file"), &why), 0);
    assert_reads(open_input(in_folder("file"), &why), "facts");
    assert_null(why);
}

static void what_may_have_no_end_is_refused(void **state)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};

    (void)state;
    assert_no_file(in_folder("missing"), -ENOENT, "No such file");
    assert_refused(folder, -EISDIR, "a folder");
    assert_refused("/dev/zero", -EINVAL, "a device");
    assert_int_equal(mkfifo(in_folder("pipe"), 0600), 0);
    assert_refused(in_folder("pipe"), -EINVAL, "a named pipe");
    /* Also one that somebody writes to. */
    const int writer = open(in_folder("pipe"), O_RDWR | O_CLOEXEC);
    assert_true(writer >= 0);
    assert_refused(in_folder("pipe"), -EINVAL, "a named pipe");
    assert_int_equal(close(writer), 0);

    (void)snprintf(address.sun_path, sizeof(address.sun_path), "%s/socket", folder);
    const int listener = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_true(listener >= 0);
    assert_int_equal(
        bind(listener, (const struct sockaddr *)&address, sizeof(address)), 0);
    assert_no_file(in_folder("socket"), -EINVAL, "a socket");
    assert_int_equal(close(listener), 0);
}

/* As <(command) of a shell; its writer may be slower than the reader. */
static void a_pipe_of_this_process_is_read_to_its_end(void **state)
{
    const char *why = NULL;
    char path[PATH_BYTES];
    int ends[2];

    (void)state;
    assert_int_equal(pipe(ends), 0);
    (void)snprintf(path, sizeof(path), "/dev/fd/%d", ends[0]);
    const int fd = open_input(path, &why);
    assert_true(fd >= 0);
    assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
    assert_int_equal(descriptor_write_all(ends[1], "facts", 5), 0);
    assert_int_equal(close(ends[1]), 0);
    assert_reads(fd, "facts");
    assert_int_equal(input_file_check(path, &why), -EINVAL);
    assert_int_equal(close(ends[0]), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_regular_file_is_opened),
        cmocka_unit_test(what_may_have_no_end_is_refused),
        cmocka_unit_test(a_pipe_of_this_process_is_read_to_its_end),
    };

    return cmocka_run_group_tests(tests, setup, teardown);
}
