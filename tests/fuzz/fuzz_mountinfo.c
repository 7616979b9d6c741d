/*
 * fuzz_mountinfo.c - any text as mountinfo, up to a zero byte, and a path behind it.
 *
 * A folder that is found must lie below a mount point and must not climb out of it.
 */
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "facts/container_mounts.h"
#include "facts/mountinfo.h"

enum { REGION_BYTES = 4 << 20 };

static void check_folder(const struct cgroup_mounts *mounts, uint32_t version,
    const char *path, struct region *region)
{
    char *folder;
    bool below = false;

    if (mountinfo_folder(mounts, version, path, region, &folder) != 0) {
        return;
    }
    for (size_t i = 0; i < mounts->count; i++) {
        const char *point = mounts->items[i].point;
        size_t bytes = strcmp(point, "/") == 0 ? 0 : strlen(point);
        const char *rest = folder + bytes;
        below = below ||
                (strncmp(folder, point, bytes) == 0 && strstr(rest, "/../") == NULL &&
                    (strlen(rest) < 3 || strcmp(rest + strlen(rest) - 3, "/..") != 0));
    }
    BUG_IF(!below);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    struct cgroup_identity identity = {0};
    struct cgroup_mounts mounts;
    struct region region;
    char *text = malloc(bytes + 2);

    BUG_IF(text == NULL);
    memcpy(text, data, bytes);
    text[bytes] = '\0';
    text[bytes + 1] = '\0';
    const char *path = text + strlen(text) + 1;
    region_init(&region, REGION_BYTES);
    if (mountinfo_parse(text, &region, &mounts) == 0) {
        BUG_IF(mounts.count > MOUNTINFO_MAX_MOUNTS);
        check_folder(&mounts, 1, path, &region);
        check_folder(&mounts, 2, path, &region);
    }
    (void)container_mounts_identify(text, &region, &identity);
    region_release(&region);
    free(text);
    return 0;
}
