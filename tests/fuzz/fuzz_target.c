/*
 * fuzz_target.c - what a user types, against processes that call themselves anything.
 *
 * The first line of the input is the target, the next three are the name, command line and
 * cgroup of process 2 in a tree of its own. A target that is found has processes, and
 * one that is not has a reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/bug.h"
#include "facts/cgroup.h"
#include "facts/target.h"

int LLVMFuzzerInitialize(int *count, char ***arguments);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes);

enum { LINES = 4, LINE_BYTES = 256 };

#define STAT_TAIL " S 1 2 2 0 -1 0 0 0 0 0 0 0 0 0 20 0 1 0 50 0 0 0 0 0 0 0 0\n"

static char folder[] = "/tmp/strata-fuzz-target-XXXXXX";
static int tree_fd = -1;

static void write_file(const char *name, const char *text)
{
    int fd = openat(tree_fd, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

    BUG_IF(fd < 0);
    BUG_IF(write(fd, text, strlen(text)) < 0);
    close(fd);
}

static void remove_tree(void)
{
    static const char *const files[] = {"proc/1/stat", "proc/2/stat", "proc/2/cmdline",
        "proc/2/cgroup", "proc/3/stat", "proc/3/cgroup"};
    static const char *const folders[] = {"proc/1", "proc/2", "proc/3", "proc"};

    for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
        (void)unlinkat(tree_fd, files[i], 0);
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        (void)unlinkat(tree_fd, folders[i], AT_REMOVEDIR);
    }
    (void)rmdir(folder);
}

int LLVMFuzzerInitialize(int *count, char ***arguments)
{
    static const char *const folders[] = {"proc", "proc/1", "proc/2", "proc/3"};

    (void)count;
    (void)arguments;
    BUG_IF(mkdtemp(folder) == NULL);
    tree_fd = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    BUG_IF(tree_fd < 0);
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        BUG_IF(mkdirat(tree_fd, folders[i], 0700) != 0);
    }
    write_file("proc/1/stat", "1 (init)" STAT_TAIL);
    write_file("proc/3/stat", "3 (web)" STAT_TAIL);
    write_file("proc/3/cgroup", "0::/system.slice/web.service\n");
    (void)atexit(remove_tree);
    return 0;
}

/* The next line of the input as text; what is left of it is not for stat. */
static void take_line(const uint8_t **data, size_t *bytes, char line[LINE_BYTES])
{
    const uint8_t *feed = *bytes == 0 ? NULL : memchr(*data, '\n', *bytes);
    const size_t length = feed == NULL ? *bytes : (size_t)(feed - *data);
    const size_t kept = length < LINE_BYTES - 1 ? length : LINE_BYTES - 1;

    memcpy(line, *data, kept);
    line[kept] = '\0';
    *data += length + (feed != NULL);
    *bytes -= length + (feed != NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t bytes)
{
    char lines[LINES][LINE_BYTES];
    char stat[LINE_BYTES + sizeof(STAT_TAIL) + sizeof("2 ()")];
    struct facts_root root;
    struct cgroup_reader cgroups;
    struct region region;
    struct target target;
    struct error error = {0};

    if (bytes == 0) {
        return 0;
    }
    for (int i = 0; i < LINES; i++) {
        take_line(&data, &bytes, lines[i]);
    }
    (void)snprintf(stat, sizeof(stat), "2 (%s)%s", lines[1], STAT_TAIL);
    write_file("proc/2/stat", stat);
    write_file("proc/2/cmdline", lines[2]);
    write_file("proc/2/cgroup", lines[3]);
    region_init(&region, 16 << 20);
    BUG_IF(facts_root_open(&root, folder, NULL) != 0);
    BUG_IF(cgroup_reader_init(&cgroups, &root, &region) != 0);
    int rc = target_find(&root, &cgroups, lines[0], &region, &target, &error);
    BUG_IF(rc == 0 && (target.count == 0 || target.name == NULL || target.pids == NULL));
    BUG_IF(rc != 0 && (error.code != rc || error.text[0] == '\0'));
    cgroup_reader_release(&cgroups);
    facts_root_close(&root);
    region_release(&region);
    return 0;
}
