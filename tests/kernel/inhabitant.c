/*
 * inhabitant.c - a process with a known mix of memory, for a cgroup of a test kernel.
 *
 *   inhabitant ANON_MIB FILE SHMEM_FILE SHMEM_MIB   touches, reads, writes, says ready, touches
 *   inhabitant as UID PROGRAM [ARGUMENT...]         becomes PROGRAM as that user
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { MIB = 1 << 20, PAGE_BYTES = 4096, PAUSE_MICROSECONDS = 50000 };

static int fail(const char *what)
{
    fprintf(stderr, "inhabitant: %s: %s\n", what, strerror(errno));
    return 1;
}

static int become(char **argv)
{
    const uid_t uid = (uid_t)strtoul(argv[2], NULL, 10);

    if (setgroups(0, NULL) != 0 || setgid((gid_t)uid) != 0 || setuid(uid) != 0) {
        return fail("cannot become another user");
    }
    execv(argv[3], argv + 3);
    return fail(argv[3]);
}

/* Pages of the file come into the page cache, charged to this process's cgroup. */
static int read_whole(const char *path)
{
    static char block[1 << 16];
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length;

    if (fd < 0) {
        return fail(path);
    }
    do {
        length = read(fd, block, sizeof(block));
    } while (length > 0);
    close(fd);
    return length == 0 ? 0 : fail(path);
}

static int write_file(const char *path, size_t mib)
{
    static char block[MIB];
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    if (fd < 0) {
        return fail(path);
    }
    memset(block, 1, sizeof(block));
    for (size_t i = 0; i < mib; i++) {
        if (write(fd, block, sizeof(block)) != (ssize_t)sizeof(block)) {
            return fail(path);
        }
    }
    close(fd);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc >= 4 && strcmp(argv[1], "as") == 0) {
        return become(argv);
    }
    if (argc != 5) {
        fprintf(stderr, "usage: inhabitant ANON_MIB FILE SHMEM_FILE SHMEM_MIB\n");
        return 2;
    }
    const size_t bytes = strtoul(argv[1], NULL, 10) * MIB;
    char *memory =
        mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        return fail("mmap");
    }
    memset(memory, 1, bytes);
    if ((*argv[2] != '\0' && read_whole(argv[2]) != 0) ||
        (*argv[3] != '\0' && write_file(argv[3], strtoul(argv[4], NULL, 10)) != 0)) {
        return 1;
    }
    printf("ready %d\n", (int)getpid());
    fflush(stdout);
    for (;;) { /* uses what it has, so that taking it away costs something */
        for (size_t i = 0; i < bytes; i += PAGE_BYTES) {
            memory[i]++;
        }
        usleep(PAUSE_MICROSECONDS);
    }
}
