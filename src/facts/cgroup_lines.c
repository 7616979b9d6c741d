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

static int keep_path(struct region *region, bool wanted, struct slice path, char **place)
{
    if (!wanted || *place != NULL) {
        return 0;
    }
    *place = region_copy(region, path.text, path.bytes);
    return *place == NULL ? -ENOMEM : 0;
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
    const struct {
        bool wanted;
        char **place;
    } places[] = {
        {controllers.bytes == 0, &lines->unified},
        {slice_is(controllers, "name=systemd"), &lines->systemd},
        {slice_list_has(controllers, ',', "memory"), &lines->memory},
        {slice_list_has(controllers, ',', "cpu"), &lines->processors},
    };
    int rc = 0;
    for (size_t i = 0; rc == 0 && i < sizeof(places) / sizeof(places[0]); i++) {
        rc = keep_path(region, places[i].wanted, path, places[i].place);
    }
    return rc;
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
