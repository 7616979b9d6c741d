/*
 * cgroup_reader.c - mounts, namespace, and the way to the folder of a cgroup.
 *
 * The mounts of our own process are read, since it is through them that folders are opened,
 * whatever process is asked about. Which hierarchy bills memory follows from them: a
 * controller belongs to one hierarchy only, so a mount of version 1 with the memory
 * controller decides, and version 2 counts when there is none.
 */
#include "facts/cgroup_reader.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "base/slice.h"

enum {
    MOUNTINFO_MAX_BYTES = 16 << 20,
    LINK_BYTES = 64,
    FOLDER_REGION_BYTES = 1 << 20,
};

/* PROC_CGROUP_INIT_INO of include/linux/proc_ns.h, Linux 4.6 to 6.18. */
static const char initial_namespace[] = "cgroup:[4026531835]";
static bool reader_is_namespaced(const struct facts_root *root)
{
    char link[LINK_BYTES];
    ssize_t bytes = readlinkat(root->proc_fd, "self/ns/cgroup", link, sizeof(link));

    return bytes > 0 && !slice_is((struct slice){link, (size_t)bytes}, initial_namespace);
}

int cgroup_reader_init(
    struct cgroup_reader *reader, struct facts_root *root, struct region *region)
{
    *reader = (struct cgroup_reader){.root = root};
    buffer_init(&reader->scratch);
    reader->namespaced = reader_is_namespaced(root);
    int rc = facts_read_file(
        root, root->proc_fd, "self/mountinfo", MOUNTINFO_MAX_BYTES, &reader->scratch);
    if (rc != 0) {
        return rc == -ENOMEM ? rc : 0;
    }
    rc = mountinfo_parse(buffer_text(&reader->scratch), region, &reader->mounts);
    for (size_t i = 0; rc == 0 && i < reader->mounts.count; i++) {
        const uint32_t version = reader->mounts.items[i].version;
        if (reader->version != CGROUP_VERSION_1 && version != CGROUP_PROCESSORS) {
            reader->version = version;
        }
    }
    return rc;
}

void cgroup_reader_release(struct cgroup_reader *reader)
{
    buffer_release(&reader->scratch);
}

/*
 * The folder as it is reached from here: below the prefix of a tree, unless the mount point
 * lies there already (the host's / mounted into a container).
 */
static int open_below_prefix(const char *prefix, const char *folder)
{
    size_t bytes = strlen(prefix);
    bool inside = strncmp(folder, prefix, bytes) == 0 && folder[bytes] == '/';
    struct buffer path;

    buffer_init(&path);
    buffer_printf(&path, "%s%s", inside ? "" : prefix, folder);
    if (buffer_error(&path) != 0) {
        buffer_release(&path);
        return -ENOMEM;
    }
    int fd = open(path.data, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (fd < 0) {
        fd = -errno;
    }
    buffer_release(&path);
    return fd;
}

int cgroup_open_version(
    const struct cgroup_reader *reader, uint32_t version, const char *path)
{
    struct region region;
    char *folder;

    region_init(&region, FOLDER_REGION_BYTES);
    int rc = mountinfo_folder(&reader->mounts, version, path, &region, &folder);
    if (rc == 0) {
        rc = open_below_prefix(reader->root->prefix, folder);
    }
    region_release(&region);
    return rc;
}

int cgroup_open(const struct cgroup_reader *reader, const char *path)
{
    return cgroup_open_version(reader, reader->version, path);
}
