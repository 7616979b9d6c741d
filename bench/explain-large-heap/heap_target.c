/*
 * heap_target.c - a large glibc heap of small blocks, with holes, that then holds still.
 *
 * Usage: heap_target MIB BLOCK_BYTES THREADS [shuffled]. Each thread fills its share with blocks
 * of up to twice BLOCK_BYTES and frees one in three, the newest first or in random order. The
 * order is kept in memory that goes back before it is ready. Ends by itself.
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

enum { LONGEST_SECONDS = 600, LARGEST_THREADS = 64, LARGEST_MIB = 16384, KEPT = 3 };

struct share {
    size_t bytes;
    size_t block_bytes;
    uint64_t random;
    bool shuffled;
};

static uint64_t next_random(struct share *share)
{
    share->random = share->random * 6364136223846793005u + 1442695040888963407u;
    return share->random >> 33;
}

static void free_all(struct share *share, void **dropped, size_t count)
{
    for (; count > 0; count--) {
        const size_t chosen = share->shuffled ? next_random(share) % count : count - 1;
        free(dropped[chosen]);
        dropped[chosen] = dropped[count - 1];
    }
}

static void *fill(void *argument)
{
    struct share *share = argument;
    const size_t order_bytes = share->bytes; /* more than a word for each block */
    size_t number = 0, count = 0;
    void **dropped = mmap(NULL, order_bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (dropped == MAP_FAILED) {
        abort();
    }
    for (size_t done = 0; done < share->bytes; number++) {
        size_t bytes;
        void *block;
        bytes = sizeof(void *) + (size_t)(next_random(share) % (2 * share->block_bytes));
        block = malloc(bytes);
        if (block == NULL) {
            abort();
        }
        memset(block, 'x', bytes);
        if (number % KEPT == 0) {
            dropped[count++] = block;
        }
        done += bytes + sizeof(void *);
    }
    free_all(share, dropped, count);
    (void)munmap(dropped, order_bytes);
    return NULL;
}

int main(int count, char **arguments)
{
    static struct share shares[LARGEST_THREADS];
    pthread_t threads[LARGEST_THREADS];
    unsigned long mib, block_bytes, thread_count;

    if (count < 4 || count > 5 || (count == 5 && strcmp(arguments[4], "shuffled") != 0)) {
        (void)fprintf(stderr, "usage: heap_target MIB BLOCK_BYTES THREADS [shuffled]\n");
        return 2;
    }
    mib = strtoul(arguments[1], NULL, 10);
    block_bytes = strtoul(arguments[2], NULL, 10);
    thread_count = strtoul(arguments[3], NULL, 10);
    if (mib < 1 || mib > LARGEST_MIB || block_bytes < 1 || block_bytes > 65536 ||
        thread_count < 1 || thread_count > LARGEST_THREADS) {
        (void)fprintf(stderr, "heap_target: number out of range\n");
        return 2;
    }
    (void)alarm(LONGEST_SECONDS);
    for (size_t i = 0; i < thread_count; i++) {
        shares[i] = (struct share){.bytes = (mib << 20) / thread_count,
            .block_bytes = block_bytes,
            .random = i + 1,
            .shuffled = count == 5};
        if (thread_count == 1) {
            (void)fill(&shares[0]);
        } else if (pthread_create(&threads[i], NULL, fill, &shares[i]) != 0) {
            return 1;
        }
    }
    for (size_t i = 0; thread_count > 1 && i < thread_count; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    (void)puts("ready");
    (void)fflush(stdout);
    for (;;) {
        (void)pause();
    }
}
