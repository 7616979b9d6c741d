/*
 * sleeper.c - a small process for the overview: it touches some memory and waits.
 *
 * Usage: sleeper KIB. Half of the memory is in many small blocks, half in one mapping, so the
 * process has a heap and mappings like any other. Ends with its parent, or by itself.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

enum { LONGEST_SECONDS = 600, BLOCK_BYTES = 1000, LARGEST_KIB = 1 << 20 };

static void touch(size_t bytes)
{
    char *block = malloc(bytes + 1);

    if (block == NULL) {
        exit(1);
    }
    memset(block, 'x', bytes);
}

int main(int count, char **arguments)
{
    unsigned long kib = count == 2 ? strtoul(arguments[1], NULL, 10) : 0;

    if (kib < 1 || kib > LARGEST_KIB) {
        (void)fprintf(stderr, "usage: sleeper KIB\n");
        return 2;
    }
    (void)prctl(PR_SET_PDEATHSIG, SIGKILL);
    (void)alarm(LONGEST_SECONDS);
    for (size_t done = 0; done < kib * 512; done += BLOCK_BYTES) {
        touch(BLOCK_BYTES);
    }
    touch(kib * 512);
    (void)puts("ready");
    (void)fflush(stdout);
    for (;;) {
        (void)pause();
    }
}
