/*
 * capture_file.c - captures from and to files.
 *
 * A capture appears whole or not at all (whole_file.c), and only its owner may read it: it
 * tells much about a machine.
 */
#include "record/capture_file.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/descriptor.h"
#include "base/input_file.h"
#include "record/capture.h"
#include "record/whole_file.h"

static bool is_dash(const char *path)
{
    return strcmp(path, "-") == 0;
}

/* why is set when path is nothing to read, and else left as it is. */
static int load_text(const char *path, struct buffer *buffer, const char **why)
{
    if (is_dash(path)) {
        return descriptor_read_all(STDIN_FILENO, CAPTURE_MAX_BYTES, buffer);
    }
    int fd = open(path, INPUT_FILE_FLAGS);
    if (fd < 0) {
        return -errno;
    }
    int rc = input_file_accept(fd, why);
    rc = rc != 0 ? rc : descriptor_read_all(fd, CAPTURE_MAX_BYTES, buffer);
    close(fd);
    return rc;
}

int capture_load(const char *path, struct facts *facts, struct error *error)
{
    const char *why = NULL;
    struct buffer buffer;
    int rc;

    buffer_init(&buffer);
    rc = load_text(path, &buffer, &why);
    if (rc == -EFBIG) {
        (void)error_set(error, rc, "cannot read capture '%s': it is larger than %d MiB",
            path, CAPTURE_MAX_BYTES >> 20);
    } else if (rc != 0) {
        (void)error_set(error, rc, "cannot read capture '%s': %s", path,
            why != NULL ? why : strerror(-rc));
    } else {
        rc = capture_read(path, buffer_text(&buffer), buffer.length_bytes, facts, error);
    }
    buffer_release(&buffer);
    return rc;
}

int capture_save(const struct facts *facts, const char *path, struct error *error)
{
    struct buffer buffer;
    int rc;

    buffer_init(&buffer);
    rc = capture_write(facts, &buffer, error);
    if (rc == 0) {
        rc = whole_file_write(path, &buffer, WHOLE_FILE_OWNER_ONLY);
        if (rc != 0) {
            (void)error_set(
                error, rc, "cannot write capture '%s': %s", path, strerror(-rc));
        }
    }
    buffer_release(&buffer);
    return rc;
}
