/*
 * claim.c - flock(2) on a folder: the kernel lets go of it however its holder ends.
 *
 * The lock alone would do, also between pid namespaces that share /tmp. The pid in the name is asked
 * as well, so that a folder without a lock is not taken from somebody who is alive. Only folders
 * of our own user count, and no link is followed.
 */
#include "trial/claim.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/number.h"

enum { PATH_BYTES = 4096 };

/* A lock on the folder of that name; below 0: somebody has it, or it is no folder of ours. */
static int lock(int parent, const char *name)
{
    const int fd = openat(parent, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
    struct stat held;
    struct stat named;

    if (fd < 0) {
        return -errno;
    }
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, &held) != 0 ||
        fstatat(parent, name, &named, AT_SYMLINK_NOFOLLOW) != 0 ||
        held.st_ino != named.st_ino || held.st_dev != named.st_dev ||
        held.st_uid != geteuid()) {
        (void)close(fd);
        return -EBUSY;
    }
    return fd;
}

int claim_take(const char *path)
{
    return lock(AT_FDCWD, path);
}

/* "strata-bench-812-..." and no process 812, as far as can be seen. */
static bool is_of_the_dead(const char *name)
{
    const char *at = name + sizeof(CLAIM_PREFIX) - 1;
    uint64_t pid;

    return strncmp(name, CLAIM_PREFIX, sizeof(CLAIM_PREFIX) - 1) == 0 &&
           number_read(&at, 10, &pid) == 0 && *at == '-' && pid > 0 && pid <= INT32_MAX &&
           kill((pid_t)pid, 0) != 0 && errno == ESRCH;
}

size_t claim_sweep(const char *parent, int (*remove_one)(const char *path))
{
    DIR *stream = opendir(parent);
    size_t removed = 0;

    for (struct dirent *entry; stream != NULL && (entry = readdir(stream)) != NULL;) {
        char path[PATH_BYTES];
        const int length = snprintf(path, sizeof(path), "%s/%s", parent, entry->d_name);
        if (!is_of_the_dead(entry->d_name) || length >= (int)sizeof(path)) {
            continue;
        }
        const int fd = lock(dirfd(stream), entry->d_name);
        if (fd >= 0) {
            removed += remove_one(path) == 0 ? 1 : 0;
            (void)close(fd);
        }
    }
    if (stream != NULL) {
        (void)closedir(stream);
    }
    return removed;
}
