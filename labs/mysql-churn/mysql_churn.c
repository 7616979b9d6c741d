/*
 * mysql-churn: a MariaDB server under page views that connect, ask and leave; what the server
 * tracks, what malloc keeps, what is resident; and what each fix saves beside what strata
 * predicted from one look. See README.md.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base.h"
#include "client.h"
#include "guard.h"
#include "report.h"
#include "settings.h"
#include "trial.h"

enum { DEFAULT_ROWS = 20000, DEFAULT_VIEWS = 3200, CLIENTS_FEW = 16, CLIENTS_MANY = 64 };

struct churn {
    struct views views;
    int64_t repeat;
    int64_t ways; /* so many of enum way */
    const char *keep;
    const char *plot;
    bool check;
    int64_t differences;
    struct report report;
};

static void expect(struct churn *churn, bool met, const char *what)
{
    if (!met) {
        printf("DIFFERS: %s\n", what);
        churn->differences++;
    }
}

/* What holds whatever the machine does meanwhile. */
static void check_trial(struct churn *churn, const struct trial *trial, enum way way)
{
    const bool capped = way == WAY_CAP || way == WAY_BOTH;
    const bool cached = way == WAY_CACHE || way == WAY_BOTH;
    const bool glibc = way <= WAY_BOTH;

    if (!trial->measured) {
        return;
    }
    expect(churn, !capped || trial->look.arenas <= 2, "no more arenas than the cap");
    expect(churn, !glibc || capped || trial->look.arenas > 2,
        "more than two arenas without a cap");
    expect(churn, cached || trial->threads_created >= churn->views.pages,
        "a thread for each view without a cache");
    expect(churn, !cached || trial->threads_created < trial->connections,
        "fewer threads than views with a cache");
    expect(churn, !glibc || trial->look.held >= trial->look.in_use,
        "held is not less than in use");
}

static void run_series(
    struct churn *churn, struct server *server, int64_t number, struct trial trials[WAYS])
{
    report_head(&churn->views);
    for (int64_t i = 0; i < churn->ways; i++) {
        const enum way way = (enum way)i;
        char path[SERVER_PATH_BYTES];
        if (churn->keep != NULL) {
            (void)snprintf(path, sizeof(path),
                "%s/%" PRId64 "-%" PRId64 "-%" PRId64 ".strata", churn->keep,
                churn->views.clients, number, i);
        }
        trial_release(&trials[way]);
        trial_run(
            &trials[way], server, way, &churn->views, churn->keep != NULL ? path : NULL);
        report_row(&trials[WAY_BEFORE], &trials[way], way);
        report_judge(&churn->report, &trials[WAY_BEFORE], &trials[way], way);
        check_trial(churn, &trials[way], way);
    }
}

static void prepare(struct server *server, const struct guard *guard, int64_t rows)
{
    const char *package = NULL;
    const struct server_way way = {.thread_cache = 0};

    if (!server_install(server, guard->folder, &package)) {
        printf("there is no MariaDB server here: install the package %s\n", package);
        exit(LAB_EXIT_PARTIAL);
    }
    server_start(server, &way);
    struct client *client = client_new(server->socket);
    views_load(client, rows);
    client_close(client);
    free(client);
    server_stop(server);
}

/* All repetitions; the picture is of the last one. */
static void run_all(struct churn *churn, struct server *server)
{
    static struct trial trials[REPORT_SERIES][WAYS];
    const int64_t clients[REPORT_SERIES] = {CLIENTS_FEW, CLIENTS_MANY};
    const int64_t chosen = churn->views.clients;
    const size_t count = chosen != 0 ? 1 : REPORT_SERIES;
    struct report_series series[REPORT_SERIES];

    for (size_t i = 0; i < count; i++) {
        series[i] = (struct report_series){.clients = chosen != 0 ? chosen : clients[i],
            .ways = churn->ways,
            .trials = trials[i]};
    }
    for (int64_t number = 0; number < churn->repeat; number++) {
        for (size_t i = 0; i < count; i++) {
            churn->views.clients = series[i].clients;
            run_series(churn, server, number, trials[i]);
        }
    }
    report_end(&churn->report);
    if (churn->plot != NULL) {
        const int error = report_plot(churn->plot, series, count);
        if (error != 0) {
            lab_die_of("cannot write", churn->plot, -error);
        }
        printf("the picture is in '%s'\n", churn->plot);
    }
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
        {"plot", NULL, &churn.plot, 0, 0, "file for a picture (SVG)"},
    };
    struct guard guard;
    struct server server;

    settings_read(
        count, arguments, settings, sizeof(settings) / sizeof(settings[0]), &churn.check);
    guard_enter(&guard);
    printf(
        "mysql-churn: published: 1.17 GiB resident, 478 MiB tracked; with both settings "
        "550 to 650 MiB\n");
    prepare(&server, &guard, churn.views.rows);
    churn.views.socket = server.socket;
    run_all(&churn, &server);
    return churn.check && churn.differences > 0 ? LAB_EXIT_DIFFERENT : 0;
}
