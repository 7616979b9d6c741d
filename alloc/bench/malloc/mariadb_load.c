/*
 * Page views against a MariaDB server: connect, five statements with a sort, a join and a
 * temporary table, disconnect.
 *
 * usage: mariadb-load SOCKET CLIENTS SECONDS
 *
 * Prints the statements answered in a second. The tables are made by mariadb.py.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include <mysql.h>

#include "bench_common.h"

enum { CLIENTS_MAX = 256, STATEMENTS = 5 };

static const char *const statements[STATEMENTS] = {
    "SELECT id, title, body FROM posts ORDER BY body, title LIMIT 50",
    "SELECT p.id, p.title, COUNT(*) n FROM posts p JOIN comments c ON c.post = p.id "
    "GROUP BY p.id, p.title ORDER BY n DESC, p.title LIMIT 10",
    "CREATE TEMPORARY TABLE recent AS SELECT post, body FROM comments ORDER BY body "
    "LIMIT 400",
    "SELECT LEFT(body, 8) b, GROUP_CONCAT(post) FROM recent GROUP BY b ORDER BY b",
    "SELECT * FROM posts WHERE id IN (SELECT post FROM comments WHERE id % 17 = 3) LIMIT "
    "100",
};

static struct {
    const char *path;
    int stop;
    size_t answered;
} load;

static void fail(MYSQL *connection)
{
    bench_stop(mysql_error(connection));
}

static void view_page(void)
{
    MYSQL *connection = mysql_init(NULL);
    if (connection == NULL || mysql_real_connect(connection, NULL, "root", "", "bench", 0,
                                  load.path, 0) == NULL) {
        fail(connection);
    }
    for (size_t i = 0; i < STATEMENTS; i++) {
        if (mysql_query(connection, statements[i]) != 0) {
            fail(connection);
        }
        MYSQL_RES *rows = mysql_store_result(connection);
        if (rows != NULL) {
            mysql_free_result(rows);
        }
    }
    mysql_close(connection);
}

static void *client(void *nothing)
{
    while (!__atomic_load_n(&load.stop, __ATOMIC_RELAXED)) {
        view_page();
        __atomic_fetch_add(&load.answered, STATEMENTS, __ATOMIC_RELAXED);
    }
    mysql_thread_end();
    return nothing;
}

int main(int argc, char **argv)
{
    unsigned clients = argc == 4 ? (unsigned)strtoul(argv[2], NULL, 10) : 0;
    unsigned seconds = argc == 4 ? (unsigned)strtoul(argv[3], NULL, 10) : 0;
    if (clients == 0 || clients > CLIENTS_MAX || seconds == 0) {
        bench_stop("usage: mariadb-load SOCKET CLIENTS SECONDS");
    }
    load.path = argv[1];
    if (mysql_library_init(0, NULL, NULL) != 0) {
        bench_stop("cannot start the client library");
    }
    pthread_t threads[CLIENTS_MAX];
    for (unsigned i = 0; i < clients; i++) {
        if (pthread_create(&threads[i], NULL, client, NULL) != 0) {
            bench_stop("no thread");
        }
    }
    const struct timespec duration = {.tv_sec = (time_t)seconds};
    nanosleep(&duration, NULL);
    printf("%.1f\n", (double)__atomic_load_n(&load.answered, __ATOMIC_RELAXED) / seconds);
    fflush(stdout);
    __atomic_store_n(&load.stop, 1, __ATOMIC_RELAXED);
    for (unsigned i = 0; i < clients; i++) {
        pthread_join(threads[i], NULL);
    }
    mysql_library_end();
    return EXIT_SUCCESS;
}
