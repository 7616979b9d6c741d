/*
 * recording_format.c - the schema of recordings; docs/recording.md says what each column is.
 *
 * application_id and user_version are written with the tables, in one transaction: a file
 * has all of them or is empty.
 */
#include "record/recording_format.h"

#include <errno.h>
#include <stddef.h>
#include <stdint.h>

#include "record/database.h"

#define TEXT_OF(number) #number
#define DIGITS(number) TEXT_OF(number)

/* auto_vacuum has to stand before the first table, and outside of the transaction. */
static const char preparation[] = "PRAGMA auto_vacuum=INCREMENTAL;"
                                  "PRAGMA journal_mode=WAL;";

static const char tables[] =
    "BEGIN IMMEDIATE;"
    "CREATE TABLE sessions(id INTEGER PRIMARY KEY, boot_id TEXT NOT NULL,"
    " wall_ms INTEGER NOT NULL, boot_ms INTEGER NOT NULL, every_ms INTEGER NOT NULL,"
    " host TEXT NOT NULL, version TEXT NOT NULL, ended_boot_ms INTEGER,"
    " ticks_lost INTEGER NOT NULL DEFAULT 0, cpu_us INTEGER NOT NULL DEFAULT 0);"
    "CREATE TABLE metrics(id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE,"
    " unit TEXT NOT NULL);"
    "CREATE TABLE subjects(id INTEGER PRIMARY KEY, kind TEXT NOT NULL,"
    " owner INTEGER NOT NULL, boot_id TEXT NOT NULL, pid INTEGER NOT NULL,"
    " start_ticks INTEGER NOT NULL, name TEXT NOT NULL, title TEXT NOT NULL,"
    " last_tick INTEGER);"
    "CREATE INDEX subject_pids ON subjects(pid, start_ticks);"
    "CREATE TABLE ticks(id INTEGER PRIMARY KEY, session INTEGER NOT NULL,"
    " wall_ms INTEGER NOT NULL, boot_ms INTEGER NOT NULL, keyframe INTEGER NOT NULL,"
    " data BLOB NOT NULL);"
    "CREATE INDEX keyframes ON ticks(id) WHERE keyframe=1;"
    "CREATE TABLE captures(id INTEGER PRIMARY KEY, session INTEGER NOT NULL,"
    " wall_ms INTEGER NOT NULL, boot_ms INTEGER NOT NULL, subject INTEGER NOT NULL,"
    " plain_bytes INTEGER NOT NULL, data BLOB NOT NULL);"
    "CREATE TABLE findings(id INTEGER PRIMARY KEY, session INTEGER NOT NULL,"
    " wall_ms INTEGER NOT NULL, boot_ms INTEGER NOT NULL, subject INTEGER NOT NULL,"
    " rule TEXT NOT NULL, severity TEXT NOT NULL, pid INTEGER NOT NULL,"
    " summary TEXT NOT NULL, low_bytes INTEGER, high_bytes INTEGER);"
    "CREATE TABLE events(id INTEGER PRIMARY KEY, session INTEGER NOT NULL,"
    " wall_ms INTEGER NOT NULL, boot_ms INTEGER NOT NULL, subject INTEGER NOT NULL,"
    " kind TEXT NOT NULL, text TEXT NOT NULL);"
    "PRAGMA application_id=" DIGITS(0x73747261) ";"
                                                "PRAGMA user_version=" DIGITS(
                                                    1) ";"
                                                       "COMMIT;";

_Static_assert(RECORDING_APPLICATION == 0x73747261 && RECORDING_SCHEMA == 1,
    "the texts above and the numbers in the header are the same");

int recording_format_create(sqlite3 *database, struct error *error)
{
    int rc = database_run(database, preparation, "prepare the database", error);

    if (rc == 0) {
        rc = database_run(database, tables, "make the tables", error);
    }
    if (rc != 0) {
        (void)sqlite3_exec(database, "ROLLBACK", NULL, NULL, NULL);
    }
    return rc;
}

struct format {
    int64_t application;
    int64_t schema;
    int64_t tables;
    int64_t others; /* views and triggers, which ours has none of */
};

static int read_format(sqlite3 *database, struct format *format, struct error *error)
{
    const struct {
        const char *sql;
        int64_t *number;
    } questions[] = {
        {"PRAGMA application_id", &format->application},
        {"PRAGMA user_version", &format->schema},
        {"SELECT count(*) FROM sqlite_schema WHERE type IN ('table','index')",
            &format->tables},
        {"SELECT count(*) FROM sqlite_schema WHERE type NOT IN ('table','index')",
            &format->others},
    };
    int rc = 0;

    for (size_t i = 0; rc == 0 && i < sizeof(questions) / sizeof(questions[0]); i++) {
        rc = database_number(database, questions[i].sql, questions[i].number, error);
    }
    return rc;
}

int recording_format_check(sqlite3 *database, struct error *error)
{
    struct format format = {0};
    int rc = read_format(database, &format, error);

    if (rc != 0) {
        return rc;
    }
    if (format.application == 0 && format.schema == 0 && format.tables == 0) {
        return error_set(
            error, -ENODATA, "it is empty; its recorder ended before the first figures");
    }
    if (format.application != RECORDING_APPLICATION) {
        return error_set(error, -EINVAL, "it is a database of another program");
    }
    if (format.schema > RECORDING_SCHEMA) {
        return error_set(error, -EPROTO,
            "its schema %lld is newer than %d, the newest that this strata knows; use a "
            "newer strata",
            (long long)format.schema, RECORDING_SCHEMA);
    }
    if (format.schema < 1 || format.others != 0) {
        return error_set(error, -EINVAL, "it is damaged");
    }
    return 0;
}
