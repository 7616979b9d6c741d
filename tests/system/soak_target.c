/*
 * soak_target.c - allocates for hours in every way, and stops to count when it is told to.
 *
 * Usage: soak_target SEED. Lanes of short-lived threads allocate, resize, free and hand blocks to
 * each other; every block has a pattern that is looked at before it goes. Each line on standard
 * input is a command, answered by one line of JSON once it is done:
 *   stop   all threads rest; what lives, by the program's own list
 *   drop   rest, free everything, give back what can be; the same figures
 *   fork   a child allocates, frees and ends, while the threads run or rest
 *   go     the threads run on
 * The program ends with its input, or by abort() when a block is not what it should be.
 */
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    LANES = 4,
    SLOTS = 600,
    EXCHANGE = 256,
    OPERATIONS = 3000, /* of one thread */
    PAUSE_US =
        20000, /* between two threads of a lane: others want the processors as well */
    PAGE_BYTES = 4096,
    CHILD_BLOCKS = 2000,
};

struct block {
    size_t bytes; /* of the whole block */
    uint64_t mark;
    unsigned char rest[];
};

struct lane {
    uint64_t random;
    struct block *slots[SLOTS];
};

static struct lane lanes[LANES];
static struct block *_Atomic exchange[EXCHANGE];
static _Atomic uint64_t operations;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static atomic_int wanted_rest;
static int resting; /* lanes, under the lock */

static uint64_t next_random(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    *state ^= *state << 17;
    return *state;
}

static size_t random_bytes(uint64_t *random)
{
    const uint64_t kind = next_random(random) % 100;
    const size_t most = kind < 70   ? 300
                        : kind < 95 ? 40000
                        : kind < 99 ? 400000
                                    : 3 << 20;

    return sizeof(struct block) + next_random(random) % most;
}

static unsigned char pattern(const struct block *block)
{
    return (unsigned char)(block->mark | 1);
}

static void fill(struct block *block, size_t bytes, uint64_t mark)
{
    const size_t rest = bytes - sizeof(*block);

    block->bytes = bytes;
    block->mark = mark;
    for (size_t at = 0; at < rest; at += at < 64 ? 1 : PAGE_BYTES) {
        block->rest[at] = pattern(block);
    }
    if (rest > 0) {
        block->rest[rest - 1] = pattern(block);
    }
}

/* Of a block that was cut or grown, only what both sizes have. */
static void verify(const struct block *block, size_t bytes)
{
    const size_t rest = bytes - sizeof(*block);

    for (size_t at = 0; at < rest; at += at < 64 ? 1 : PAGE_BYTES) {
        if (block->rest[at] != pattern(block)) {
            abort();
        }
    }
    if (bytes == block->bytes && rest > 0 && block->rest[rest - 1] != pattern(block)) {
        abort();
    }
}

static struct block *obtain(uint64_t *random)
{
    const size_t bytes = random_bytes(random);
    struct block *block;

    switch (next_random(random) % 8) {
    case 0:
        if (posix_memalign(
                (void **)&block, (size_t)16 << next_random(random) % 9, bytes) != 0) {
            abort();
        }
        break;
    case 1:
        block = calloc(1, bytes);
        break;
    default:
        block = malloc(bytes);
        break;
    }
    if (block == NULL) {
        abort();
    }
    fill(block, bytes, next_random(random));
    return block;
}

static void release(struct block *block)
{
    if (block != NULL) {
        verify(block, block->bytes);
        free(block);
    }
}

static struct block *resize(struct block *block, uint64_t *random)
{
    const size_t before = block->bytes;
    const size_t bytes = random_bytes(random);
    struct block *moved = realloc(block, bytes);

    if (moved == NULL) {
        abort();
    }
    verify(moved, bytes < before ? bytes : before);
    fill(moved, bytes, next_random(random));
    return moved;
}

static void one_operation(struct block **slot, uint64_t *random)
{
    const uint64_t dice = next_random(random) % 8;

    if (*slot == NULL) {
        *slot = obtain(random);
    } else if (dice < 2) {
        *slot = resize(*slot, random);
    } else if (dice < 4) {
        *slot = atomic_exchange(&exchange[next_random(random) % EXCHANGE], *slot);
    } else {
        release(*slot);
        *slot = NULL;
    }
}

static void *short_life(void *context)
{
    struct lane *lane = context;

    for (int i = 0; i < OPERATIONS && !atomic_load(&wanted_rest); i++) {
        one_operation(&lane->slots[next_random(&lane->random) % SLOTS], &lane->random);
        atomic_fetch_add(&operations, 1);
    }
    return NULL;
}

