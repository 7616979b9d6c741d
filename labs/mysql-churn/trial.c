/*
 * trial.c - start, warm, load, wait, look, stop: the same steps for each way.
 */
#include "trial.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "client.h"
#include "kernel_view.h"

enum { IDLE_MS = 20000, POLL_MS = 50, SETTLE_MS = 500, PATH_BYTES = 4096 };

/* Where distributions keep libraries. */
static const char *const folders[] = {
    "/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib64", "/usr/lib"};

/* thread_cache 0 is the case before: every view costs a thread, as in the published one at its peaks. */
static const struct way_row {
    const char *name;
    const char *variable; /* of the environment */
    int64_t thread_cache;
    const char *library; /* to preload; NULL: glibc */
    const char *package; /* it is in */
} rows[WAYS] = {
    [WAY_BEFORE] = {"before", NULL, 0, NULL, NULL},
    [WAY_THRESHOLD] = {"trim threshold 1 MiB", "MALLOC_TRIM_THRESHOLD_=1048576", 0, NULL,
        NULL},
    [WAY_CAP] = {"MALLOC_ARENA_MAX=2", "MALLOC_ARENA_MAX=2", 0, NULL, NULL},
    [WAY_CACHE] = {"thread_cache_size=32", NULL, 32, NULL, NULL},
    [WAY_BOTH] = {"arenas and cache", "MALLOC_ARENA_MAX=2", 32, NULL, NULL},
    [WAY_JEMALLOC] = {"jemalloc", NULL, 0, "libjemalloc.so.2", "libjemalloc2"},
    [WAY_TCMALLOC] = {"tcmalloc", NULL, 0, "libtcmalloc_minimal.so.4",
        "libtcmalloc-minimal4"},
    [WAY_MIMALLOC] = {"mimalloc", NULL, 0, "libmimalloc.so.2", "libmimalloc2.0"},
    [WAY_STRATA] = {"strata's allocator", NULL, 0, NULL, "libstrata-malloc.so (make)"},
};

const char *way_name(enum way way)
{
    return rows[way].name;
}

/* Ours lies in the build or where make install puts it, from the folder of the labs. */
static bool find_ours(char *path, size_t bytes)
{
    static const char *const places[] = {
        "/../../../lib/x86_64-linux-gnu/libstrata-malloc.so",
        "/../../../lib/aarch64-linux-gnu/libstrata-malloc.so",
        "/../../../lib/libstrata-malloc.so",
        "/../../../alloc/libstrata-malloc.so",
    };
    char folder[PATH_BYTES / 2];
    const ssize_t length = readlink("/proc/self/exe", folder, sizeof(folder) - 1);

    folder[length > 0 ? length : 0] = '\0';
    char *slash = strrchr(folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        (void)snprintf(path, bytes, "%s%s", folder, places[i]);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

static bool find_library(enum way way, char *path, size_t bytes)
{
    if (way == WAY_STRATA) {
        return find_ours(path, bytes);
    }
    for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++) {
        (void)snprintf(path, bytes, "%s/%s", folders[i], rows[way].library);
        if (access(path, R_OK) == 0) {
            return true;
        }
    }
    return false;
}

/* Threads of connections end a moment after their clients. */
static void wait_until_idle(struct client *client)
{
    const int64_t end = lab_now_ms() + IDLE_MS;

    while (client_number(client, "SELECT VARIABLE_VALUE FROM information_schema."
                                 "GLOBAL_STATUS WHERE VARIABLE_NAME = "
                                 "'THREADS_CONNECTED'") != 1) {
        if (lab_now_ms() > end) {
            lab_die("the server does not become idle");
        }
        lab_sleep_ms(POLL_MS);
    }
    lab_sleep_ms(SETTLE_MS);
}

static int64_t status_of(struct client *client, const char *name)
{
    char statement[256];

    (void)snprintf(statement, sizeof(statement),
        "SELECT VARIABLE_VALUE FROM information_schema.GLOBAL_STATUS WHERE VARIABLE_NAME "
        "= '%s'",
        name);
    return client_number(client, statement);
}

static void drive_bursts(struct trial *trial, const struct views *views,
    struct client *client, const struct server *server, bool steady)
{
    const pid_t pid = server->subject.pid;
    struct views burst = *views;
    const int64_t cpu_us = kernel_cpu_us(pid);
    int64_t sum = 0;

    burst.pages = views->pages / TRIAL_BURSTS + 1;
    for (int i = 0; i < TRIAL_BURSTS; i++) {
        burst.first = i * burst.pages;
        views_drive(&burst);
        wait_until_idle(client);
        trial->last = kernel_status_bytes(pid, "VmRSS");
        sum += i >= TRIAL_FILLING_BURSTS ? trial->last : 0;
    }
    trial->after = steady ? sum / (TRIAL_BURSTS - TRIAL_FILLING_BURSTS) : trial->last;
    trial->cpu_us_per_view =
        (kernel_cpu_us(pid) - cpu_us) / ((int64_t)TRIAL_BURSTS * burst.pages);
}

/* The load and everything that is measured before the server is stopped. */
static void measure(struct trial *trial, const struct server *server, bool steady,
    const struct views *views, const char *capture)
{
    const pid_t pid = server->subject.pid;
    struct client *client = client_new(server->socket);

    views_warm(client);
    lab_sleep_ms(SETTLE_MS);
    trial->idle = kernel_status_bytes(pid, "VmRSS");
    drive_bursts(trial, views, client, server, steady);
    trial->peak = kernel_status_bytes(pid, "VmHWM");
    look_at(&trial->look, pid, capture);
    trial->server_says =
        client_number(client, "SELECT total_allocated FROM sys.x$memory_global_total");
    trial->threads_created = status_of(client, "THREADS_CREATED");
    trial->connections = status_of(client, "CONNECTIONS");
    client_close(client);
    free(client);
    trial->measured = true;
}

void trial_run(struct trial *trial, struct server *server, enum way way,
    const struct views *views, const char *capture)
{
    char path[PATH_BYTES];
    struct server_way start = {
        .variable = rows[way].variable, .thread_cache = rows[way].thread_cache};

    *trial = (struct trial){.measured = false};
    if (way >= WAY_JEMALLOC) {
        if (!find_library(way, path, sizeof(path))) {
            trial->missing = rows[way].package;
            return;
        }
        start.preload = path;
    }
    server_start(server, &start);
    measure(trial, server, start.variable != NULL, views, capture);
    server_stop(server);
}

struct look_range trial_predicted(const struct trial *before, enum way way)
{
    static const char *const rules[WAYS] = {[WAY_THRESHOLD] = "glibc-mmap-threshold",
        [WAY_CAP] = "glibc-arenas",
        [WAY_CACHE] = "mysql-thread-cache"};

    if (!before->measured || rules[way] == NULL) {
        return (struct look_range){.known = false};
    }
    return look_predicted(&before->look, rules[way]);
}

void trial_release(struct trial *trial)
{
    if (trial->measured) {
        look_release(&trial->look);
    }
    trial->measured = false;
}
