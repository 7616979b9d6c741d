/*
 * arena_server.c - a server with one thread for each connection, as database servers are.
 *
 * A connection brings buffers that live as long as it does. A query builds a result of many
 * small rows, waits a moment (for a disk, say) with the result in memory, and frees it. A
 * few rows of each query go into a session cache that outlives the connection. The cache
 * has a fixed number of slots, so what the program needs is bounded and it leaks
 * nothing; whatever the resident set grows beyond that is the allocator's doing.
 *
 * Threads: one per connection, detached; the cache is shared, under one lock. The count of
 * tracked bytes is what the program asked malloc for and did not free.
 */
#include <errno.h>
#include <inttypes.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "channel.h"
#include "random_number.h"

enum {
    KIB = 1024,
    LARGEST_QUERY_KIB = 64 * KIB,
    CACHE_SLOTS = 65536,
    ROWS_PER_CACHED_ROW = 64,
    SMALLEST_ROW_BYTES = 48,
    NET_BUFFER_BYTES = 16 * KIB,
    SORT_BUFFER_BYTES = 96 * KIB,
    THREAD_STACK_BYTES = 256 * KIB,
    WAIT_MICROSECONDS = 500,
};

/* A row of a result; its content follows. */
struct row {
    struct row *next;
    size_t bytes;
};

struct cache {
    pthread_mutex_t lock;
    struct row *slots[CACHE_SLOTS];
};

static struct cache cache = {.lock = PTHREAD_MUTEX_INITIALIZER};
static _Atomic uint64_t tracked_bytes;
static _Atomic uint64_t connections;

static void *take(size_t bytes)
{
    void *memory = malloc(bytes);

    if (memory == NULL) {
        perror("arena_server: cannot allocate");
        abort();
    }
    memset(memory, 'x', bytes);
    atomic_fetch_add_explicit(&tracked_bytes, bytes, memory_order_relaxed);
    return memory;
}

static void give_back(void *memory, size_t bytes)
{
    free(memory);
    atomic_fetch_sub_explicit(&tracked_bytes, bytes, memory_order_relaxed);
}

static void free_row(struct row *row)
{
    if (row != NULL) {
        give_back(row, row->bytes);
    }
}

/* Most rows are small, a few are some KiB. */
static size_t row_bytes(uint64_t *random)
{
    uint64_t kind = random_number(random) % 100;
    size_t span = kind < 60 ? 256 : kind < 92 ? 2 * KIB : 12 * KIB;

    return SMALLEST_ROW_BYTES + (size_t)(random_number(random) % span);
}

static struct row *build_result(size_t bytes, uint64_t *random)
{
    struct row *first = NULL;

    for (size_t done = 0; done < bytes;) {
        size_t size = row_bytes(random);
        struct row *row = take(size);
        *row = (struct row){.next = first, .bytes = size};
        first = row;
        done += size;
    }
    return first;
}

/* Puts row in a slot and returns what was there. */
static struct row *cache_replace(struct row *row, uint64_t *random)
{
    size_t slot = (size_t)(random_number(random) % CACHE_SLOTS);
    struct row *old;

    (void)pthread_mutex_lock(&cache.lock);
    old = cache.slots[slot];
    cache.slots[slot] = row;
    (void)pthread_mutex_unlock(&cache.lock);
    return old;
}

static void drop_result(struct row *row, uint64_t *random)
{
    while (row != NULL) {
        struct row *next = row->next;
        if (random_number(random) % ROWS_PER_CACHED_ROW == 0) {
            free_row(cache_replace(row, random));
        } else {
            free_row(row);
        }
        row = next;
    }
}

static void run_query(size_t kib, uint64_t seed)
{
    struct timespec wait = {.tv_nsec = WAIT_MICROSECONDS * 1000};
    uint64_t random = seed | 1;
    struct row *result = build_result(kib * KIB, &random);

    (void)nanosleep(&wait, NULL);
    drop_result(result, &random);
}

/* Reads "query KIB SEED": false when line is something else. */
static bool read_query(const char *line, uint64_t *kib, uint64_t *seed)
{
    static const char word[] = "query ";
    char *end;

    if (strncmp(line, word, sizeof(word) - 1) != 0) {
        return false;
    }
    *kib = strtoull(line + sizeof(word) - 1, &end, 10);
    if (*end != ' ') {
        return false;
    }
    *seed = strtoull(end + 1, &end, 10);
    return *end == '\0' && *kib <= LARGEST_QUERY_KIB;
}

/* Carries out one line of a client and writes the answer: 0, or -EINVAL for nonsense. */
static int answer(const char *line, char *reply, size_t reply_bytes)
{
    uint64_t kib, seed;

    if (read_query(line, &kib, &seed)) {
        run_query(kib, seed);
        (void)snprintf(reply, reply_bytes, "ok");
    } else if (strcmp(line, "stat") == 0) {
        (void)snprintf(reply, reply_bytes, "ok tracked %" PRIu64 " connections %" PRIu64,
            atomic_load(&tracked_bytes), atomic_load(&connections));
    } else if (strcmp(line, "trim") == 0) {
        (void)snprintf(reply, reply_bytes, "ok trimmed %d", malloc_trim(0));
    } else {
        return -EINVAL;
    }
    return 0;
}

static void *serve(void *argument)
{
    struct channel channel = {.fd = (int)(intptr_t)argument};
    char *net = take(NET_BUFFER_BYTES), *sort = take(SORT_BUFFER_BYTES);
    char line[CHANNEL_LINE_BYTES], reply[CHANNEL_LINE_BYTES];

    while (channel_read(&channel, line) == 1) {
        if (answer(line, reply, sizeof(reply)) != 0 ||
            channel_write(&channel, reply) != 0) {
            break;
        }
    }
    give_back(sort, SORT_BUFFER_BYTES);
    give_back(net, NET_BUFFER_BYTES);
    (void)close(channel.fd);
    return NULL;
}

static int start_thread(const pthread_attr_t *attributes, int fd)
{
    pthread_t thread;
    int failed = pthread_create(&thread, attributes, serve, (void *)(intptr_t)fd);

    if (failed != 0) {
        (void)close(fd);
        return -failed;
    }
    atomic_fetch_add(&connections, 1);
    return 0;
}

static int accept_forever(int listener)
{
    pthread_attr_t attributes;

    (void)pthread_attr_init(&attributes);
    (void)pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    (void)pthread_attr_setstacksize(&attributes, THREAD_STACK_BYTES);
    for (;;) {
        int fd = accept4(listener, NULL, NULL, SOCK_CLOEXEC);
        if (fd < 0 && errno != EINTR && errno != ECONNABORTED) {
            perror("arena_server: cannot accept a connection");
            return 1;
        }
        if (fd >= 0 && start_thread(&attributes, fd) != 0) {
            (void)fprintf(stderr, "arena_server: cannot start a thread\n");
        }
    }
}

int main(int count, char **arguments)
{
    int listener;

    if (count != 2) {
        (void)fprintf(stderr, "usage: arena_server SOCKET\n");
        return 2;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    listener = channel_listen(arguments[1]);
    if (listener < 0) {
        (void)fprintf(stderr, "arena_server: cannot listen on '%s': %s\n", arguments[1],
            strerror(-listener));
        return 1;
    }
    return accept_forever(listener);
}
