/*
 * mountinfo.c - the lines of /proc/PID/mountinfo that are cgroup hierarchies.
 *
 * proc_pid_mountinfo(5): "id parent major:minor root point options [optional...] - type
 * source super-options". Root and point have blanks, tabs, line feeds and backslashes as
 * octal escapes (seq_path() in fs/proc_namespace.c, Linux 6.18). Root is shown relative to
 * the cgroup namespace of the reader, as are the paths of /proc/PID/cgroup, so the two
 * can be compared; both start with "/.." when they lie outside of that namespace.
 */
#include "facts/mountinfo.h"

#include <errno.h>
#include <string.h>

/* Places of the fields in front of the optional ones, and behind the lone "-". */
enum { FIELD_ROOT = 3, FIELD_POINT = 4, FIELDS_IN_FRONT = 6 };

static bool parse_line(struct slice text, struct mountinfo_line *line)
{
    struct slice field;
    struct slice source;

    for (int i = 0; i < FIELDS_IN_FRONT; i++) {
        if (!slice_next(&text, ' ', &field)) {
            return false;
        }
        if (i == FIELD_ROOT) {
            line->root = field;
        } else if (i == FIELD_POINT) {
            line->point = field;
        }
    }
    while (slice_next(&text, ' ', &field) && !slice_is(field, "-")) {
    }
    if (!slice_next(&text, ' ', &line->type) || !slice_next(&text, ' ', &source)) {
        return false;
    }
    line->options = text;
    return slice_starts_with(line->root, "/") && slice_starts_with(line->point, "/");
}

bool mountinfo_next(struct slice *rest, struct mountinfo_line *line)
{
    struct slice text;

    while (slice_next(rest, '\n', &text)) {
        if (parse_line(text, line)) {
            return true;
        }
    }
    return false;
}

static bool is_hierarchy(
    const struct mountinfo_line *line, enum cgroup_hierarchy hierarchy)
{
    if (hierarchy == CGROUP_VERSION_2) {
        return slice_is(line->type, "cgroup2");
    }
    return slice_is(line->type, "cgroup") &&
           slice_list_has(
               line->options, ',', hierarchy == CGROUP_PROCESSORS ? "cpu" : "memory");
}

static int octal(const char *text)
{
    int value = 0;

    for (int i = 0; i < 3; i++) {
        if (text[i] < '0' || text[i] > '7') {
            return -1;
        }
        value = value * 8 + (text[i] - '0');
    }
    return value > 0 && value <= UINT8_MAX ? value : -1;
}

void mountinfo_unescape(char *text)
{
    const char *from = text;
    char *to = text;

    while (*from != '\0') {
        int value = *from == '\\' ? octal(from + 1) : -1;
        *to++ = value < 0 ? *from : (char)value;
        from += value < 0 ? 1 : 4;
    }
    *to = '\0';
}

static char *copy_unescaped(struct region *region, struct slice slice)
{
    char *text = region_copy(region, slice.text, slice.bytes);

    if (text != NULL) {
        mountinfo_unescape(text);
    }
    return text;
}

static int add_mount(struct region *region, struct cgroup_mounts *mounts,
    uint32_t version, const struct mountinfo_line *line)
{
    struct cgroup_mount *mount;

    if (mounts->count == MOUNTINFO_MAX_MOUNTS) {
        return 0;
    }
    mount = region_grow(
        region, &mounts->items, mounts->count, MOUNTINFO_MAX_MOUNTS, sizeof(*mount));
    if (mount == NULL) {
        return -ENOMEM;
    }
    mount->version = version;
    mount->root = copy_unescaped(region, line->root);
    mount->point = copy_unescaped(region, line->point);
    if (mount->root == NULL || mount->point == NULL) {
        return -ENOMEM;
    }
    mounts->count++;
    return 0;
}

int mountinfo_parse(const char *text, struct region *region, struct cgroup_mounts *mounts)
{
    static const enum cgroup_hierarchy hierarchies[] = {
        CGROUP_VERSION_1, CGROUP_VERSION_2, CGROUP_PROCESSORS};
    struct slice rest = {text, strlen(text)};
    struct mountinfo_line line;

    *mounts = (struct cgroup_mounts){0};
    while (mountinfo_next(&rest, &line)) {
        for (size_t i = 0; i < sizeof(hierarchies) / sizeof(hierarchies[0]); i++) {
            int rc = is_hierarchy(&line, hierarchies[i])
                         ? add_mount(region, mounts, hierarchies[i], &line)
                         : 0;
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

/* True when a component of path is "..": it leads out of what the mount shows. */
static bool climbs(const char *path)
{
    for (const char *at = strstr(path, ".."); at != NULL; at = strstr(at + 1, "..")) {
        bool starts = at == path || at[-1] == '/';
        if (starts && (at[2] == '/' || at[2] == '\0')) {
            return true;
        }
    }
    return false;
}

/* What of path lies below root: "" for root itself; NULL when path is not below. */
static const char *below(const char *path, const char *root)
{
    size_t bytes = strcmp(root, "/") == 0 ? 0 : strlen(root);

    if (strncmp(path, root, bytes) != 0 || (path[bytes] != '/' && path[bytes] != '\0') ||
        climbs(path + bytes)) {
        return NULL;
    }
    return strcmp(path + bytes, "/") == 0 ? "" : path + bytes;
}

int mountinfo_folder(const struct cgroup_mounts *mounts, uint32_t version,
    const char *path, struct region *region, char **folder)
{
    const struct cgroup_mount *best = NULL;
    const char *rest = NULL;

    for (size_t i = 0; i < mounts->count; i++) {
        const struct cgroup_mount *mount = &mounts->items[i];
        const char *tail = mount->version == version ? below(path, mount->root) : NULL;
        if (tail != NULL && (best == NULL || strlen(mount->root) >= strlen(best->root))) {
            best = mount;
            rest = tail;
        }
    }
    if (best == NULL) {
        return -ENOENT;
    }
    *folder = region_printf(
        region, "%s%s", strcmp(best->point, "/") == 0 ? "" : best->point, rest);
    return *folder == NULL ? -ENOMEM : 0;
}
