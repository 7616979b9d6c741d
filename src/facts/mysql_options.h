/* mysql_options.h - user and password out of the option files of MySQL's own clients. */
#ifndef STRATA_FACTS_MYSQL_OPTIONS_H
#define STRATA_FACTS_MYSQL_OPTIONS_H

#include <stdbool.h>
#include <stddef.h>

enum { MYSQL_USER_BYTES = 128, MYSQL_PASSWORD_BYTES = 256 };

/* Who to be for the server. The password never leaves the process that read it. */
struct mysql_credentials {
    char user[MYSQL_USER_BYTES]; /* "": none given */
    char password[MYSQL_PASSWORD_BYTES];
    bool has_password;
};

/*
 * Reads defaults_file, or when that is NULL /etc/my.cnf, /etc/mysql/my.cnf and .my.cnf of
 * the home directory. The group [strata] goes before [client], [client-server] and
 * [client-mariadb]; within either the last value counts. !include and !includedir are
 * followed. A file that others may write is left out, as MySQL's clients do. 0, or -errno
 * of defaults_file; the usual files may be missing.
 */
int mysql_options_read(const char *defaults_file, struct mysql_credentials *credentials);

/* Applies a text in the format of option files; for tests and fuzzing apart from files. */
void mysql_options_parse(
    const char *text, struct mysql_credentials *strata, struct mysql_credentials *client);

#endif
