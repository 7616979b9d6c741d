/*
 * state_folder.c - a way down that nobody else can bend.
 *
 * Each name is opened relative to the folder before it (openat(2)) and without following a
 * link; a link is only followed when root or this user made it and its folder is one
 * where no other could have put it. Folders are opened to pass through them, since many a
 * /home may be passed and not be read.
 */
#include "cmd/state_folder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ONLY_OWNER = 0700 };

static bool take(char *path, size_t bytes, const char *folder, const char *below)
{
    const int length = snprintf(path, bytes, "%s%s", folder, below);

    return folder[0] == '/' && length > 0 && (size_t)length < bytes;
}

bool state_folder_path(char *path, size_t bytes)
{
    const char *named = secure_getenv("STRATA_STATE");
    const char *systemd = secure_getenv("STATE_DIRECTORY");
    const char *state = secure_getenv("XDG_STATE_HOME");
    const char *home = secure_getenv("HOME");

    if (named != NULL) {
        return take(path, bytes, named, ""); /* "off" is no path */
    }
    if (systemd != NULL && strchr(systemd, ':') == NULL) {
        return take(path, bytes, systemd, "");
    }
    if (geteuid() == 0) {
        return take(path, bytes, "/var/lib/strata", "");
    }
    if (state != NULL && take(path, bytes, state, "/strata")) {
        return true;
    }
    return home != NULL && take(path, bytes, home, "/.local/state/strata");
}

/* Ours or root's, and nobody else may put something into it unless it is sticky. */
static bool is_on_the_way(const struct stat *status)
{
    const bool open_to_all = (status->st_mode & S_IWOTH) != 0;

    return (status->st_uid == 0 || status->st_uid == geteuid()) &&
           (!open_to_all || (status->st_mode & S_ISVTX) != 0);
}

static int open_folder(int folder, const char *name, int flags)
{
    struct stat status;
    int fd = openat(folder, name, O_PATH | O_DIRECTORY | O_CLOEXEC | flags);

    if (fd < 0) {
        return -errno;
    }
    if (fstat(fd, &status) != 0 || !is_on_the_way(&status)) {
        (void)close(fd);
        return -EPERM;
    }
    return fd;
}

/* One step down from folder, of which is_on_the_way() holds. */
static int step(int folder, const char *name, bool make)
{
    struct stat status;
    int fd = open_folder(folder, name, O_NOFOLLOW);

    if (fd == -ENOENT && make) {
        if (mkdirat(folder, name, ONLY_OWNER) != 0 && errno != EEXIST) {
            return -errno;
        }
        return open_folder(folder, name, O_NOFOLLOW);
    }
    if (fd != -ELOOP && fd != -ENOTDIR) {
        return fd;
    }
    if (fstatat(folder, name, &status, AT_SYMLINK_NOFOLLOW) != 0) {
        return -errno;
    }
    if (!S_ISLNK(status.st_mode)) {
        return -ENOTDIR;
    }
    return status.st_uid == 0 || status.st_uid == geteuid() ? open_folder(folder, name, 0)
                                                            : -EPERM;
}

/* The last one is this user's alone, and is read as well. */
static int open_last(int passed)
{
    struct stat status;
    int fd = -EPERM;

    if (fstat(passed, &status) == 0 && status.st_uid == geteuid() &&
        (status.st_mode & (S_IWGRP | S_IWOTH)) == 0) {
        fd = openat(passed, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
        fd = fd < 0 ? -errno : fd;
    }
    (void)close(passed);
    return fd;
}

int state_folder_open(const char *path, bool make)
{
    char text[STATE_FOLDER_BYTES];
    char *rest = text;
    char *name;

    if (path[0] != '/' || strlen(path) >= sizeof(text)) {
        return -EINVAL;
    }
    (void)snprintf(text, sizeof(text), "%s", path);
    int fd = open_folder(AT_FDCWD, "/", 0);
    while (fd >= 0 && (name = strsep(&rest, "/")) != NULL) {
        if (*name == '\0') {
            continue;
        }
        const int next = step(fd, name, make);
        (void)close(fd);
        fd = next;
    }
    return fd < 0 ? fd : open_last(fd);
}
