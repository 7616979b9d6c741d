/* root.h - where facts are read from: the live kernel, or a tree of fixtures. */
#ifndef STRATA_FACTS_ROOT_H
#define STRATA_FACTS_ROOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "base/buffer.h"
#include "base/error.h"

/*
 * Every reader takes a root, so that a test (or --root DIR) can feed it a captured tree
 * with the folders proc, sys and cgroup below DIR. proc_fd is opened once; a process is read
 * through one descriptor of its own folder, so that a reused pid is never mistaken.
 */
struct facts_root {
    int proc_fd;
    int sys_fd; /* /sys */
    const char
        *prefix; /* "" for the live system, DIR for a tree: put before paths of mounts */
    bool pids_are_ours;        /* proc shows the pids that system calls of ours take */
    bool proc_is_kernels;      /* proc is no tree of copies: the kernel made its files */
    bool ask_nobody;           /* --no-ask: no server is asked what it counts */
    const char *defaults_file; /* option file for databases; NULL: the usual ones */
    uint64_t bytes_read;       /* by all readers so far: the cost that is reported */
};

/* Why a server has no answer with ask_nobody. */
extern const char facts_not_asked[];

/* directory NULL or "/" opens the live system. 0 or -errno with error set. */
int facts_root_open(struct facts_root *root, const char *directory, struct error *error);
void facts_root_close(struct facts_root *root);

/*
 * Opens the regular file name below the folder directory_fd for reading, without waiting:
 * a tree may hold a FIFO or a device where a file is expected. The descriptor, -EINVAL
 * for what is no regular file, or -errno of open.
 */
int facts_open_file(int directory_fd, const char *name);

/*
 * Reads the whole file name below the folder directory_fd, at most maximum_bytes, into buffer
 * (emptied first). /proc files are read with large reads until end of file, since their
 * size is 0 and one short read is not the end. 0, -EFBIG, or -errno of open or read.
 */
int facts_read_file(struct facts_root *root, int directory_fd, const char *name,
    size_t maximum_bytes, struct buffer *buffer);

/*
 * The two above for a file of the folder of a process. The kernel makes those as regular files, so
 * only in a tree of copies it is looked at what they are: that is a sixth of the cost.
 */
int facts_open_process_file(
    const struct facts_root *root, int folder_fd, const char *name);
int facts_read_process_file(struct facts_root *root, int folder_fd, const char *name,
    size_t maximum_bytes, struct buffer *buffer);

/* The same for a file that is open already; its descriptor stays open. */
int facts_read_descriptor(
    struct facts_root *root, int fd, size_t maximum_bytes, struct buffer *buffer);

/* -errno of a read as the state it means: EACCES, EPERM: denied; ENOENT: absent; ESRCH: gone. */
uint32_t facts_state_of(int negative_errno);

#endif
