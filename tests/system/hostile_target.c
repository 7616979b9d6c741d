/*
 * hostile_target.c - a process whose heap structures lie.
 *
 * Usage: hostile_target KIND. A thread fills an arena of glibc malloc and then overwrites what
 * an outside reader would follow; nothing allocates afterwards. Offsets are those of
 * glibc 2.36 on x86-64 (malloc/arena.c: struct heap_info, malloc/malloc.c: struct
 * malloc_state), the C library of Debian 12.
 *
 *   ring      the list of arenas never comes back to its start
 *   nowhere   pointers of the arena lead to unmapped memory
 *   sizes     sizes of chunks overflow, are zero, or are not aligned
 *   noise     random bytes from the arena's header on
 */
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    LONGEST_SECONDS = 600,
    HEAP_MAX_BYTES = 64 << 20,
    ARENA_OFFSET = 0x30,
    TOP_OFFSET = 0x60,
    BINS_OFFSET = 0x70,
    BINS = 254,
    NEXT_OFFSET = 0x870,
    NOISE_BYTES = 256 * 1024,
    BLOCKS = 20000,
};

static char *blocks[BLOCKS];

static void write_word(char *place, uint64_t word)
{
    memcpy(place, &word, sizeof(word));
}

static void break_sizes(void)
{
    static const uint64_t sizes[] = {~UINT64_C(0), 0, 1, UINT64_C(0x7ffffffffffffff5), 17,
        UINT64_C(0xfffffffffffffff5), 0x21};

    for (size_t i = 0; i < BLOCKS; i += 7) {
        write_word(blocks[i] - sizeof(uint64_t), sizes[i / 7 % 7]);
    }
}

static void break_pointers(char *arena)
{
    const uint64_t nowhere = UINT64_C(0x00007000deadbee0);

    write_word(arena + TOP_OFFSET, nowhere);
    for (size_t i = 0; i < BINS; i++) {
        write_word(arena + BINS_OFFSET + i * sizeof(uint64_t), nowhere + i * 4096);
    }
}

static void make_noise(char *arena)
{
    uint64_t random = 88172645463325252u;

    for (size_t at = 0; at < NOISE_BYTES; at += sizeof(random)) {
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        write_word(arena + at, random);
    }
}

static void *fill_and_break(void *argument)
{
    const char *kind = argument;
    char *arena;

    for (size_t i = 0; i < BLOCKS; i++) {
        blocks[i] = malloc(24 + i % 900);
        if (blocks[i] == NULL) {
            abort();
        }
        memset(blocks[i], 'x', 24 + i % 900);
    }
    for (size_t i = 0; i < BLOCKS; i += 3) {
        free(blocks[i]);
    }
    arena =
        (char *)((uintptr_t)blocks[1] & ~(uintptr_t)(HEAP_MAX_BYTES - 1)) + ARENA_OFFSET;
    if (strcmp(kind, "ring") == 0) {
        write_word(arena + NEXT_OFFSET, (uint64_t)(uintptr_t)arena);
    } else if (strcmp(kind, "nowhere") == 0) {
        break_pointers(arena);
    } else if (strcmp(kind, "sizes") == 0) {
        break_sizes();
    } else if (strcmp(kind, "noise") == 0) {
        make_noise(arena);
    } else {
        (void)write(STDERR_FILENO, "hostile_target: unknown kind\n", 29);
        _exit(2);
    }
    if (write(STDOUT_FILENO, "ready\n", 6) != 6) {
        _exit(1);
    }
    for (;;) {
        (void)pause();
    }
    return NULL;
}

int main(int count, char **arguments)
{
    pthread_t thread;

    if (count != 2) {
        (void)fprintf(stderr, "usage: hostile_target ring|nowhere|sizes|noise\n");
        return 2;
    }
    (void)alarm(LONGEST_SECONDS);
    if (pthread_create(&thread, NULL, fill_and_break, arguments[1]) != 0) {
        perror("hostile_target: cannot start a thread");
        return 1;
    }
    for (;;) {
        (void)pause();
    }
}
