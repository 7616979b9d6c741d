/*
 * kept_look.c - looks in the state folder: one file for each start of a target.
 *
 * A file is what record/look.h packs. It is written beside its place and renamed. What is read
 * back may have been damaged, or put there for another target: it has to be a regular file of
 * this user, within the bounds, a capture that passes all checks, of the same identity, and from
 * before the start of what it is compared with. A look whose process still lives is one at a
 * sibling, not at an earlier start.
 */
#include "cmd/kept_look.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "cmd/kept_folder.h"
#include "cmd/kept_name.h"
#include "cmd/state_folder.h"
#include "facts/stat.h"
#include "record/look.h"

enum {
    MOST_TRIES = 4, /* of looks that turn out to be none */
    NAME_BYTES = 64,
    STAT_BYTES = 4096,
    NS_PER_SECOND = 1000000000,
};

static int open_state(bool make)
{
    char path[STATE_FOLDER_BYTES];

    return state_folder_path(path, sizeof(path)) ? state_folder_open(path, make)
                                                 : -ENOENT;
}

/* ---- writing */

static int write_beside(int folder, const char *text, const struct buffer *buffer)
{
    char name[NAME_BYTES];
    struct timespec now = {0};

    /* Containers that share the folder have processes of one number. */
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(name, sizeof(name), "%s%d-%" PRId64 "-%ld", kept_temporary,
        (int)getpid(), (int64_t)now.tv_sec, now.tv_nsec);
    const int fd =
        openat(folder, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0) {
        return -errno;
    }
    int rc = descriptor_write_all(fd, buffer->data, buffer->length_bytes);
    if (close(fd) != 0 && rc == 0) {
        rc = -errno;
    }
    if (rc == 0 && renameat(folder, name, folder, text) != 0) {
        rc = -errno;
    }
    if (rc != 0) {
        (void)unlinkat(folder, name, 0);
    }
    return rc;
}

bool kept_look_is_worth(const struct finding_list *list)
{
    for (size_t i = 0; i < list->count; i++) {
        if (list->items[i].predicts && list->items[i].predicted_high_bytes > 0) {
            return true;
        }
    }
    return false;
}

int kept_look_keep(const struct facts *facts)
{
    char text[KEPT_NAME_BYTES];
    struct kept_name mine;
    struct buffer packed;

    if (!kept_name_of(facts, &mine, text)) {
        return -ENOENT;
    }
    const int folder = open_state(true);
    if (folder < 0) {
        return folder;
    }
    buffer_init(&packed);
    int rc = look_pack(facts, &packed);
    if (rc == 0) {
        rc = write_beside(folder, text, &packed);
    }
    if (rc == 0) {
        kept_folder_prune(folder, &mine);
    }
    buffer_release(&packed);
    (void)close(folder);
    return rc;
}

const char *kept_look_words(int rc)
{
    switch (rc) {
    case 0:
        return "kept for the next explain";
    case -ENOENT:
    case -EROFS:
    case -EACCES:
        return NULL; /* normal in containers, and where a service has no folder */
    case -EFBIG:
        return "too large to be kept";
    case -EPERM:
        return "not kept: others can write to the folder, or to one above it";
    case -ENOSPC:
    case -EDQUOT:
        return "not kept: the disk is full";
    default:
        return "not kept: the folder cannot be written";
    }
}

/* ---- reading */

static int read_packed(int folder, const char *text, struct buffer *packed)
{
    const int fd =
        openat(folder, text, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    struct stat status;

    if (fd < 0) {
        return -errno;
    }
    int rc = fstat(fd, &status) != 0 ? -errno : 0;
    if (rc == 0 && (!S_ISREG(status.st_mode) || status.st_uid != geteuid())) {
        rc = -EPERM;
    }
    if (rc == 0) {
        rc = descriptor_read_all(fd, LOOK_MOST_BYTES, packed);
    }
    (void)close(fd);
    return rc;
}

static int load(int folder, const char *text, struct facts *facts)
{
    struct buffer packed;

    buffer_init(&packed);
    int rc = read_packed(folder, text, &packed);
    if (rc == 0) {
        rc = look_unpack(text, &packed, facts);
    }
    buffer_release(&packed);
    return rc;
}

static bool lives(const struct process_facts *process)
{
    struct process_stat stat;
    struct buffer text;
    char path[NAME_BYTES];

    (void)snprintf(path, sizeof(path), "/proc/%" PRId32 "/stat", process->pid);
    const int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0) {
        return false;
    }
    buffer_init(&text);
    const bool same =
        descriptor_read_all(fd, STAT_BYTES, &text) == 0 &&
        process_stat_parse(buffer_text(&text), text.length_bytes, &stat) == 0 &&
        stat.start_time_ticks == process->start_time_ticks;
    buffer_release(&text);
    (void)close(fd);
    return same;
}

/* Is this what its name says, and an earlier start of the same target? */
static bool is_earlier(
    const struct facts *before, const struct facts *now, const struct kept_name *mine)
{
    struct buffer a;
    struct buffer b;

    buffer_init(&a);
    buffer_init(&b);
    kept_identity(before, &a);
    kept_identity(now, &b);
    bool fits = !a.failed && !b.failed && strcmp(buffer_text(&a), buffer_text(&b)) == 0 &&
                before->taken_at_unix_ns / NS_PER_SECOND <=
                    (int64_t)mine->start_unix_seconds + PROCESS_START_EARLY_SECONDS;
    for (size_t i = 0; fits && i < before->process_count; i++) {
        fits = !lives(&before->processes[i]);
    }
    buffer_release(&a);
    buffer_release(&b);
    return fits;
}

static bool find(int folder, const struct facts *now, const struct kept_name *mine,
    struct facts *before)
{
    uint64_t bound = mine->start_unix_seconds + 1;
    struct kept_entries entries;
    bool found = false;

    if (kept_folder_list(folder, &entries) != 0) {
        return false;
    }
    for (int i = 0; i < MOST_TRIES && !found; i++) {
        const struct kept_entry *entry = kept_folder_latest(&entries, mine, bound);
        if (entry == NULL) {
            break;
        }
        bound = entry->name.start_unix_seconds;
        if (load(folder, entry->text, before) == 0) {
            found = is_earlier(before, now, mine);
            if (!found) {
                region_release(&before->region);
            }
        }
    }
    free(entries.items);
    return found;
}

bool kept_look_before(const struct facts *now, struct facts *before)
{
    char text[KEPT_NAME_BYTES];
    struct kept_name mine;

    if (!kept_name_of(now, &mine, text)) {
        return false;
    }
    const int folder = open_state(false);
    if (folder < 0) {
        return false;
    }
    const bool found = find(folder, now, &mine, before);
    (void)close(folder);
    return found;
}
