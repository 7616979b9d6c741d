/*
 * capture_file.c - the only file of this layer that touches the world.
 *
 * A capture is written beside its final place and then renamed, so that a full disk or
 * an interrupt never leaves half a capture under the name that was asked for.
 */
#include "record/capture_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/descriptor.h"
#include "record/capture.h"

static bool is_dash(const char *path)
{
    return strcmp(path, "-") == 0;
}

static int load_text(const char *path, struct buffer *buffer)
{
    if (is_dash(path)) {
        return descriptor_read_all(STDIN_FILENO, CAPTURE_MAX_BYTES, buffer);
    }
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return -errno;
    }
    int rc = descriptor_read_all(fd, CAPTURE_MAX_BYTES, buffer);
    close(fd);
    return rc;
}

int capture_load(const char *path, struct facts *facts, struct error *error)
{
    struct buffer buffer;
    int rc;

    buffer_init(&buffer);
    rc = load_text(path, &buffer);
    if (rc == -EFBIG) {
        (void)error_set(error, rc, "cannot read capture '%s': it is larger than %d MiB",
            path, CAPTURE_MAX_BYTES >> 20);
    } else if (rc != 0) {
        (void)error_set(error, rc, "cannot read capture '%s': %s", path, strerror(-rc));
    } else {
        rc = capture_read(path, buffer_text(&buffer), buffer.length_bytes, facts, error);
    }
    buffer_release(&buffer);
    return rc;
}

static int close_written(int fd, int rc)
{
    if (close(fd) != 0 && rc == 0) {
        rc = -errno;
    }
    return rc;
}

static int save_in_place(const char *path, const struct buffer *buffer)
{
    int fd = open(path, O_WRONLY | O_CLOEXEC);

    return fd < 0 ? -errno
                  : close_written(
                        fd, descriptor_write_all(fd, buffer->data, buffer->length_bytes));
}

static int save_and_rename(const char *path, const struct buffer *buffer)
{
    struct buffer temporary;
    int fd;
    int rc;

    buffer_init(&temporary);
    buffer_printf(&temporary, "%s.XXXXXX", path);
    if (buffer_error(&temporary) != 0) {
        buffer_release(&temporary);
        return -ENOMEM;
    }
    fd = mkostemp(temporary.data, O_CLOEXEC); /* mode 0600 */
    rc = fd < 0 ? -errno
                : close_written(
                      fd, descriptor_write_all(fd, buffer->data, buffer->length_bytes));
    if (rc == 0 && rename(temporary.data, path) != 0) {
        rc = -errno;
    }
    if (rc != 0 && fd >= 0) {
        (void)unlink(temporary.data);
    }
    buffer_release(&temporary);
    return rc;
}

static int save_text(const char *path, const struct buffer *buffer)
{
    struct stat status;

    if (is_dash(path)) {
        return descriptor_write_all(STDOUT_FILENO, buffer->data, buffer->length_bytes);
    }
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return save_in_place(path, buffer);
    }
    return save_and_rename(path, buffer);
}

int capture_save(const struct facts *facts, const char *path, struct error *error)
{
    struct buffer buffer;
    int rc;

    buffer_init(&buffer);
    rc = capture_write(facts, &buffer, error);
    if (rc == 0) {
        rc = save_text(path, &buffer);
        if (rc != 0) {
            (void)error_set(
                error, rc, "cannot write capture '%s': %s", path, strerror(-rc));
        }
    }
    buffer_release(&buffer);
    return rc;
}
