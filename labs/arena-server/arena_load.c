/*
 * arena_load.c - the load of the lab: page views on arena_server.
 *
 * A page view opens a connection, runs five queries and closes it, as an application without
 * persistent connections does. Most queries are small, one in a hundred builds a large
 * report. The number of page views is given; the sizes come from a fixed seed, so two runs
 * ask for the same work. It ends by itself, after the last page view or after a bound of time.
 *
 * Threads: one per client, which takes the number of its next page view from a shared count.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "channel.h"
#include "random_number.h"

enum {
    QUERIES_PER_PAGE = 5,
    LARGEST_CLIENTS = 256,
    SMALL_KIB = 96,
    MEDIUM_KIB = 1024,
    REPORT_KIB = 12 * 1024,
    LONGEST_SECONDS = 3600,
    DEFAULT_SECONDS = 60,
};

struct load {
    const char *path;
    uint64_t pages;
    time_t deadline;
    _Atomic uint64_t next;
    _Atomic uint64_t done;
    _Atomic bool failed;
};

static uint64_t query_kib(uint64_t *random)
{
    uint64_t kind = random_number(random) % 1000;
    uint64_t most = kind < 900 ? SMALL_KIB : kind < 990 ? MEDIUM_KIB : REPORT_KIB;

    return most / 4 + random_number(random) % (most - most / 4);
}

/* Sends one line and waits for an answer that starts with ok. */
static bool ask(struct channel *channel, const char *line, char *reply)
{
    if (channel_write(channel, line) != 0 || channel_read(channel, reply) != 1) {
        return false;
    }
    return strncmp(reply, "ok", 2) == 0;
}

static bool view_page(const char *path, uint64_t number)
{
    uint64_t random = number * UINT64_C(0x9E3779B97F4A7C15) + 1;
    char line[CHANNEL_LINE_BYTES], reply[CHANNEL_LINE_BYTES];
    struct channel channel;
    bool good = true;

    if (channel_connect(&channel, path) != 0) {
        return false;
    }
    for (int query = 0; query < QUERIES_PER_PAGE && good; query++) {
        uint64_t kib = query_kib(&random);
        (void)snprintf(line, sizeof(line), "query %" PRIu64 " %" PRIu64, kib,
            random_number(&random));
        good = ask(&channel, line, reply);
    }
    (void)close(channel.fd);
    return good;
}

static void *run_client(void *argument)
{
    struct load *load = argument;

    while (!atomic_load(&load->failed) && time(NULL) < load->deadline) {
        uint64_t number = atomic_fetch_add(&load->next, 1);
        if (number >= load->pages) {
            break;
        }
        if (view_page(load->path, number)) {
            atomic_fetch_add(&load->done, 1);
        } else {
            atomic_store(&load->failed, true);
        }
    }
    return NULL;
}

static int run_load(struct load *load, unsigned clients)
{
    pthread_t threads[LARGEST_CLIENTS];
    unsigned started = 0;

    while (started < clients &&
           pthread_create(&threads[started], NULL, run_client, load) == 0) {
        started++;
    }
    for (unsigned i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    printf("%" PRIu64 " of %" PRIu64 " page views by %u clients\n",
        atomic_load(&load->done), load->pages, started);
    return atomic_load(&load->done) == load->pages ? 0 : 1;
}

/* Sends one line that is no page view ("stat", "trim") and prints the answer. */
static int send_line(const char *path, const char *line)
{
    char reply[CHANNEL_LINE_BYTES];
    struct channel channel;
    bool good;

    if (channel_connect(&channel, path) != 0) {
        (void)fprintf(stderr, "arena_load: cannot connect to '%s'\n", path);
        return 1;
    }
    good = ask(&channel, line, reply);
    if (good) {
        (void)puts(reply);
    }
    (void)close(channel.fd);
    return good ? 0 : 1;
}

static bool read_number(const char *text, uint64_t most, uint64_t *value)
{
    char *end;

    *value = strtoull(text, &end, 10);
    return text[0] >= '0' && text[0] <= '9' && *end == '\0' && *value >= 1 &&
           *value <= most;
}

int main(int count, char **arguments)
{
    struct load load = {0};
    uint64_t clients, seconds = DEFAULT_SECONDS;

    if (count == 3) {
        return send_line(arguments[1], arguments[2]);
    }
    if (count < 4 || count > 5 || !read_number(arguments[2], 1000000, &load.pages) ||
        !read_number(arguments[3], LARGEST_CLIENTS, &clients) ||
        (count == 5 && !read_number(arguments[4], LONGEST_SECONDS, &seconds))) {
        (void)fprintf(stderr, "usage: arena_load SOCKET PAGES CLIENTS [SECONDS]\n"
                              "       arena_load SOCKET stat|trim\n");
        return 2;
    }
    load.path = arguments[1];
    load.deadline = time(NULL) + (time_t)seconds;
    return run_load(&load, (unsigned)clients);
}
