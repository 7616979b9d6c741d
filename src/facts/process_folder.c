/*
 * process_folder.c - identity of a process while it is read.
 *
 * A process is (pid, start time). A descriptor of /proc/PID never follows a reused pid:
 * its files fail with ESRCH once the process is reaped (fs/proc/base.c). An execve keeps both
 * pid and start time; it is told by the executable's inode and by the start of the stack,
 * which the kernel places anew, at random, for every program (fs/exec.c). Both need
 * permission to look; without it nothing that an execve could spoil is readable either.
 */
#include "facts/process_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { STAT_MAX_BYTES = 16 << 10 };

static int read_stat(struct process_folder *folder, struct process_stat *stat)
{
    struct buffer buffer;
    int rc;

    buffer_init(&buffer);
    rc = process_folder_read(folder, "stat", STAT_MAX_BYTES, &buffer);
    if (rc == 0) {
        rc = process_stat_parse(buffer_text(&buffer), buffer.length_bytes, stat);
    }
    buffer_release(&buffer);
    return rc;
}

void process_folder_watch(struct process_folder *folder)
{
    struct stat status;

    folder->executable_known = fstatat(folder->fd, "exe", &status, 0) == 0;
    if (folder->executable_known) {
        folder->executable_device = status.st_dev;
        folder->executable_inode = status.st_ino;
    }
}

/* Exchanges the folder for that of the thread. False when it has ended, too. */
static bool take_thread(struct process_folder *folder, int task_fd, const char *name)
{
    struct process_folder thread = *folder;

    thread.fd = openat(task_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (thread.fd < 0) {
        return false;
    }
    if (read_stat(&thread, &thread.stat) != 0 || thread.stat.run_state == 'Z') {
        close(thread.fd);
        return false;
    }
    thread.thread = thread.stat.pid;
    memcpy(thread.stat.name, folder->stat.name, sizeof(thread.stat.name));
    close(folder->fd);
    *folder = thread;
    return true;
}

/* A process whose first thread has ended is read through one that has not. */
static void look_for_thread(struct process_folder *folder)
{
    struct dirent *entry;
    int fd = openat(folder->fd, "task", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *task = fd < 0 ? NULL : fdopendir(fd);

    if (task == NULL) {
        if (fd >= 0) {
            close(fd);
        }
        return;
    }
    while ((entry = readdir(task)) != NULL) {
        if (entry->d_name[0] != '.' && take_thread(folder, fd, entry->d_name)) {
            break;
        }
    }
    closedir(task);
}

int process_folder_open(
    struct facts_root *root, int32_t pid, struct process_folder *folder)
{
    char name[sizeof("-2147483648")];
    int rc;

    *folder = (struct process_folder){.root = root, .fd = -1, .pid = pid, .thread = pid};
    (void)snprintf(name, sizeof(name), "%d", pid);
    folder->fd = openat(root->proc_fd, name, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder->fd < 0) {
        return errno == ENOENT || errno == ENOTDIR ? -ESRCH : -errno;
    }
    rc = read_stat(folder, &folder->stat);
    if (rc != 0) {
        process_folder_close(folder);
        return rc;
    }
    if (folder->stat.run_state == 'Z' && folder->stat.thread_count > 1) {
        look_for_thread(folder);
    }
    return 0;
}

void process_folder_close(struct process_folder *folder)
{
    if (folder->fd >= 0) {
        close(folder->fd);
        folder->fd = -1;
    }
}

/* ENOENT is ambiguous: the file does not exist in this kernel, or the process is gone. */
static int gone_or(struct process_folder *folder, int rc)
{
    if (rc == -ENOENT && faccessat(folder->fd, "stat", F_OK, 0) != 0) {
        return -ESRCH;
    }
    return rc;
}

int process_folder_read(struct process_folder *folder, const char *name,
    size_t maximum_bytes, struct buffer *buffer)
{
    return gone_or(folder,
        facts_read_process_file(folder->root, folder->fd, name, maximum_bytes, buffer));
}

int process_folder_open_file(struct process_folder *folder, const char *name)
{
    int fd = facts_open_process_file(folder->root, folder->fd, name);

    return fd >= 0 ? fd : gone_or(folder, fd);
}

int process_folder_check(struct process_folder *folder)
{
    struct process_folder now = *folder;
    int rc = read_stat(folder, &now.stat);

    if (rc == -ENOENT) {
        return -ESRCH;
    }
    if (rc != 0) {
        return rc;
    }
    if (now.stat.start_time_ticks != folder->stat.start_time_ticks ||
        (now.stat.run_state == 'Z' && folder->stat.run_state != 'Z')) {
        return -ESRCH;
    }
    process_folder_watch(&now);
    if (now.stat.stack_start != folder->stat.stack_start ||
        (folder->executable_known && now.executable_known &&
            (now.executable_device != folder->executable_device ||
                now.executable_inode != folder->executable_inode))) {
        return -ESTALE;
    }
    return 0;
}

bool process_folder_shares_network(const struct process_folder *folder)
{
    struct stat own;
    struct stat other;

    return fstatat(folder->fd, "ns/net", &other, 0) == 0 &&
           stat("/proc/self/ns/net", &own) == 0 && own.st_dev == other.st_dev &&
           own.st_ino == other.st_ino;
}
