/* process_folder.h - the folder of one process in /proc, held open while it is read. */
#ifndef STRATA_FACTS_PROCESS_FOLDER_H
#define STRATA_FACTS_PROCESS_FOLDER_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "facts/root.h"
#include "facts/stat.h"

/*
 * Files are opened below fd only, so what is read is always of the process that was there
 * at the open, even when its pid is given to another one meanwhile.
 */
struct process_folder {
    struct facts_root *root;
    int fd;
    int32_t pid;
    int32_t thread; /* pid, or the thread that is read in its stead, see below */
    struct process_stat stat; /* as at the open; name and parent are the process's */
    bool executable_known;    /* process_folder_watch() could read the two below */
    uint64_t executable_device;
    uint64_t executable_inode;
};

/*
 * Opens /proc/pid. When the first thread has ended and others run on, the kernel shows the
 * process as a zombie without memory (mm is NULL, kernel/exit.c); then the folder of another
 * of its threads is opened, which shows it all. 0; -ESRCH no such process; -EINVAL
 * unreadable stat; or -errno.
 */
int process_folder_open(
    struct facts_root *root, int32_t pid, struct process_folder *folder);
void process_folder_close(struct process_folder *folder);

/* Notes which program it runs now, so that process_folder_check() can compare. */
void process_folder_watch(struct process_folder *folder);

/* Reads the whole file name into buffer; as facts_read_file(), and a vanished process is -ESRCH. */
int process_folder_read(struct process_folder *folder, const char *name,
    size_t maximum_bytes, struct buffer *buffer);

/* Opens the file name for reading: a descriptor or -errno, -ESRCH when the process is gone. */
int process_folder_open_file(struct process_folder *folder, const char *name);

/*
 * Is it still what it was when it was watched? 0: the same program; -ESRCH: it has ended;
 * -ESTALE: it has started another program by execve, so facts read before and
 * after do not belong together.
 */
int process_folder_check(struct process_folder *folder);

/* Is it in our network namespace? Without permission to look: not known, so no. */
bool process_folder_shares_network(const struct process_folder *folder);

#endif
