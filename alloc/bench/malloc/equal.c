/*
 * Equal blocks, all freed or all but the last: what a program pays for its blocks, and
 * what of it comes back.
 *
 * usage: malloc-equal BLOCK_BYTES TOTAL_MIB all|butlast
 *
 * The array of pointers is a mapping of its own, resident before anything counts. Prints
 * seconds to allocate and to free; then KiB beyond what the program had before: with all
 * blocks, right after the frees, 2 s later.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench_common.h"

static void *(*volatile call_malloc)(size_t) = malloc;

int main(int argc, char **argv)
{
    size_t block_bytes = argc == 4 ? strtoul(argv[1], NULL, 10) : 0;
    size_t total_bytes = argc == 4 ? strtoul(argv[2], NULL, 10) << 20 : 0;
    if (block_bytes == 0 || total_bytes == 0) {
        bench_stop("usage: malloc-equal BLOCK_BYTES TOTAL_MIB all|butlast");
    }
    size_t count = total_bytes / block_bytes;
    char **blocks = mmap(NULL, count * sizeof(*blocks), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (blocks == MAP_FAILED) {
        bench_stop("no memory for the pointers");
    }
    struct bench_result alloc;
    struct bench_result release;
    unsigned long before = bench_status_kib("RssAnon:");
    bench_start(&alloc);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = call_malloc(block_bytes);
        if (blocks[i] == NULL) {
            bench_stop("no memory");
        }
        bench_touch(blocks[i], 0, block_bytes);
    }
    bench_end(&alloc);
    unsigned long full = bench_status_kib("RssAnon:");
    bench_start(&release);
    for (size_t i = 0; i + (strcmp(argv[3], "all") != 0) < count; i++) {
        free(blocks[i]);
    }
    bench_end(&release);
    unsigned long at_once = bench_status_kib("RssAnon:");
    sleep(2);
    printf("%.3f %.3f %ld %ld %ld\n", alloc.cpu_seconds, release.cpu_seconds,
        (long)full - (long)before, (long)at_once - (long)before,
        (long)bench_status_kib("RssAnon:") - (long)before);
    return EXIT_SUCCESS;
}
