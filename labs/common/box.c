/*
 * box.c - memory cgroups: /sys/fs/cgroup/memory (version 1) or /sys/fs/cgroup (version 2).
 *
 * Version 2 is taken when its root lists the memory controller, as
 * Documentation/admin-guide/cgroup-v2.rst says; a controller is in one hierarchy only. In
 * version 2 a cgroup with processes cannot have children with controllers, so the boxes lie
 * in a parent of their own without processes.
 */
#include "box.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"

enum { TEXT_BYTES = 16384, REMOVE_ROUNDS = 200, REMOVE_PAUSE_MS = 10 };

static const char *const roots[] = {"", "/sys/fs/cgroup/memory", "/sys/fs/cgroup"};

static int write_text(const char *folder, const char *file, const char *text)
{
    char path[BOX_PATH_BYTES + 64];

    (void)snprintf(path, sizeof(path), "%s/%s", folder, file);
    const int out = open(path, O_WRONLY | O_CLOEXEC);
    if (out < 0) {
        return -errno;
    }
    const ssize_t written = write(out, text, strlen(text));
    const int error = written == (ssize_t)strlen(text) ? 0 : written < 0 ? -errno : -EIO;
    (void)close(out);
    return error;
}

/* The text of a file, "" when there is none. */
static void read_text(const char *folder, const char *file, char *text, size_t bytes)
{
    char path[BOX_PATH_BYTES + 64];

    text[0] = '\0';
    (void)snprintf(path, sizeof(path), "%s/%s", folder, file);
    const int in = open(path, O_RDONLY | O_CLOEXEC);
    if (in < 0) {
        return;
    }
    const ssize_t length = read(in, text, bytes - 1);
    text[length > 0 ? length : 0] = '\0';
    (void)close(in);
}

static int controller_version(void)
{
    char text[TEXT_BYTES];

    read_text(roots[2], "cgroup.controllers", text, sizeof(text));
    if (strstr(text, "memory") != NULL) {
        return 2;
    }
    read_text(roots[1], "memory.usage_in_bytes", text, sizeof(text));
    return text[0] != '\0' ? 1 : 0;
}

static bool refuse(struct box *box, const char *what, int error)
{
    box->version = 0;
    (void)snprintf(box->why, sizeof(box->why), "%s: %s", what, strerror(error));
    return false;
}

/* The folder of the parent, made when it is missing, with the controller for its children. */
static int make_parent(
    const struct box *box, const char *parent, char *path, size_t bytes)
{
    (void)snprintf(path, bytes, "%s/%s", roots[box->version], parent);
    if (mkdir(path, S_IRWXU) != 0 && errno != EEXIST) {
        return -errno;
    }
    if (box->version == 2) {
        (void)write_text(roots[2], "cgroup.subtree_control", "+memory");
        return write_text(path, "cgroup.subtree_control", "+memory");
    }
    return 0;
}

bool box_make(struct box *box, const char *parent, const char *name, int64_t limit_bytes)
{
    char folder[BOX_PATH_BYTES / 2];
    char limit[LAB_CELL_BYTES];

    *box = (struct box){.version = controller_version()};
    if (box->version == 0) {
        return refuse(box, "no memory controller of cgroups is mounted", ENOENT);
    }
    int error = make_parent(box, parent, folder, sizeof(folder));
    if (error != 0) {
        return refuse(box, "cannot make a cgroup", -error);
    }
    (void)snprintf(box->path, sizeof(box->path), "%s/%s", folder, name);
    if (mkdir(box->path, S_IRWXU) != 0) {
        return refuse(box, "cannot make a cgroup", errno);
    }
    (void)snprintf(limit, sizeof(limit), "%" PRId64, limit_bytes);
    if (limit_bytes > 0) {
        error = write_text(
            box->path, box->version == 2 ? "memory.max" : "memory.limit_in_bytes", limit);
    }
    if (error != 0) {
        (void)rmdir(box->path);
        return refuse(box, "cannot limit a cgroup", -error);
    }
    return true;
}

int box_add(const struct box *box, pid_t pid)
{
    char text[LAB_CELL_BYTES];

    (void)snprintf(text, sizeof(text), "%d", (int)pid);
    return write_text(box->path, "cgroup.procs", text);
}

static int64_t number_in(const char *text)
{
    char *end;
    const long long number = strtoll(text, &end, 10);

    return end != text ? number : LAB_UNKNOWN;
}

int64_t box_number(const struct box *box, const char *file)
{
    char text[TEXT_BYTES];

    read_text(box->path, file, text, sizeof(text));
    return number_in(text);
}

int64_t box_stat(const struct box *box, const char *key)
{
    char text[TEXT_BYTES];
    const size_t length = strlen(key);

    read_text(box->path, "memory.stat", text, sizeof(text));
    for (const char *line = text; line != NULL && *line != '\0';) {
        if (strncmp(line, key, length) == 0 && line[length] == ' ') {
            return number_in(line + length);
        }
        line = strchr(line, '\n');
        line = line != NULL ? line + 1 : NULL;
    }
    return LAB_UNKNOWN;
}

int64_t box_usage(const struct box *box)
{
    return box_number(
        box, box->version == 2 ? "memory.current" : "memory.usage_in_bytes");
}

int64_t box_limit(const struct box *box)
{
    return box_number(box, box->version == 2 ? "memory.max" : "memory.limit_in_bytes");
}

int box_drop_cache(const struct box *box)
{
    return box->version == 2 ? write_text(box->path, "memory.reclaim", "64G")
                             : write_text(box->path, "memory.force_empty", "0");
}

int box_remove(const struct box *box)
{
    for (int round = 0; rmdir(box->path) != 0; round++) {
        if (errno != EBUSY || round == REMOVE_ROUNDS) {
            return -errno;
        }
        lab_sleep_ms(REMOVE_PAUSE_MS);
    }
    return 0;
}

static void remove_below(const char *folder)
{
    DIR *list = opendir(folder);
    struct box box = {.version = 1};

    for (struct dirent *entry; list != NULL && (entry = readdir(list)) != NULL;) {
        if (entry->d_type == DT_DIR && entry->d_name[0] != '.') {
            (void)snprintf(box.path, sizeof(box.path), "%s/%s", folder, entry->d_name);
            (void)box_remove(&box);
        }
    }
    if (list != NULL) {
        (void)closedir(list);
        (void)snprintf(box.path, sizeof(box.path), "%s", folder);
        (void)box_remove(&box);
    }
}

void box_remove_all(const char *parent)
{
    char folder[BOX_PATH_BYTES / 2];

    for (size_t i = 1; i < sizeof(roots) / sizeof(roots[0]); i++) {
        (void)snprintf(folder, sizeof(folder), "%s/%s", roots[i], parent);
        remove_below(folder);
    }
}
