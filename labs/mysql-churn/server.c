/*
 * server.c - mariadb-install-db and mariadbd, without any configuration of the machine.
 *
 * Performance Schema and all its memory instruments are on from the start, since rows that are
 * switched on later go negative. The thread cache is given always: MariaDB 10.11 sizes it by
 * itself (256), MySQL at 9, so the setting of the published case cannot come from a default.
 */
#include "server.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include "base.h"
#include "client.h"

enum {
    START_MS = 60000,
    STOP_MS = 60000,
    INSTALL_MS = 120000,
    POLL_MS = 50,
    OPTION_BYTES = 768,
    FOLDER_MODE = 0700,
};

/* Other programs than those of the package may be named in the environment. */
static const char *program_of(const char *variable, const char *usual)
{
    const char *named = getenv(variable);

    return named != NULL && named[0] != '\0' ? named : usual;
}

static const char *const package_name = "mariadb-server-core";

/* The programs lie in sbin, which is not on every user's path. */
static void widen_path(void)
{
    char path[4096];
    const char *before = getenv("PATH");

    (void)snprintf(path, sizeof(path), "%s:/usr/sbin:/usr/bin:/sbin:/bin",
        before != NULL ? before : "");
    (void)setenv("PATH", path, 1);
}

static bool run_installer(struct server *server, const char **package)
{
    char data[OPTION_BYTES];
    const char *const arguments[] = {
        program_of("STRATA_MARIADB_INSTALL_DB", "mariadb-install-db"), "--no-defaults",
        data, "--auth-root-authentication-method=normal", "--skip-test-db", "--user=root",
        NULL};
    const struct subject_start start = {.arguments = arguments, .log = server->log};
    struct subject installer;
    int64_t end = lab_now_ms() + INSTALL_MS;
    int status = -1;

    (void)snprintf(data, sizeof(data), "--datadir=%s", server->data);
    const int error = subject_begin(&installer, &start);
    if (error == -ENOENT) {
        *package = package_name;
        return false;
    }
    if (error != 0) {
        lab_die_of("cannot run", arguments[0], -error);
    }
    while (waitpid(installer.pid, &status, WNOHANG) == 0) {
        if (lab_now_ms() > end) {
            lab_die("mariadb-install-db does not come to an end");
        }
        lab_sleep_ms(POLL_MS);
    }
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        lab_die("mariadb-install-db failed");
    }
    return true;
}

bool server_install(struct server *server, const char *folder, const char **package)
{
    *server = (struct server){.folder = folder, .subject = {.pid = -1, .input = -1}};
    (void)snprintf(server->socket, sizeof(server->socket), "%s/socket", folder);
    (void)snprintf(server->data, sizeof(server->data), "%s/data", folder);
    (void)snprintf(server->log, sizeof(server->log), "%s/log", folder);
    widen_path();
    if (mkdir(server->data, (mode_t)FOLDER_MODE) != 0) {
        lab_die_of("cannot make folder", server->data, errno);
    }
    return run_installer(server, package);
}

static void wait_for_answer(struct server *server)
{
    const int64_t end = lab_now_ms() + START_MS;
    struct client *client = malloc(sizeof(*client));

    while (client != NULL && client_open(client, server->socket) != 0) {
        if (!subject_runs(&server->subject) || lab_now_ms() > end) {
            lab_die("mariadbd does not start");
        }
        lab_sleep_ms(POLL_MS);
    }
    if (client != NULL) {
        client_close(client);
    }
    free(client);
}

void server_start(struct server *server, const struct server_way *way)
{
    char data[OPTION_BYTES], socket[OPTION_BYTES], pid_file[OPTION_BYTES];
    char cache[OPTION_BYTES], variable[OPTION_BYTES], preload[OPTION_BYTES];
    char temporary[OPTION_BYTES]; /* a server that starts empties it of such tables */
    char *environment[3] = {NULL};
    size_t variables = 0;
    const char *const arguments[] = {program_of("STRATA_MARIADBD", "mariadbd"),
        "--no-defaults", data, socket, pid_file, cache, temporary, "--user=root",
        "--skip-networking", "--skip-log-bin", "--max-connections=151",
        "--performance-schema=ON", "--performance-schema-instrument=memory/%=ON",
        "--innodb-flush-log-at-trx-commit=0", NULL};
    const struct subject_start start = {
        .arguments = arguments, .environment = environment, .log = server->log};

    (void)snprintf(data, sizeof(data), "--datadir=%s", server->data);
    (void)snprintf(socket, sizeof(socket), "--socket=%s", server->socket);
    (void)snprintf(pid_file, sizeof(pid_file), "--pid-file=%s/pid", server->folder);
    (void)snprintf(temporary, sizeof(temporary), "--tmpdir=%s", server->folder);
    (void)snprintf(
        cache, sizeof(cache), "--thread-cache-size=%lld", (long long)way->thread_cache);
    if (way->variable != NULL) {
        (void)snprintf(variable, sizeof(variable), "%s", way->variable);
        environment[variables++] = variable;
    }
    if (way->preload != NULL) {
        (void)snprintf(preload, sizeof(preload), "LD_PRELOAD=%s", way->preload);
        environment[variables++] = preload;
    }
    const int error = subject_begin(&server->subject, &start);
    if (error != 0) {
        lab_die_of("cannot run", arguments[0], -error);
    }
    wait_for_answer(server);
}

void server_stop(struct server *server)
{
    (void)subject_end(&server->subject, STOP_MS);
}
