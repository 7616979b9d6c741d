/*
 * kernel_config.c - /boot/config-RELEASE as distributions install it, or /proc/config.gz
 * of kernels built with CONFIG_IKCONFIG_PROC.
 *
 * A release is text of the kernel, or of a captured tree: one with a '/' in it would lead
 * out of /boot and is not looked up. Both files are some 250 KiB of text; zlib reads
 * plain text as it is (gzread(), zlib 1.2.13), so one loop serves both, with a bound
 * on what a hostile archive may unpack to.
 */
#include "facts/kernel_config.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/buffer.h"
#include "base/slice.h"

enum { CONFIG_MAX_BYTES = 4 << 20, STEP_BYTES = 64 << 10 };

static int unpack(gzFile file, struct buffer *text)
{
    while (text->length_bytes < CONFIG_MAX_BYTES) {
        char *place = buffer_reserve(text, STEP_BYTES);
        if (place == NULL) {
            return -ENOMEM;
        }
        int got = gzread(file, place, STEP_BYTES);
        if (got < 0) {
            return -ENOENT;
        }
        if (got == 0) {
            return 0;
        }
        buffer_commit(text, (size_t)got);
    }
    return -ENOENT;
}

static bool has_line(const struct buffer *text, const char *option)
{
    struct slice rest = {buffer_text(text), text->length_bytes};
    struct slice line;

    while (slice_next(&rest, '\n', &line)) {
        if (slice_starts_with(line, option) &&
            slice_is(slice_cut_front(line, strlen(option)), "=y")) {
            return true;
        }
    }
    return false;
}

/* Reads all of fd, which is closed. */
static int search(struct facts_root *root, int fd, const char *option, bool *set)
{
    struct buffer text;
    gzFile file;

    if (fd < 0) {
        return -ENOENT;
    }
    file = gzdopen(fd, "r");
    if (file == NULL) {
        close(fd);
        return -ENOMEM;
    }
    buffer_init(&text);
    int rc = unpack(file, &text);
    root->bytes_read += text.length_bytes;
    if (rc == 0) {
        *set = has_line(&text, option);
    }
    buffer_release(&text);
    (void)gzclose(file);
    return rc;
}

static int open_boot_file(const struct facts_root *root, const char *release)
{
    struct buffer path;
    int fd = -1;

    if (strchr(release, '/') != NULL) {
        return -1;
    }
    buffer_init(&path);
    buffer_printf(&path, "%s/boot/config-%s", root->prefix, release);
    if (buffer_error(&path) == 0) {
        fd = facts_open_file(AT_FDCWD, path.data);
    }
    buffer_release(&path);
    return fd;
}

int kernel_config_has(
    struct facts_root *root, const char *release, const char *option, bool *set)
{
    int rc = search(root, open_boot_file(root, release), option, set);

    if (rc != -ENOENT) {
        return rc;
    }
    return search(root, facts_open_file(root->proc_fd, "config.gz"), option, set);
}
