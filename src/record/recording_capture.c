/*
 * recording_capture.c - the captures inside a recording, which the one reader of captures
 * reads: the text that comes out is byte for byte what went in.
 */
#include "record/recording_capture.h"

#include <errno.h>

#include "base/quantity.h"
#include "record/capture.h"
#include "record/database.h"
#include "record/deflate.h"
#include "record/recording_file.h"

enum { NS_PER_MS = 1000000 };

const struct recording_capture *recording_capture_at(
    const struct recording *recording, uint32_t target, int64_t at_ms)
{
    const struct recording_capture *before = NULL;
    const struct recording_capture *after = NULL;

    for (size_t i = 0; i < recording->capture_count; i++) {
        const struct recording_capture *capture = &recording->captures[i];
        if (target != 0 && capture->subject != target) {
            continue;
        }
        if (capture->at_ms <= at_ms) {
            before = capture;
        } else if (after == NULL) {
            after = capture;
        }
    }
    return before != NULL ? before : after;
}

static int unpack(sqlite3_stmt *row, uint64_t plain_bytes, struct buffer *text)
{
    const int bytes = sqlite3_column_bytes(row, 0);
    const void *data = sqlite3_column_blob(row, 0);

    if (plain_bytes > CAPTURE_MAX_BYTES || data == NULL || bytes <= 0) {
        return -EINVAL;
    }
    return inflate_append(text, data, (size_t)bytes, plain_bytes);
}

int recording_capture_text(const struct recording *recording,
    const struct recording_capture *capture, struct buffer *text, struct error *error)
{
    sqlite3_stmt *row = database_prepare(
        recording->file->database, "SELECT data FROM captures WHERE id=?1", error);
    int rc = -EINVAL;

    if (row == NULL) {
        return rc;
    }
    (void)sqlite3_bind_int64(row, 1, capture->id);
    if (sqlite3_step(row) == SQLITE_ROW) {
        rc = unpack(row, capture->plain_bytes, text);
    }
    (void)sqlite3_finalize(row);
    if (rc != 0) {
        return error_set(error, rc, "cannot read the capture of %s in '%s': %s",
            quantity_time(capture->at_ms * NS_PER_MS).text, recording->file->path,
            rc == -ENOMEM ? "out of memory" : "it is damaged");
    }
    return 0;
}

int recording_capture_facts(const struct recording *recording,
    const struct recording_capture *capture, struct facts *facts, struct error *error)
{
    struct buffer text;

    buffer_init(&text);
    int rc = recording_capture_text(recording, capture, &text, error);
    if (rc == 0) {
        rc = capture_read(
            recording->file->path, buffer_text(&text), text.length_bytes, facts, error);
    }
    buffer_release(&text);
    return rc;
}
