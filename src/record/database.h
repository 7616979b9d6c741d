/* database.h - SQLite with our kind of errors; nothing here knows what is stored. */
#ifndef STRATA_RECORD_DATABASE_H
#define STRATA_RECORD_DATABASE_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"
#include "base/region.h"

/*
 * Opens path for writing (it must exist: an empty file is an empty database) or reading.
 * The content is not trusted: no triggers, views or functions of its schema run. What can
 * be read is read also from a folder that cannot be written, unless a recorder was killed
 * there. Readers change nothing that is stored and leave no other file behind. 0 or -errno
 * with error set.
 */
int database_open(
    const char *path, bool writable, sqlite3 **database, struct error *error);

/*
 * Closes what was opened for reading, and removes the log and shared memory that reading made:
 * SQLite leaves them to one who may write. To open for writing would do, but a journal
 * that lies beside a hostile file would be played then.
 */
void database_close_reader(sqlite3 *database);

/* -errno for the last failure of database, with error set to "cannot DOING: why". */
int database_error(sqlite3 *database, const char *doing, struct error *error);

/* Runs statements that return nothing. 0 or -errno. */
int database_run(
    sqlite3 *database, const char *sql, const char *doing, struct error *error);

/* A statement that must be finalized, or NULL with error set. */
sqlite3_stmt *database_prepare(sqlite3 *database, const char *sql, struct error *error);

/* Steps a prepared statement that returns no rows, and resets it. 0 or -errno. */
int database_step(sqlite3_stmt *statement, const char *doing, struct error *error);

/* The only number that sql returns, 0 for none or NULL. 0 or -errno. */
int database_number(
    sqlite3 *database, const char *sql, int64_t *number, struct error *error);

/* A copy of a column's text as it was stored; "" for NULL. NULL: memory is short. */
char *database_text(sqlite3_stmt *statement, int column, struct region *region);

#endif
