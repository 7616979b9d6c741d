/*
 * kernel_text.c - "key number number..." lines, as proc(5) and cgroup-v2.rst describe them.
 *
 * Files are read whole first, at most 64 KiB: what lies behind is not looked for.
 */
#include "trial/kernel_text.h"

#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/descriptor.h"
#include "base/number.h"

enum { MOST_BYTES = 64 << 10 };

static const char *behind_word(const char *text)
{
    text += strspn(text, " ");
    return text + strcspn(text, " \n");
}

bool kernel_text_fields(const char *text, size_t skip, uint64_t *values, size_t count)
{
    for (size_t i = 0; i < skip; i++) {
        text = behind_word(text);
    }
    for (size_t i = 0; i < count; i++) {
        text += strspn(text, " ");
        if (number_read(&text, 10, &values[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* The line that begins with the word key, or NULL. */
static const char *find_line(const char *text, const char *key)
{
    const size_t bytes = strlen(key);

    while (text != NULL && *text != '\0') {
        if (bytes == 0 || (strncmp(text, key, bytes) == 0 && text[bytes] == ' ')) {
            return text + bytes;
        }
        text = strchr(text, '\n');
        text = text != NULL ? text + 1 : NULL;
    }
    return NULL;
}

bool kernel_text_numbers(
    const char *path, const char *key, uint64_t *values, size_t count)
{
    struct buffer text;
    bool found = false;
    const int fd = open(path, O_RDONLY | O_CLOEXEC);

    if (fd < 0) {
        return false;
    }
    buffer_init(&text);
    (void)descriptor_read_all(fd, MOST_BYTES, &text); /* what was read will do */
    (void)close(fd);
    const char *line = find_line(buffer_text(&text), key);
    if (line != NULL) {
        found = kernel_text_fields(line, 0, values, count);
    }
    buffer_release(&text);
    return found;
}
