/*
 * database.c - the few calls of SQLite that recordings need.
 *
 * Recordings come from other machines, so the schema in the file is as little trusted as
 * its rows (SQLite's "Defense Against The Dark Arts": trusted_schema off, defensive, limits
 * on sizes, no extensions).
 */
#include "record/database.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buffer.h"

enum { BUSY_MILLISECONDS = 2000, LONGEST_VALUE_BYTES = 300 << 20, PATH_BYTES = 4096 };

static int errno_of(int code)
{
    switch (code & 0xff) {
    case SQLITE_FULL:
        return -ENOSPC;
    case SQLITE_NOMEM:
        return -ENOMEM;
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
    case SQLITE_ERROR:
    case SQLITE_SCHEMA:
    case SQLITE_TOOBIG:
        return -EINVAL;
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return -EBUSY;
    case SQLITE_READONLY:
        return -EROFS;
    case SQLITE_CANTOPEN:
        return -ENOENT;
    case SQLITE_PERM:
    case SQLITE_AUTH:
        return -EACCES;
    default:
        return -EIO;
    }
}

int database_error(sqlite3 *database, const char *doing, struct error *error)
{
    const int rc = errno_of(sqlite3_errcode(database));

    return error_set(error, rc, "cannot %s: %s", doing,
        rc == -ENOSPC ? "no space left on the device" : sqlite3_errmsg(database));
}

static void harden(sqlite3 *database)
{
    (void)sqlite3_extended_result_codes(database, 1);
    (void)sqlite3_busy_timeout(database, BUSY_MILLISECONDS);
    (void)sqlite3_limit(database, SQLITE_LIMIT_LENGTH, LONGEST_VALUE_BYTES);
    (void)sqlite3_limit(database, SQLITE_LIMIT_ATTACHED, 0);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_DEFENSIVE, 1, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_TRIGGER, 0, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_ENABLE_VIEW, 0, NULL);
    (void)sqlite3_db_config(database, SQLITE_DBCONFIG_TRUSTED_SCHEMA, 0, NULL);
    (void)sqlite3_exec(database, "PRAGMA cell_size_check=ON", NULL, NULL, NULL);
}

/*
 * "file:" address of path; what has a meaning there is escaped. "./" before a relative one keeps
 * SQLite from taking ":memory:" for no file at all.
 */
static void append_address(struct buffer *address, const char *path, const char *query)
{
    buffer_append_text(address, path[0] == '/' ? "file://" : "file:./");
    for (const char *at = path; *at != '\0'; at++) {
        if (strchr("?#%", *at) != NULL) {
            buffer_printf(address, "%%%02x", (unsigned char)*at);
        } else {
            buffer_append_char(address, *at);
        }
    }
    buffer_append_text(address, query);
}

static int open_as(const char *path, const char *query, int flags, sqlite3 **database)
{
    struct buffer address;
    int code = SQLITE_NOMEM;

    buffer_init(&address);
    append_address(&address, path, query);
    if (buffer_error(&address) == 0) {
        code = sqlite3_open_v2(
            buffer_text(&address), database, flags | SQLITE_OPEN_URI, NULL);
    }
    buffer_release(&address);
    if (code == SQLITE_OK) {
        harden(*database);
        /* Opening is lazy: this reads the first page, and needs the shared memory of WAL. */
        code = sqlite3_exec(*database, "SELECT 1 FROM sqlite_schema", NULL, NULL, NULL);
    }
    return code;
}

static bool has_log(const char *path)
{
    char name[PATH_BYTES];
    const int bytes = snprintf(name, sizeof(name), "%s-wal", path);

    return bytes < 0 || (size_t)bytes >= sizeof(name) || access(name, F_OK) == 0;
}

