/*
 * whole_file.c - a file that others may look at while it is written anew.
 *
 * The text is written beside its final place and then renamed, so that a full disk or an
 * interrupt never leaves half of it under the name that was asked for, and a reader sees the
 * old text or the new one.
 */
#include "record/whole_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/descriptor.h"

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

static int save_and_rename(const char *path, const struct buffer *buffer, unsigned mode)
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
    if (rc == 0 && chmod(temporary.data, mode) != 0) {
        rc = -errno;
    }
    if (rc == 0 && rename(temporary.data, path) != 0) {
        rc = -errno;
    }
    if (rc != 0 && fd >= 0) {
        (void)unlink(temporary.data);
    }
    buffer_release(&temporary);
    return rc;
}

int whole_file_write(const char *path, const struct buffer *buffer, unsigned mode)
{
    struct stat status;

    if (strcmp(path, "-") == 0) {
        return descriptor_write_all(STDOUT_FILENO, buffer->data, buffer->length_bytes);
    }
    if (stat(path, &status) == 0 && !S_ISREG(status.st_mode)) {
        return save_in_place(path, buffer);
    }
    return save_and_rename(path, buffer, mode);
}

bool whole_file_is_same(const char *path, const char *other)
{
    struct stat a;
    struct stat b;

    return stat(path, &a) == 0 && stat(other, &b) == 0 && a.st_dev == b.st_dev &&
           a.st_ino == b.st_ino;
}
