/*
 * views.c - a small site: pages in several languages, and comments on them.
 *
 * A view reads a page, sorts titles, joins comments, groups into a temporary table and
 * concatenates texts. Most views are small; one in a hundred is a report over many rows, whose
 * temporary table is as large as the server allows in memory (tmp_memory_table_size, 16 MiB).
 *
 * Threads: one for each client; they take the numbers of their views from one counter.
 */
#include "views.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "base.h"
#include "client.h"
#include "random_number.h"

enum {
    STATEMENT_BYTES = 1024,
    LARGEST_CLIENTS = 512,
    COMMENTS_PER_PAGE = 3,
    AUTHORS = 997,
    SMALL_ROWS = 400,
    MEDIUM_ROWS = 4000,
    KINDS = 1000, /* views of each kind, in a thousand: */
    SMALL_VIEWS = 900,
    MEDIUM_VIEWS = 90,
    QUERIES = 5,
};

/* Over the rows from @first to @last; SET gives them before. */
static const char *const queries[QUERIES] = {
    "SELECT title, body FROM site.page WHERE id IN (@first, @last, @first + 1)",
    "SELECT id, title, body FROM site.page WHERE id BETWEEN @first AND @last"
    " ORDER BY body, title LIMIT 40",
    "SELECT p.title, c.note FROM site.page p STRAIGHT_JOIN site.comment c"
    " FORCE INDEX (page) ON c.page = p.id"
    " WHERE p.id BETWEEN @first AND @last ORDER BY c.score, c.note LIMIT 40",
    "SELECT title, body, COUNT(*), COUNT(DISTINCT language) FROM site.page"
    " WHERE id BETWEEN @first AND @last GROUP BY title, body ORDER BY 3 DESC LIMIT 40",
    "SELECT language, LENGTH(GROUP_CONCAT(body ORDER BY title)) FROM site.page"
    " WHERE id BETWEEN @first AND @last GROUP BY language",
};

struct drive {
    struct views *views;
    _Atomic int64_t next;
    _Atomic int64_t done;
    _Atomic bool failed;
};

static void must_run(struct client *client, const char *statement)
{
    if (client_run(client, statement) != 0) {
        lab_die(client->error);
    }
}

void views_load(struct client *client, int64_t rows)
{
    char statement[STATEMENT_BYTES];

    must_run(client, "CREATE DATABASE site");
    must_run(client,
        "CREATE TABLE site.page (id INT PRIMARY KEY, author INT, language INT,"
        " title VARCHAR(100), body VARCHAR(500)) ENGINE=InnoDB");
    must_run(client, "CREATE TABLE site.comment (id INT PRIMARY KEY, page INT, score INT,"
                     " note VARCHAR(200), KEY (page)) ENGINE=InnoDB");
    (void)snprintf(statement, sizeof(statement),
        "INSERT INTO site.page SELECT seq, seq * 7919 %% %d, seq %% 11,"
        " CONCAT(MD5(seq), ' title ', seq), RPAD(MD5(seq * 3), 150 + seq %% 300, "
        "MD5(seq))"
        " FROM mysql.seq_1_to_%" PRId64,
        (int)AUTHORS, rows);
    must_run(client, statement);
    (void)snprintf(statement, sizeof(statement),
        "INSERT INTO site.comment SELECT seq, seq %% %" PRId64 ", seq * 31 %% 101,"
        " RPAD(MD5(seq), 40 + seq %% 120, MD5(seq)) FROM mysql.seq_1_to_%" PRId64,
        rows, rows * COMMENTS_PER_PAGE);
    must_run(client, statement);
    must_run(client, "ANALYZE TABLE site.page, site.comment");
}

void views_warm(struct client *client)
{
    must_run(client, "SELECT SUM(LENGTH(body)) FROM site.page");
    must_run(client, "SELECT SUM(LENGTH(note)) FROM site.comment");
}

static uint64_t rows_of(uint64_t *random, uint64_t rows)
{
    const uint64_t kind = random_number(random) % KINDS;
    uint64_t most = kind < SMALL_VIEWS                  ? SMALL_ROWS
                    : kind < SMALL_VIEWS + MEDIUM_VIEWS ? MEDIUM_ROWS
                                                        : rows;

    most = most < rows ? most : rows;
    return most / 4 + random_number(random) % (most - most / 4);
}

static bool view_page(const struct views *views, struct client *client, uint64_t number)
{
    char statement[STATEMENT_BYTES];
    uint64_t random = random_seed(number);
    const uint64_t rows = (uint64_t)views->rows;
    const uint64_t count = rows_of(&random, rows);
    const uint64_t first = 1 + random_number(&random) % (rows - count + 1);
    bool good = client_open(client, views->socket) == 0;

    (void)snprintf(statement, sizeof(statement),
        "SET @first = %" PRIu64 ", @last = %" PRIu64, first, first + count - 1);
    good = good && client_run(client, statement) == 0;
    for (size_t i = 0; i < QUERIES && good; i++) {
        good = client_run(client, queries[i]) == 0;
    }
    client_close(client);
    if (views->pause_ms > 0) {
        lab_sleep_ms(
            (int64_t)(random_number(&random) % (2 * (uint64_t)views->pause_ms + 1)));
    }
    return good;
}

static void *run_client(void *argument)
{
    struct drive *drive = argument;
    struct client *client = malloc(sizeof(*client));

    while (client != NULL && !atomic_load(&drive->failed)) {
        const int64_t number = atomic_fetch_add(&drive->next, 1);
        if (number >= drive->views->pages) {
            break;
        }
        if (view_page(drive->views, client, (uint64_t)(drive->views->first + number))) {
            atomic_fetch_add(&drive->done, 1);
        } else if (!atomic_exchange(&drive->failed, true)) {
            (void)fprintf(stderr, "lab: a page view failed: %s\n", client->error);
        }
    }
    free(client);
    return NULL;
}

void views_drive(struct views *views)
{
    pthread_t threads[LARGEST_CLIENTS];
    struct drive drive = {.views = views};
    int64_t started = 0;

    while (started < views->clients && started < LARGEST_CLIENTS &&
           pthread_create(&threads[started], NULL, run_client, &drive) == 0) {
        started++;
    }
    for (int64_t i = 0; i < started; i++) {
        (void)pthread_join(threads[i], NULL);
    }
    views->done = atomic_load(&drive.done);
    if (views->done != views->pages) {
        lab_die("not every page view was served");
    }
}
