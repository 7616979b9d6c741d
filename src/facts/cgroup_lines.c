/*
 * cgroup_lines.c - the lines "id:controllers:path" of /proc/PID/cgroup.
 *
 * cgroups(7): one line for each hierarchy that is mounted somewhere; the line of version 2
 * has no controllers. A path may hold ':' but no line feed, which the kernel refuses in
 * names (cgroup_mkdir() in kernel/cgroup/cgroup.c, Linux 6.18).
 */
#include "facts/cgroup_lines.h"

#include <errno.h>
#include <string.h>

#include "base/slice.h"

/* Where the path of a line belongs; NULL for a hierarchy that does not matter. */
static char **place_of(struct slice controllers, struct cgroup_lines *lines)
{
    if (controllers.bytes == 0) {
        return &lines->unified;
    }
    if (slice_is(controllers, "name=systemd")) {
        return &lines->systemd;
    }
    return slice_list_has(controllers, ',', "memory") ? &lines->memory : NULL;
}

static int parse_line(
    struct slice path, struct region *region, struct cgroup_lines *lines)
{
    struct slice id;
    struct slice controllers;

    if (!slice_next(&path, ':', &id) || !slice_next(&path, ':', &controllers) ||
        !slice_starts_with(path, "/")) {
        return 0;
    }
    char **place = place_of(controllers, lines);
    if (place == NULL || *place != NULL) {
        return 0;
    }
    *place = region_copy(region, path.text, path.bytes);
    return *place == NULL ? -ENOMEM : 0;
}

int cgroup_lines_parse(
    const char *text, struct region *region, struct cgroup_lines *lines)
{
    struct slice rest = {text, strlen(text)};
    struct slice line;

    *lines = (struct cgroup_lines){0};
    while (slice_next(&rest, '\n', &line)) {
        int rc = parse_line(line, region, lines);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}