int database_open(
    const char *path, bool writable, sqlite3 **database, struct error *error)
{
    int code = open_as(
        path, "", writable ? SQLITE_OPEN_READWRITE : SQLITE_OPEN_READONLY, database);

    if (!writable && *database != NULL &&
        ((code & 0xff) == SQLITE_CANTOPEN || (code & 0xff) == SQLITE_READONLY) &&
        access(path, R_OK) == 0 && !has_log(path)) {
        sqlite3_close(*database);
        code = open_as(path, "?immutable=1", SQLITE_OPEN_READONLY, database);
    }
    if (code == SQLITE_OK) {
        return 0;
    }
    int rc = *database == NULL ? error_set(error, -ENOMEM, "out of memory")
                               : database_error(*database, "open the database", error);
    sqlite3_close(*database);
    *database = NULL;
    return rc;
}

/*
 * An empty log holds nothing. Whoever has the database open holds a shared lock on byte 128 of
 * the shared memory (UNIX_SHM_DMS of SQLite's os_unix.c).
 */
static void remove_unused_log(const char *shared, const char *log)
{
    const int fd = open(shared, O_RDWR | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    struct flock users = {
        .l_type = F_WRLCK, .l_whence = SEEK_SET, .l_start = 128, .l_len = 1};
    struct stat status;

    if (fd < 0) {
        return;
    }
    if (fcntl(fd, F_SETLK, &users) == 0 && lstat(log, &status) == 0 &&
        S_ISREG(status.st_mode) && status.st_size == 0) {
        (void)unlink(log);
        (void)unlink(shared);
    }
    (void)close(fd);
}

void database_close_reader(sqlite3 *database)
{
    const char *path = database != NULL ? sqlite3_db_filename(database, "main") : NULL;
    struct buffer shared;
    struct buffer log;

    buffer_init(&shared);
    buffer_init(&log);
    if (path != NULL && *path != '\0') {
        buffer_printf(&shared, "%s-shm", path);
        buffer_printf(&log, "%s-wal", path);
    }
    (void)sqlite3_close(database);
    if (shared.length_bytes > 0 && buffer_error(&shared) == 0 &&
        buffer_error(&log) == 0) {
        remove_unused_log(buffer_text(&shared), buffer_text(&log));
    }
    buffer_release(&shared);
    buffer_release(&log);
}

int database_run(
    sqlite3 *database, const char *sql, const char *doing, struct error *error)
{
    return sqlite3_exec(database, sql, NULL, NULL, NULL) == SQLITE_OK
               ? 0
               : database_error(database, doing, error);
}

sqlite3_stmt *database_prepare(sqlite3 *database, const char *sql, struct error *error)
{
    sqlite3_stmt *statement = NULL;

    if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) != SQLITE_OK) {
        (void)database_error(database, "read the tables", error);
        return NULL;
    }
    return statement;
}

int database_step(sqlite3_stmt *statement, const char *doing, struct error *error)
{
    int rc = sqlite3_step(statement) == SQLITE_DONE
                 ? 0
                 : database_error(sqlite3_db_handle(statement), doing, error);

    (void)sqlite3_reset(statement);
    return rc;
}

int database_number(
    sqlite3 *database, const char *sql, int64_t *number, struct error *error)
{
    sqlite3_stmt *statement = database_prepare(database, sql, error);
    int rc = 0;

    if (statement == NULL) {
        return error != NULL && error->code != 0 ? error->code : -EINVAL;
    }
    *number = 0;
    const int code = sqlite3_step(statement);
    if (code == SQLITE_ROW) {
        *number = sqlite3_column_int64(statement, 0);
    } else if (code != SQLITE_DONE) {
        rc = database_error(database, "read the tables", error);
    }
    (void)sqlite3_finalize(statement);
    return rc;
}

char *database_text(sqlite3_stmt *statement, int column, struct region *region)
{
    const char *text = (const char *)sqlite3_column_text(statement, column);

    /* A text may hold a NUL inside; it ends there for us. */
    return region_copy_text(region, text != NULL ? text : "");
}
