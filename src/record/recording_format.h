/* recording_format.h - the tables of a recording, and whether a file has them. */
#ifndef STRATA_RECORD_RECORDING_FORMAT_H
#define STRATA_RECORD_RECORDING_FORMAT_H

#include <sqlite3.h>

#include "base/error.h"

/* PRAGMA user_version; grows when an older reader would misunderstand the tables. */
enum { RECORDING_SCHEMA = 1 };

/* PRAGMA application_id: "stra". */
enum { RECORDING_APPLICATION = 0x73747261 };

/* Makes the tables in an empty database, all or none. 0 or -errno. */
int recording_format_create(sqlite3 *database, struct error *error);

/*
 * 0; -ENODATA: an empty database, as an interrupted start leaves it; -EINVAL: not a
 * recording, or a damaged one; -EPROTO: of a newer schema. error says what it is, without
 * its name: "it is ...".
 */
int recording_format_check(sqlite3 *database, struct error *error);

#endif
