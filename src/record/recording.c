/*
 * recording.c - opens a recording and looks things up in its lists.
 *
 * One read transaction lasts as long as the recording is open, so that all that is read is of
 * one moment, also while a recorder writes.
 */
#include "record/recording.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/input_file.h"
#include "record/database.h"
#include "record/recording_file.h"
#include "record/recording_format.h"
#include "record/recording_list.h"

const char *const recording_kind_names[RECORDING_KIND_COUNT] = {
    [RECORDING_TARGET] = "target",
    [RECORDING_PROCESS] = "process",
    [RECORDING_CGROUP] = "cgroup",
    [RECORDING_HOST] = "host",
};

bool recording_looks_like(const char *path)
{
    static const char magic[] = "SQLite format 3";
    char text[sizeof(magic)];
    struct stat status;
    bool answer = false;

    /* What is read of a pipe is gone for whoever wants it. */
    if (stat(path, &status) != 0 || !S_ISREG(status.st_mode)) {
        return false;
    }
    int descriptor = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (descriptor >= 0) {
        answer = read(descriptor, text, sizeof(text)) == (ssize_t)sizeof(text) &&
                 memcmp(text, magic, sizeof(magic)) == 0;
        (void)close(descriptor);
    }
    return answer;
}

static int open_file(const char *path, struct recording *recording, struct error *error)
{
    struct recording_file *file = recording->file;
    const char *why;

    file->path = region_copy_text(&recording->region, path);
    if (file->path == NULL) {
        return error_set(error, -ENOMEM, "out of memory");
    }
    int rc =
        input_file_check(path, &why); /* SQLite would wait for the writer of a pipe */
    if (rc != 0) {
        return error_set(error, rc, "%s", why);
    }
    if (access(path, R_OK) != 0) {
        return error_set(error, -errno, "%s", strerror(errno));
    }
    rc = database_open(path, false, &file->database, error);
    if (rc != 0) {
        return rc;
    }
    return database_run(file->database, "BEGIN", "read the tables", error);
}

int recording_open(const char *path, struct recording *recording, struct error *error)
{
    struct error why = {0};

    *recording = (struct recording){.sessions = NULL};
    region_init(&recording->region, RECORDING_MAX_REGION_BYTES);
    recording->file = region_alloc(&recording->region, sizeof(*recording->file));
    if (recording->file == NULL) {
        return error_set(
            error, -ENOMEM, "cannot read recording '%s': out of memory", path);
    }
    int rc = open_file(path, recording, &why);
    if (rc == 0) {
        rc = recording_format_check(recording->file->database, &why);
        if (rc == 0) {
            rc = recording_lists_read(recording, &why);
        }
    }
    if (rc == 0 && recording->tick_count == 0) {
        rc = error_set(&why, -ENODATA, "there are no figures in it yet");
    }
    if (rc != 0) {
        (void)error_set(
            error, rc, "cannot read recording '%s': %s", path, error_text(&why, rc));
        recording_close(recording);
    }
    return rc;
}

void recording_close(struct recording *recording)
{
    if (recording->file != NULL) {
        database_close_reader(recording->file->database);
    }
    region_release(&recording->region);
    *recording = (struct recording){.sessions = NULL};
}

int recording_metric(const struct recording *recording, const char *name)
{
    for (size_t i = 0; i < recording->metric_count; i++) {
        if (strcmp(recording->metrics[i].name, name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

const struct recording_subject *recording_subject(
    const struct recording *recording, uint32_t id)
{
    size_t low = 0;
    size_t high = recording->subject_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (recording->subjects[middle].id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low < recording->subject_count && recording->subjects[low].id == id
               ? &recording->subjects[low]
               : NULL;
}
