/*
 * mapping_line.c - "start-end perms offset major:minor inode   path".
 *
 * Written by show_map_vma(), fs/proc/task_mmu.c. Of the path only the line feed is escaped, as
 * \012, and a backslash is not, so a file whose name really holds the four characters \012
 * cannot be told from one with a line feed. Nor can a file whose name really ends in
 * " (deleted)". Blanks are printed as they are: the path is everything behind the blanks that
 * follow the inode, and it may be empty.
 */
#include "facts/mapping_line.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

#include "base/number.h"

#define DELETED_MARK " (deleted)"
#define ESCAPED_LINE_FEED "\\012"

bool mapping_line_is_header(const char *line)
{
    /* Keys of smaps start with a capital letter, addresses are in small ones. */
    return (line[0] >= '0' && line[0] <= '9') || (line[0] >= 'a' && line[0] <= 'f');
}

static int read_permissions(const char **text, uint32_t *permissions)
{
    static const char letters[] = "rwx";
    static const uint32_t bits[] = {MAPPING_READ, MAPPING_WRITE, MAPPING_EXECUTE};
    const char *at = *text;

    *permissions = 0;
    for (size_t i = 0; i < sizeof(bits) / sizeof(bits[0]); i++, at++) {
        if (*at == letters[i]) {
            *permissions |= bits[i];
        } else if (*at != '-') {
            return -EINVAL;
        }
    }
    if (*at != 'p' && *at != 's') {
        return -EINVAL;
    }
    *permissions |= *at == 's' ? MAPPING_SHARED : 0;
    *text = at + 1;
    return 0;
}

/* A number with the separator behind it. */
static int read_field(const char **text, int base, char separator, uint64_t *value)
{
    int rc = number_read(text, base, value);

    if (rc != 0) {
        return rc;
    }
    if (**text != separator) {
        return -EINVAL;
    }
    (*text)++;
    return 0;
}

static int read_device_and_inode(const char **text, struct mapping *mapping)
{
    uint64_t major;
    uint64_t minor;

    if (read_field(text, 16, ':', &major) != 0 ||
        read_field(text, 16, ' ', &minor) != 0 || major > UINT32_MAX ||
        minor > UINT32_MAX || number_read(text, 10, &mapping->inode) != 0 ||
        (**text != ' ' && **text != '\0')) {
        return -EINVAL;
    }
    mapping->device_major = (uint32_t)major;
    mapping->device_minor = (uint32_t)minor;
    return 0;
}

static void unescape(char *path)
{
    const size_t escape_bytes = strlen(ESCAPED_LINE_FEED);
    char *to = path;

    while (*path != '\0') {
        if (strncmp(path, ESCAPED_LINE_FEED, escape_bytes) == 0) {
            *to++ = '\n';
            path += escape_bytes;
        } else {
            *to++ = *path++;
        }
    }
    *to = '\0';
}

static bool cut_deleted(char *path)
{
    const size_t length = strlen(path);
    const size_t mark_bytes = strlen(DELETED_MARK);

    if (length <= mark_bytes || strcmp(path + length - mark_bytes, DELETED_MARK) != 0) {
        return false;
    }
    path[length - mark_bytes] = '\0';
    return true;
}

int mapping_line_parse(char *line, struct mapping *mapping, char **path)
{
    const char *at = line;

    *mapping = (struct mapping){0};
    if (read_field(&at, 16, '-', &mapping->start) != 0 ||
        read_field(&at, 16, ' ', &mapping->end) != 0 || mapping->end <= mapping->start ||
        read_permissions(&at, &mapping->permissions) != 0 || *at++ != ' ' ||
        read_field(&at, 16, ' ', &mapping->offset_bytes) != 0 ||
        read_device_and_inode(&at, mapping) != 0) {
        return -EINVAL;
    }
    at += strspn(at, " ");
    *path = line + (at - line);
    unescape(*path);
    mapping->deleted = cut_deleted(*path);
    return 0;
}

uint32_t mapping_line_flags(const char *text)
{
    static const struct {
        char name[3];
        uint32_t flag;
    } known[] = {{"nr", MAPPING_NORESERVE}, {"ht", MAPPING_HUGETLB},
        {"lo", MAPPING_LOCKED}, {"hg", MAPPING_HUGEPAGE}, {"nh", MAPPING_NOHUGEPAGE},
        {"gd", MAPPING_GROWSDOWN}, {"io", MAPPING_IO}, {"pf", MAPPING_IO}};
    uint32_t flags = 0;

    for (;;) {
        text += strspn(text, " \t");
        const size_t length = strcspn(text, " \t");
        if (length == 0) {
            return flags;
        }
        for (size_t i = 0; length == 2 && i < sizeof(known) / sizeof(known[0]); i++) {
            flags |= strncmp(text, known[i].name, 2) == 0 ? known[i].flag : 0;
        }
        text += length;
    }
}
