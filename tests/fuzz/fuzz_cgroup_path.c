/*
 * fuzz_cgroup_path.c - any text as a path and as /proc/PID/cgroup.
 *
 * Whatever is recognised is a part of the path (a pod's id but for its dashes), and climbing
 * to parents ends.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "facts/cgroup_lines.h"
#include "facts/cgroup_path.h"

enum { REGION_BYTES = 4 << 20 };

static void check_part(const char *path, const char *part)
{
    BUG_IF(part != NULL && (part[0] == '\0' || strstr(path, part) == NULL));
}

static void check_identity(const char *path, struct region *region)
{
    struct cgroup_identity identity;

    if (cgroup_path_identify(path, region, &identity) != 0) {
        return;
    }
    check_part(path, identity.container_id);
    check_part(path, identity.unit);
    BUG_IF((identity.runtime == NULL) != (identity.container_id == NULL));
    BUG_IF(identity.pod_uid != NULL && strstr(path, "pod") == NULL);
}

static void climb(char *path)
{
    size_t steps = 0;
    size_t most = strlen(path) + 1;

    while (cgroup_path_to_parent(path)) {
        BUG_IF(++steps > most);
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct cgroup_lines lines;
    struct region region;
    char *text = malloc(bytes + 1);

    BUG_IF(text == NULL);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    region_init(&region, REGION_BYTES);
    check_identity(text, &region);
    if (cgroup_lines_parse(text, &region, &lines) == 0) {
        char *paths[] = {lines.memory, lines.systemd, lines.unified};
        for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
            if (paths[i] != NULL) {
                BUG_IF(paths[i][0] != '/');
                check_identity(paths[i], &region);
                climb(paths[i]);
            }
        }
    }
    climb(text);
    region_release(&region);
    free(text);
    return 0;
}
