/*
 * mysql-churn: a MariaDB server under page views that connect, ask and leave; what the server
 * tracks, what malloc keeps, what is resident; and what each fix saves beside what strata
 * predicted from one look. See README.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base.h"
#include "client.h"
#include "guard.h"
#include "settings.h"
#include "trial.h"

enum { DEFAULT_ROWS = 20000, DEFAULT_VIEWS = 2000, CLIENTS_FEW = 16, CLIENTS_MANY = 64 };

struct churn {
    struct views views;
    int64_t repeat;
    int64_t ways; /* so many of enum way */
    const char *keep;
    const char *plot;
    bool check;
    int64_t outside[WAYS]; /* predictions that failed */
    int64_t judged[WAYS];
};

static void print_head(const struct views *views)
{
    printf("\n%" PRId64 " page views by %" PRId64 " clients, MiB\n", views->pages,
        views->clients);
    printf("%-21s %8s %8s %8s %8s %8s %8s %8s %15s %7s %8s %7s\n", "", "tracked",
        "in use", "held", "idle", "peak", "after", "saved", "predicted", "arenas",
        "threads", "views/s");
}

static void print_count(int width, int64_t count)
{
    if (count == LAB_UNKNOWN) {
        printf(" %*s", width, "-");
    } else {
        printf(" %*" PRId64, width, count);
    }
}

static void print_trial(
    const struct trial *before, const struct trial *trial, enum way way)
{
    const struct look_range range = trial_predicted(before, way);
    char predicted[2 * LAB_CELL_BYTES] = "-";

    if (!trial->measured) {
        printf("%-21s missing: %s\n", way_name(way), trial->missing);
        return;
    }
    if (range.known) {
        (void)snprintf(predicted, sizeof(predicted), "%s-%s",
            lab_mebibytes(range.low).text, lab_mebibytes(range.high).text);
    }
    printf("%-21s %8s %8s %8s %8s %8s %8s %8s %15s", way_name(way),
        lab_mebibytes(trial->server_says).text, lab_mebibytes(trial->look.in_use).text,
        lab_mebibytes(trial->look.held).text, lab_mebibytes(trial->idle).text,
        lab_mebibytes(trial->peak).text, lab_mebibytes(trial->after).text,
        lab_mebibytes(way == WAY_BEFORE ? LAB_UNKNOWN : before->after - trial->after)
            .text,
        predicted);
    print_count(7, trial->look.arenas);
    print_count(8, trial->threads_created);
    print_count(7, trial->views_per_second);
    printf("\n");
    (void)fflush(stdout);
}

static void judge(struct churn *churn, const struct trial *before,
    const struct trial *trial, enum way way)
{
    const struct look_range range = trial_predicted(before, way);
    const int64_t saved = before->after - trial->after;

    if (!range.known || !trial->measured) {
        return;
    }
    churn->judged[way]++;
    if (saved < range.low || saved > range.high) {
        churn->outside[way]++;
    }
}

static void run_series(struct churn *churn, struct server *server, int64_t number)
{
    struct trial trials[WAYS];

    print_head(&churn->views);
    for (int64_t way = 0; way < churn->ways; way++) {
        char path[SERVER_PATH_BYTES];
        if (churn->keep != NULL) {
            (void)snprintf(path, sizeof(path),
                "%s/%" PRId64 "-%" PRId64 "-%" PRId64 ".strata", churn->keep,
                churn->views.clients, number, way);
        }
        trial_run(&trials[way], server, (enum way)way, &churn->views,
            churn->keep != NULL ? path : NULL);
        print_trial(&trials[0], &trials[way], (enum way)way);
        judge(churn, &trials[0], &trials[way], (enum way)way);
    }
    for (int64_t way = 0; way < churn->ways; way++) {
        trial_release(&trials[way]);
    }
}

static void prepare(struct server *server, const struct guard *guard, int64_t rows)
{
    const char *package = NULL;
    const struct server_way way = {.thread_cache = 0};
    struct client *client = NULL;

    if (!server_install(server, guard->folder, &package)) {
        printf("there is no MariaDB server here: install the package %s\n", package);
        exit(LAB_EXIT_PARTIAL);
    }
    server_start(server, &way);
    client = client_new(server->socket);
    views_load(client, rows);
    client_close(client);
    free(client);
    server_stop(server);
}

int main(int count, char **arguments)
{
    struct churn churn = {.views = {.pages = DEFAULT_VIEWS, .rows = DEFAULT_ROWS},
        .repeat = 1,
        .ways = WAYS};
    const struct setting settings[] = {
        {"views", &churn.views.pages, NULL, 1, 10000000, "page views in each run"},
        {"clients", &churn.views.clients, NULL, 0, 140, "at once; 0: 16, then 64"},
        {"pause", &churn.views.pause_ms, NULL, 0, 10000,
            "ms between two views of a client"},
        {"rows", &churn.views.rows, NULL, 100, 1000000, "of the larger table"},
        {"repeat", &churn.repeat, NULL, 1, 1000, "series of all ways"},
        {"ways", &churn.ways, NULL, 1, WAYS, "only so many, in the order of the table"},
        {"keep", NULL, &churn.keep, 0, 0, "folder for a capture of each run"},
    };
    const int64_t clients[] = {CLIENTS_FEW, CLIENTS_MANY};
    struct guard guard;
    struct server server;

    settings_read(
        count, arguments, settings, sizeof(settings) / sizeof(settings[0]), &churn.check);
    guard_enter(&guard);
    prepare(&server, &guard, churn.views.rows);
    churn.views.socket = server.socket;
    const bool chosen = churn.views.clients != 0;
    for (int64_t number = 0; number < churn.repeat; number++) {
        for (size_t i = 0; i < (chosen ? 1 : sizeof(clients) / sizeof(clients[0])); i++) {
            churn.views.clients = chosen ? churn.views.clients : clients[i];
            run_series(&churn, &server, number);
        }
    }
    return 0;
}