static void rest_if_wanted(void)
{
    (void)pthread_mutex_lock(&lock);
    while (atomic_load(&wanted_rest)) {
        resting++;
        (void)pthread_cond_broadcast(&changed);
        (void)pthread_cond_wait(&changed, &lock);
        resting--;
        (void)pthread_cond_broadcast(&changed);
    }
    (void)pthread_mutex_unlock(&lock);
}

static void *run_lane(void *context)
{
    for (;;) {
        pthread_t thread;
        if (pthread_create(&thread, NULL, short_life, context) != 0) {
            abort();
        }
        (void)pthread_join(thread, NULL);
        rest_if_wanted();
        (void)usleep(PAUSE_US);
    }
    return NULL;
}

static void set_rest(int wanted)
{
    (void)pthread_mutex_lock(&lock);
    atomic_store(&wanted_rest, wanted);
    (void)pthread_cond_broadcast(&changed);
    while (wanted ? resting < LANES : resting > 0) {
        (void)pthread_cond_wait(&changed, &lock);
    }
    (void)pthread_mutex_unlock(&lock);
}

/* While all rest. */
static void for_each_block(void (*visit)(struct block **, void *), void *context)
{
    for (size_t i = 0; i < LANES; i++) {
        for (size_t k = 0; k < SLOTS; k++) {
            visit(&lanes[i].slots[k], context);
        }
    }
    for (size_t i = 0; i < EXCHANGE; i++) {
        struct block *block = atomic_load(&exchange[i]);
        visit(&block, context);
        atomic_store(&exchange[i], block);
    }
}

struct sum {
    size_t usable_bytes;
    size_t blocks;
};

static void count(struct block **slot, void *context)
{
    struct sum *sum = context;

    if (*slot != NULL) {
        verify(*slot, (*slot)->bytes);
        sum->usable_bytes += malloc_usable_size(*slot);
        sum->blocks++;
    }
}

static void drop(struct block **slot, void *context)
{
    (void)context;
    release(*slot);
    *slot = NULL;
}

static void answer_sum(void)
{
    struct sum sum = {0};
    char text[160];
    int length;

    for_each_block(count, &sum);
    length = snprintf(text, sizeof(text),
        "{\"usable\": %zu, \"blocks\": %zu, \"operations\": %llu}\n", sum.usable_bytes,
        sum.blocks, (unsigned long long)atomic_load(&operations));
    if (write(STDOUT_FILENO, text, (size_t)length) != length) {
        _exit(1);
    }
}

static void answer_fork(void)
{
    static void *blocks[CHILD_BLOCKS];
    uint64_t random = atomic_load(&operations) | 1;
    const pid_t child = fork();
    char text[40];
    int length, status = -1;

    if (child == 0) {
        for (size_t i = 0; i < CHILD_BLOCKS; i++) {
            blocks[i] = obtain(&random);
        }
        for (size_t i = 0; i < CHILD_BLOCKS; i++) {
            release(blocks[i]);
        }
        _exit(0);
    }
    (void)waitpid(child, &status, 0);
    length = snprintf(text, sizeof(text), "{\"child\": %d}\n", status);
    if (write(STDOUT_FILENO, text, (size_t)length) != length) {
        _exit(1);
    }
}

static void obey(const char *command)
{
    if (strcmp(command, "fork\n") == 0) {
        answer_fork();
    } else if (strcmp(command, "stop\n") == 0) {
        set_rest(1);
        answer_sum();
    } else if (strcmp(command, "drop\n") == 0) {
        set_rest(1);
        for_each_block(drop, NULL);
        (void)malloc_trim(0);
        answer_sum();
    } else if (strcmp(command, "go\n") == 0) {
        set_rest(0);
        if (write(STDOUT_FILENO, "{}\n", 3) != 3) {
            _exit(1);
        }
    } else {
        _exit(2);
    }
}

/* Reads lines without stdio, which would allocate. */
int main(int words_count, char **words)
{
    char line[16];
    size_t length = 0;

    if (words_count != 2) {
        (void)fprintf(stderr, "usage: soak_target SEED\n");
        return 2;
    }
    for (size_t i = 0; i < LANES; i++) {
        pthread_t thread;
        lanes[i].random = strtoull(words[1], NULL, 10) * LANES + i + 88172645463325252u;
        if (pthread_create(&thread, NULL, run_lane, &lanes[i]) != 0) {
            return 1;
        }
    }
    while (length < sizeof(line) - 1 && read(STDIN_FILENO, &line[length], 1) == 1) {
        if (line[length++] == '\n') {
            line[length] = '\0';
            obey(line);
            length = 0;
        }
    }
    _exit(0);
}
