/*
 * hoarder.c - a program whose free memory stands in the way of what it needs next.
 *
 *   hoarder FREE_MIB FIRST_MIB MORE_MIB FILE
 *
 * It takes FREE_MIB of blocks by malloc and FIRST_MIB by mmap, prints what FILE (memory.current)
 * says, frees the blocks and takes MORE_MIB by mmap at once, so that its cgroup passes its limit
 * before free memory goes back by age. Prints FILE again at once.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define MIB ((size_t)1 << 20)
#define BLOCKS_MAX 1024

static int fail(const char *what)
{
    perror(what);
    return 1;
}

static int take(size_t mib)
{
    char *memory =
        mmap(NULL, mib * MIB, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (memory == MAP_FAILED) {
        return fail("mmap");
    }
    memset(memory, 1, mib * MIB);
    return 0;
}

static int tell(const char *name, const char *path)
{
    char text[64];
    int file = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = file < 0 ? -1 : read(file, text, sizeof(text) - 1);

    if (length <= 0) {
        return fail(path);
    }
    close(file);
    text[length] = '\0';
    printf("%s %s", name, text);
    fflush(stdout);
    return 0;
}

int main(int argc, char **argv)
{
    static char *blocks[BLOCKS_MAX];

    if (argc != 5) {
        fprintf(stderr, "usage: hoarder FREE_MIB FIRST_MIB MORE_MIB FILE\n");
        return 2;
    }
    const size_t count = strtoul(argv[1], NULL, 10);
    for (size_t i = 0; i < count && i < BLOCKS_MAX; i++) {
        blocks[i] = malloc(MIB);
        if (blocks[i] == NULL) {
            return fail("malloc");
        }
        memset(blocks[i], 1, MIB);
    }
    if (take(strtoul(argv[2], NULL, 10)) != 0 || tell("before", argv[4]) != 0) {
        return 1;
    }
    for (size_t i = 0; i < count && i < BLOCKS_MAX; i++) {
        free(blocks[i]);
    }
    if (take(strtoul(argv[3], NULL, 10)) != 0) {
        return 1;
    }
    return tell("after", argv[4]);
}
