/*
 * tenant.c - anonymous memory, shared memory, files read once or more often, and many names.
 *
 * A page of a file is on the inactive list after its first use, and moves to the active one
 * when it is used again (folio_mark_accessed(), mm/swap.c). All files are written out, so
 * that no page is dirty. Each empty file leaves a dentry and an inode in the slab.
 */
#include "tenant.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base.h"
#include "settings.h"

enum { PATH_BYTES = 1024, FILE_MODE = 0600, FOLDER_MODE = 0700, READS = 3 };

static void touch(int64_t mib, int flags)
{
    if (mib == 0) {
        return;
    }
    void *memory = mmap(NULL, (size_t)(mib * LAB_MIB), PROT_READ | PROT_WRITE,
        flags | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) {
        lab_die("no memory to touch");
    }
    memset(memory, 'x', (size_t)(mib * LAB_MIB));
}

static int create(const char *folder, const char *name, int64_t number)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s-%" PRId64, folder, name, number);
    const int file =
        open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, (mode_t)FILE_MODE);
    if (file < 0) {
        lab_die_of("cannot write", path, errno);
    }
    return file;
}

static void use_file(const char *folder, const char *name, int64_t mib, int reads)
{
    const int file = create(folder, name, 0);
    char *chunk = malloc((size_t)LAB_MIB);

    if (chunk == NULL) {
        lab_die("no memory for a buffer");
    }
    memset(chunk, 'x', (size_t)LAB_MIB);
    for (int64_t i = 0; i < mib; i++) {
        if (write(file, chunk, (size_t)LAB_MIB) != (ssize_t)LAB_MIB) {
            lab_die_of("cannot write", folder, errno);
        }
    }
    if (fsync(file) != 0) {
        lab_die_of("cannot write out", folder, errno);
    }
    for (int64_t i = 0; i < mib * reads; i++) {
        (void)!pread(file, chunk, (size_t)LAB_MIB, i % mib * LAB_MIB);
    }
    free(chunk);
    (void)close(file);
}

static void make_names(const char *folder, int64_t count)
{
    char path[PATH_BYTES];

    (void)snprintf(path, sizeof(path), "%s/names", folder);
    if (mkdir(path, (mode_t)FOLDER_MODE) != 0) {
        lab_die_of("cannot make folder", path, errno);
    }
    for (int64_t i = 0; i < count; i++) {
        (void)close(create(path, "name", i));
    }
}

int tenant(int count, char **arguments)
{
    int64_t anon = 0, shared = 0, once = 0, twice = 0, files = 0;
    const char *folder = ".";
    const struct setting settings[] = {
        {"anon", &anon, NULL, 0, 1 << 20, "MiB of anonymous memory"},
        {"shared", &shared, NULL, 0, 1 << 20, "MiB of shared memory"},
        {"once", &once, NULL, 0, 1 << 20, "MiB of a file, used once"},
        {"twice", &twice, NULL, 0, 1 << 20, "MiB of a file, used more often"},
        {"files", &files, NULL, 0, 10000000, "empty ones"},
        {"folder", NULL, &folder, 0, 0, "for the files"},
    };
    char byte;

    settings_read(
        count, arguments, settings, sizeof(settings) / sizeof(settings[0]), NULL);
    make_names(folder, files);
    use_file(folder, "once", once, 0);
    use_file(folder, "twice", twice, READS);
    touch(anon, MAP_PRIVATE);
    touch(shared, MAP_SHARED);
    printf("ready\n");
    (void)fflush(stdout);
    while (read(STDIN_FILENO, &byte, 1) > 0) {
    }
    return 0;
}
