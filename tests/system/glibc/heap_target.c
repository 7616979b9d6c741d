/*
 * heap_target.c - a program whose heap is known: the tests read it from outside and it prints
 * what glibc itself says of it.
 *
 *   heap_target SHAPE [MEGABYTES]
 *
 * It builds the heap, prints malloc_info(3) and mallinfo2(3) and the line "ready", then obeys
 * one line of standard input at a time: "report" prints the figures again, "trim" calls
 * malloc_trim(0) and prints "trimmed", anything else or end of file ends it. While it
 * waits nothing allocates: standard output has a static buffer. Nor does the kernel make huge
 * pages of what stands there, holes and all (khugepaged), whenever it comes by.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <unistd.h>

enum {
    THREADS = 20,
    MEBIBYTE = 1 << 20,
    DEFAULT_MEGABYTES = 60,
    LINE_BYTES = 64,
    STRETCH_BLOCKS = 400,
    LARGE_EVERY = 50,
    SMALL_BYTES = 2000,
    LARGE_BYTES = 60000,
    MMAPPED_BLOCKS = 25,
};

static char output_buffer[4 * MEBIBYTE];
static pthread_barrier_t built;

/* xorshift64*: the same blocks on every run. */
static uint64_t next_random(uint64_t *seed)
{
    *seed ^= *seed >> 12;
    *seed ^= *seed << 25;
    *seed ^= *seed >> 27;
    return *seed * UINT64_C(2685821657736338717);
}

