/*
 * root.c - opens the trees that facts are read from, and reads whole small files.
 *
 * Files of /proc have size 0 and are generated while they are read; a file is whole only
 * when read(2) returns 0. A process that ends meanwhile gives ESRCH or a short file.
 * A tree of files may hold anything under a known name: open(2) must not wait for the
 * other end of a FIFO, and what is no regular file is not read.
 */
#include "facts/root.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/number.h"
#include "facts_types/fact.h"

enum { PATH_BYTES = 4096, PID_BYTES = sizeof("-2147483648") };

static int open_folder(const char *directory, const char *name)
{
    char path[PATH_BYTES];
    int length = snprintf(path, sizeof(path), "%s/%s", directory, name);

    if (length < 0 || (size_t)length >= sizeof(path)) {
        return -ENAMETOOLONG;
    }
    int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    return fd < 0 ? -errno : fd;
}

/*
 * A /proc may be of another pid namespace: of the host below --root, or one that was
 * mounted before a container got its own. "self" is then another number, or missing.
 */
static bool shows_our_pids(int proc_fd)
{
    char self[PID_BYTES];
    uint64_t pid;
    ssize_t bytes = readlinkat(proc_fd, "self", self, sizeof(self) - 1);

    if (bytes <= 0) {
        return false;
    }
    self[bytes] = '\0';
    return number_parse(self, &pid) == 0 && pid == (uint64_t)getpid();
}

static bool is_kernels(int proc_fd)
{
    struct statfs status;

    return fstatfs(proc_fd, &status) == 0 && status.f_type == PROC_SUPER_MAGIC;
}

const char facts_not_asked[] = "not asked, for --no-ask";

int facts_root_open(struct facts_root *root, const char *directory, struct error *error)
{
    const char *prefix =
        directory == NULL || (directory[0] == '/' && directory[1] == '\0') ? ""
                                                                           : directory;

    *root = (struct facts_root){.proc_fd = -1, .sys_fd = -1, .prefix = prefix};
    root->proc_fd = open_folder(prefix, "proc");
    if (root->proc_fd < 0) {
        int rc = root->proc_fd;
        return error_set(error, rc,
            "cannot open '%s/proc': it is missing or not readable; is /proc mounted?",
            prefix);
    }
    root->pids_are_ours = shows_our_pids(root->proc_fd);
    root->proc_is_kernels = is_kernels(root->proc_fd);
    root->sys_fd = open_folder(prefix, "sys"); /* missing: those facts are absent */
    return 0;
}

void facts_root_close(struct facts_root *root)
{
    if (root->proc_fd >= 0) {
        close(root->proc_fd);
    }
    if (root->sys_fd >= 0) {
        close(root->sys_fd);
    }
    root->proc_fd = -1;
    root->sys_fd = -1;
}

static int open_any_file(int directory_fd, const char *name)
{
    int fd = openat(directory_fd, name, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);

    return fd < 0 ? -errno : fd;
}

int facts_open_file(int directory_fd, const char *name)
{
    struct stat status;
    int fd = open_any_file(directory_fd, name);

    if (fd < 0) {
        return fd;
    }
    if (fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
        close(fd);
        return -EINVAL;
    }
    return fd;
}

int facts_open_process_file(
    const struct facts_root *root, int folder_fd, const char *name)
{
    return root->proc_is_kernels ? open_any_file(folder_fd, name)
                                 : facts_open_file(folder_fd, name);
}

/* Closes fd; a negative one is the failure of its open. */
static int read_and_close(
    struct facts_root *root, int fd, size_t maximum_bytes, struct buffer *buffer)
{
    buffer_reset(buffer);
    if (fd < 0) {
        return fd;
    }
    int rc = facts_read_descriptor(root, fd, maximum_bytes, buffer);
    close(fd);
    return rc;
}

int facts_read_file(struct facts_root *root, int directory_fd, const char *name,
    size_t maximum_bytes, struct buffer *buffer)
{
    return read_and_close(
        root, facts_open_file(directory_fd, name), maximum_bytes, buffer);
}

int facts_read_process_file(struct facts_root *root, int folder_fd, const char *name,
    size_t maximum_bytes, struct buffer *buffer)
{
    return read_and_close(
        root, facts_open_process_file(root, folder_fd, name), maximum_bytes, buffer);
}

int facts_read_descriptor(
    struct facts_root *root, int fd, size_t maximum_bytes, struct buffer *buffer)
{
    buffer_reset(buffer);
    int rc = descriptor_read_all(fd, maximum_bytes, buffer);
    root->bytes_read += buffer->length_bytes;
    return rc;
}

uint32_t facts_state_of(int negative_errno)
{
    switch (-negative_errno) {
    case 0:
        return FACT_OK;
    case EACCES:
    case EPERM:
        return FACT_DENIED;
    case ESRCH:
    case ENODEV: /* a cgroup that was removed while its file was open */
        return FACT_GONE;
    case EFBIG:
    case EINVAL:
    case ERANGE:
        return FACT_MALFORMED;
    default:
        return FACT_ABSENT;
    }
}
