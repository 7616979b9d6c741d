/*
 * heap_target.c - a large glibc heap of small blocks, with holes, that then holds still.
 *
 * Usage: heap_target MIB BLOCK_BYTES THREADS. Each thread fills its share with blocks of up to
 * twice BLOCK_BYTES and frees one in three. The blocks are linked by their first word, so nothing
 * but the heap holds memory. Ends by itself.
 */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { LONGEST_SECONDS = 600, LARGEST_THREADS = 64, LARGEST_MIB = 16384, KEPT = 3 };

struct share {
    size_t bytes;
    size_t block_bytes;
    uint64_t random;
};

static void *fill(void *argument)
{
    struct share *share = argument;
    void *dropped = NULL;
    size_t number = 0;

    for (size_t done = 0; done < share->bytes; number++) {
        size_t bytes;
        void *block;
        share->random = share->random * 6364136223846793005u + 1442695040888963407u;
        bytes =
            sizeof(void *) + (size_t)((share->random >> 33) % (2 * share->block_bytes));
        block = malloc(bytes);
        if (block == NULL) {
            abort();
        }
        memset(block, 'x', bytes);
        if (number % KEPT == 0) {
            memcpy(block, &dropped, sizeof(dropped));
            dropped = block;
        }
        done += bytes + sizeof(void *);
    }
    while (dropped != NULL) {
        void *next;
        memcpy(&next, dropped, sizeof(next));
        free(dropped);
        dropped = next;
    }
    return NULL;
}

int main(int count, char **arguments)
{
    static struct share shares[LARGEST_THREADS];
    pthread_t threads[LARGEST_THREADS];
    unsigned long mib, block_bytes, thread_count;

    if (count != 4) {
        (void)fprintf(stderr, "usage: heap_target MIB BLOCK_BYTES THREADS\n");
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
            .random = i + 1};
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