/* Fills bytes with blocks of mixed sizes, then frees single blocks and whole stretches. */
static void build_heap_with_holes(uint64_t bytes, uint64_t seed)
{
    const size_t most = bytes / 512;
    void **blocks = mmap(NULL, most * sizeof(*blocks), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    uint64_t taken = 0;
    size_t count = 0;

    if (blocks == MAP_FAILED) {
        abort();
    }
    while (taken < bytes && count < most) {
        const uint64_t dice = next_random(&seed);
        size_t size = 16 + dice % SMALL_BYTES;
        if (dice / 7919 % LARGE_EVERY == 0) {
            size = SMALL_BYTES + dice % LARGE_BYTES;
        }
        blocks[count] = malloc(size);
        if (blocks[count] == NULL) {
            abort();
        }
        memset(blocks[count], 1, size);
        taken += size;
        count++;
    }
    for (size_t i = 0; i < count; i++) {
        if (i / STRETCH_BLOCKS % 3 == 1 || next_random(&seed) % 3 == 0) {
            free(blocks[i]);
        }
    }
    munmap(blocks, most * sizeof(*blocks));
}

struct share {
    uint64_t bytes;
    uint64_t seed;
};

static void *thread_main(void *argument)
{
    const struct share *share = argument;

    build_heap_with_holes(share->bytes, share->seed);
    pthread_barrier_wait(&built);
    for (;;) {
        pause();
    }
    return NULL;
}

static void build_threads(uint64_t bytes)
{
    static struct share shares[THREADS];

    pthread_barrier_init(&built, NULL, THREADS + 1);
    for (size_t i = 0; i < THREADS; i++) {
        pthread_t thread;
        shares[i] = (struct share){bytes / THREADS, 88172645463325252U + i * 977};
        if (pthread_create(&thread, NULL, thread_main, &shares[i]) != 0) {
            abort();
        }
    }
    pthread_barrier_wait(&built);
}

/* Blocks far above the threshold, one of them with a wide alignment. */
static void build_mmapped(void)
{
    mallopt(M_MMAP_THRESHOLD, 128 * 1024);
    for (size_t i = 0; i < MMAPPED_BLOCKS - 1; i++) {
        const size_t size = 300000 + i * 77777;
        char *block = malloc(size);
        memset(block, 1, size / 2);
    }
    char *aligned = aligned_alloc(MEBIBYTE, 3 * MEBIBYTE);
    memset(aligned, 1, MEBIBYTE);
}

/* A heap of which nearly all is free, held by one block near its top. */
static void build_pinned(uint64_t bytes)
{
    const size_t size = 1024, count = bytes / size;
    void **blocks = mmap(NULL, count * sizeof(*blocks), PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    for (size_t i = 0; i < count; i++) {
        blocks[i] = malloc(size);
        memset(blocks[i], 1, size);
    }
    for (size_t i = 0; i + 1 < count; i++) {
        free(blocks[i]);
    }
    printf("pin %p\n", blocks[count - 1]);
}

/* Something else moves the break in the middle of the main heap's life. */
static void build_foreign_break(uint64_t bytes)
{
    build_heap_with_holes(bytes / 2, 11);
    char *foreign = sbrk(10000);
    memset(foreign, 0xee, 10000);
    build_heap_with_holes(bytes / 2, 12);
}

/* brk cannot grow: the main arena goes on in mapped pieces. */
static void build_without_break(uint64_t bytes)
{
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);

    build_heap_with_holes(bytes / 4, 21);
    void *wall = mmap((char *)sbrk(0) + page, page, PROT_NONE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
    if (wall == MAP_FAILED) {
        abort();
    }
    build_heap_with_holes(bytes * 3 / 4, 22);
}

/* One thread's arena that needs several heaps. */
static void *large_arena_main(void *argument)
{
    const struct share *share = argument;

    mallopt(M_MMAP_THRESHOLD, 1 << 30);
    build_heap_with_holes(share->bytes, share->seed);
    pthread_barrier_wait(&built);
    for (;;) {
        pause();
    }
    return NULL;
}

static void build_large_arena(uint64_t bytes)
{
    static struct share share;
    pthread_t thread;

    share = (struct share){bytes, 5};
    pthread_barrier_init(&built, NULL, 2);
    if (pthread_create(&thread, NULL, large_arena_main, &share) != 0) {
        abort();
    }
    pthread_barrier_wait(&built);
}

static bool build(const char *shape, uint64_t bytes)
{
    if (strcmp(shape, "single") == 0) {
        build_heap_with_holes(bytes, 7);
    } else if (strcmp(shape, "threads") == 0) {
        build_threads(bytes);
    } else if (strcmp(shape, "arena-max") == 0) {
        mallopt(M_ARENA_MAX, 2);
        build_threads(bytes);
    } else if (strcmp(shape, "large-arena") == 0) {
        build_large_arena(bytes);
    } else if (strcmp(shape, "mmapped") == 0) {
        build_mmapped();
    } else if (strcmp(shape, "pinned") == 0) {
        build_pinned(bytes);
    } else if (strcmp(shape, "foreign-break") == 0) {
        build_foreign_break(bytes);
    } else if (strcmp(shape, "no-break") == 0) {
        build_without_break(bytes);
    } else {
        return false;
    }
    return true;
}

static void report(void)
{
    const struct mallinfo2 info = mallinfo2();

    malloc_info(0, stdout);
    printf("mallinfo2 arena=%zu uordblks=%zu fordblks=%zu hblks=%zu hblkhd=%zu "
           "keepcost=%zu\n",
        (size_t)info.arena, (size_t)info.uordblks, (size_t)info.fordblks,
        (size_t)info.hblks, (size_t)info.hblkhd, (size_t)info.keepcost);
    printf("ready\n");
    fflush(stdout);
}

/* A line without stdio, which would allocate a buffer. */
static bool read_line(char *line)
{
    size_t length = 0;

    while (length + 1 < LINE_BYTES && read(STDIN_FILENO, line + length, 1) == 1) {
        if (line[length] == '\n') {
            line[length] = '\0';
            return true;
        }
        length++;
    }
    return false;
}

int main(int argc, char **argv)
{
    const uint64_t megabytes = argc > 2 ? strtoull(argv[2], NULL, 10) : DEFAULT_MEGABYTES;
    char line[LINE_BYTES];

    setvbuf(stdout, output_buffer, _IOFBF, sizeof(output_buffer));
    if (argc < 2 || !build(argv[1], megabytes * MEBIBYTE)) {
        fprintf(stderr, "usage: heap_target SHAPE [MEGABYTES]\n");
        return 2;
    }
    (void)prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0); /* those that there are stay */
    report();
    while (read_line(line)) {
        if (strcmp(line, "report") == 0) {
            report();
        } else if (strcmp(line, "trim") == 0) {
            malloc_trim(0);
            printf("trimmed\n");
            fflush(stdout);
        } else {
            break;
        }
    }
    return 0;
}
