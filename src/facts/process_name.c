/*
 * process_name.c - reads cmdline and exe, and keeps of them what is no secret.
 *
 * Servers overwrite their command line with a title ("nginx: worker process", "php-fpm: pool
 * www" and blanks to the old length); the kernel then hands out one text without a NUL
 * (fs/proc/base.c, get_mm_cmdline()). Other text in that form may be arguments.
 */
#include "facts/process_name.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

enum {
    COMMAND_LINE_BYTES = 4096, /* all that is read of it; it may be 2 MiB long */
    TITLE_BYTES = 256,         /* all that is kept */
    PATH_BYTES = 4096,
};

#define DELETED_MARK " (deleted)"

size_t process_title_bytes(const char *text, size_t bytes)
{
    const size_t first = strnlen(text, bytes);
    const char *blank = memchr(text, ' ', first);
    const bool alone = first >= bytes || text[bytes - 1] != '\0' || first + 1 == bytes ||
                       text[first + 1] == '\0';

    if (blank == NULL) {
        return first;
    }
    if (alone && (blank == text || blank[-1] != ':')) {
        return (size_t)(blank - text); /* no title: perhaps arguments in disguise */
    }
    const char *option = memmem(text, first, " -", strlen(" -"));
    size_t length = option == NULL ? first : (size_t)(option - text);
    while (length > 0 && text[length - 1] == ' ') {
        length--;
    }
    return length;
}

int process_title_read(struct process_folder *folder, struct region *region, char **title)
{
    char text[COMMAND_LINE_BYTES];
    int fd = process_folder_open_file(folder, "cmdline");

    *title = NULL;
    if (fd < 0) {
        return fd == -ESRCH ? fd : 0;
    }
    ssize_t got = read(fd, text, sizeof(text));
    int rc = got < 0 && errno == ESRCH ? -ESRCH : 0;
    close(fd);
    if (got <= 0) {
        return rc;
    }
    folder->root->bytes_read += (uint64_t)got;
    const size_t length = process_title_bytes(text, (size_t)got);
    *title = region_copy(region, text, length < TITLE_BYTES ? length : TITLE_BYTES);
    return *title == NULL ? -ENOMEM : 0;
}

int process_executable_read(
    struct process_folder *folder, struct region *region, char **path, bool *deleted)
{
    const size_t mark_bytes = strlen(DELETED_MARK);
    char text[PATH_BYTES];
    ssize_t got = readlinkat(folder->fd, "exe", text, sizeof(text));

    *path = NULL;
    *deleted = false;
    if (got <= 0) {
        return 0; /* denied, or a kernel thread: the name must do */
    }
    size_t length = (size_t)got;
    if (length > mark_bytes &&
        memcmp(text + length - mark_bytes, DELETED_MARK, mark_bytes) == 0) {
        length -= mark_bytes;
        *deleted = true;
    }
    *path = region_copy(region, text, length);
    return *path == NULL ? -ENOMEM : 0;
}

const char *process_path_base(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash == NULL ? path : slash + 1;
}
