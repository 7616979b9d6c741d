/*
 * kept_look.c - looks in the state folder: one file for each start of a target.
 *
 * A file is a line with its plain size and a deflated capture. It is written beside its place and
 * renamed. What is read back may have been damaged, or put there for another target: it has to
 * be a regular file of this user, within the bounds, a capture that passes all checks, of the same
 * identity, and from before the start of what it is compared with. A look whose process
 * still lives is one at a sibling, not at an earlier start.
 */
#include "cmd/kept_look.h"

#include <dirent.h>
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
#include "base/number.h"
#include "cmd/kept_name.h"
#include "cmd/state_folder.h"
#include "facts/stat.h"
#include "record/capture.h"
#include "record/deflate.h"

enum {
    MOST_ENTRIES = 512, /* of ours; the bound on targets keeps them far below */
    MOST_NAMES = 8192,  /* in the folder */
    MOST_TRIES = 4,     /* of looks that turn out to be none */
    HEAD_BYTES = 64,
    STAT_BYTES = 4096,
    TEMPORARY_SECONDS = 3600,
    NS_PER_SECOND = 1000000000,
    DECIMAL = 10,
    START_EARLY_SECONDS = 2, /* whole seconds of the boot and of the start are cut off */
};

static const char head[] = "strata look 1 ";
static const char temporary[] = ".strata-new-"; /* others may have files there */

struct entry {
    struct kept_name name;
    char text[KEPT_NAME_BYTES];
    int64_t written; /* seconds */
};

struct entries {
    struct entry *items;
    size_t count;
};

static int open_state(bool make)
{
    char path[STATE_FOLDER_BYTES];

    return state_folder_path(path, sizeof(path)) ? state_folder_open(path, make)
                                                 : -ENOENT;
}

/* ---- the folder's list */

static void add_entry(int folder, const char *text, struct entries *entries)
{
    struct entry *entry = &entries->items[entries->count];
    struct stat status;

    if (entries->count == MOST_ENTRIES || strlen(text) >= sizeof(entry->text) ||
        !kept_name_parse(text, &entry->name) ||
        fstatat(folder, text, &status, AT_SYMLINK_NOFOLLOW) != 0 ||
        !S_ISREG(status.st_mode)) {
        return;
    }
    (void)snprintf(entry->text, sizeof(entry->text), "%s", text);
    entry->written = status.st_mtime;
    entries->count++;
}

/* One that a strata which was killed left behind. */
static void drop_temporary(int folder, const char *text)
{
    struct stat status;

    if (strncmp(text, temporary, sizeof(temporary) - 1) == 0 &&
        fstatat(folder, text, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && time(NULL) - status.st_mtime > TEMPORARY_SECONDS) {
        (void)unlinkat(folder, text, 0);
    }
}

static int list(int folder, struct entries *entries)
{
    const int fd = openat(folder, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    DIR *names = fd >= 0 ? fdopendir(fd) : NULL;
    const struct dirent *name;

    entries->count = 0;
    entries->items = calloc(MOST_ENTRIES + 1, sizeof(*entries->items));
    if (names == NULL || entries->items == NULL) {
        free(entries->items);
        entries->items = NULL;
        if (names != NULL) {
            (void)closedir(names);
        } else if (fd >= 0) {
            (void)close(fd);
        }
        return -ENOMEM;
    }
    for (int i = 0; i < MOST_NAMES && (name = readdir(names)) != NULL; i++) {
        add_entry(folder, name->d_name, entries);
        drop_temporary(folder, name->d_name);
    }
    (void)closedir(names);
    return 0;
}

/* ---- which to drop */

static void drop(int folder, struct entry *entry)
{
    (void)unlinkat(folder, entry->text, 0);
    entry->text[0] = '\0';
}

/* Of the target itself: this start, and the last one before it. */
static void prune_target(
    int folder, struct entries *entries, const struct kept_name *mine)
{
    struct entry *last = NULL;

    for (size_t i = 0; i < entries->count; i++) {
        struct entry *entry = &entries->items[i];
        if (entry->name.key != mine->key || kept_name_same_start(&entry->name, mine)) {
            continue;
        }
        if (last == NULL ||
            entry->name.start_unix_seconds > last->name.start_unix_seconds) {
            if (last != NULL) {
                drop(folder, last);
            }
            last = entry;
        } else {
            drop(folder, entry);
        }
    }
}

/* When the newest look at the target of that key was written. */
static int64_t newest_of(const struct entries *entries, uint64_t key)
{
    int64_t newest = INT64_MIN;

    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        if (entry->text[0] != '\0' && entry->name.key == key && entry->written > newest) {
            newest = entry->written;
        }
    }
    return newest;
}

/* How many targets there are, and the one that nobody looked at for longest. */
static size_t count_targets(const struct entries *entries, uint64_t *forgotten)
{
    int64_t oldest = INT64_MAX;
    size_t count = 0;

    for (size_t i = 0; i < entries->count; i++) {
        const struct entry *entry = &entries->items[i];
        bool first = entry->text[0] != '\0';
        for (size_t j = 0; first && j < i; j++) {
            first = entries->items[j].text[0] == '\0' ||
                    entries->items[j].name.key != entry->name.key;
        }
        if (!first) {
            continue;
        }
        count++;
        const int64_t newest = newest_of(entries, entry->name.key);
        if (newest < oldest) {
            oldest = newest;
            *forgotten = entry->name.key;
        }
    }
    return count;
}

static void prune(int folder, const struct kept_name *mine)
{
    struct entries entries;
    uint64_t forgotten = 0;

    if (list(folder, &entries) != 0) {
        return;
    }
    prune_target(folder, &entries, mine);
    while (count_targets(&entries, &forgotten) > KEPT_MOST_TARGETS) {
        for (size_t i = 0; i < entries.count; i++) {
            if (entries.items[i].name.key == forgotten) {
                drop(folder, &entries.items[i]);
            }
        }
    }
    free(entries.items);
}

/* ---- writing */

static int write_beside(int folder, const char *text, const struct buffer *buffer)
{
    char name[HEAD_BYTES];
    struct timespec now = {0};

    /* Containers that share the folder have processes of one number. */
    (void)clock_gettime(CLOCK_REALTIME, &now);
    (void)snprintf(name, sizeof(name), "%s%d-%" PRId64 "-%ld", temporary, (int)getpid(),
        (int64_t)now.tv_sec, now.tv_nsec);
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

static size_t rows_of(const struct facts *facts)
{
    size_t rows = facts->process_count;

    for (size_t i = 0; i < facts->process_count; i++) {
        rows += facts->processes[i].mapping_count + facts->processes[i].span_count;
    }
    return rows;
}

static int pack(const struct facts *facts, struct buffer *packed)
{
    struct buffer plain;

    if (rows_of(facts) > KEPT_MOST_ROWS) {
        return -EFBIG;
    }
    buffer_init(&plain);
    int rc = capture_write(facts, &plain, NULL);
    if (rc == 0 && plain.length_bytes > KEPT_MOST_PLAIN_BYTES) {
        rc = -EFBIG;
    }
    if (rc == 0) {
        buffer_printf(packed, "%s%zu\n", head, plain.length_bytes);
        rc = deflate_append(packed, plain.data, plain.length_bytes);
    }
    buffer_release(&plain);
    rc = rc != 0 ? rc : buffer_error(packed);
    return rc == 0 && packed->length_bytes > KEPT_MOST_BYTES ? -EFBIG : rc;
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
    int rc = pack(facts, &packed);
    if (rc == 0) {
        rc = write_beside(folder, text, &packed);
    }
    if (rc == 0) {
        prune(folder, &mine);
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
        rc = descriptor_read_all(fd, KEPT_MOST_BYTES, packed);
    }
    (void)close(fd);
    return rc;
}

/* The capture behind the first line, which says how large it is. */
static int unpack(const struct buffer *packed, struct buffer *plain)
{
    const char *text = buffer_text(packed);
    const char *rest = text + sizeof(head) - 1;
    uint64_t plain_bytes;

    if (packed->length_bytes < HEAD_BYTES || strncmp(text, head, sizeof(head) - 1) != 0 ||
        number_read(&rest, DECIMAL, &plain_bytes) != 0 || *rest++ != '\n' ||
        plain_bytes > KEPT_MOST_PLAIN_BYTES) {
        return -EINVAL;
    }
    return inflate_append(
        plain, rest, packed->length_bytes - (size_t)(rest - text), (size_t)plain_bytes);
}

static int load(int folder, const char *text, struct facts *facts)
{
    struct buffer packed;
    struct buffer plain;

    buffer_init(&packed);
    buffer_init(&plain);
    int rc = read_packed(folder, text, &packed);
    if (rc == 0) {
        rc = unpack(&packed, &plain);
    }
    if (rc == 0) {
        rc = capture_read(text, buffer_text(&plain), plain.length_bytes, facts, NULL);
    }
    buffer_release(&packed);
    buffer_release(&plain);
    return rc;
}

static bool lives(const struct process_facts *process)
{
    struct process_stat stat;
    struct buffer text;
    char path[HEAD_BYTES];

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
                    (int64_t)mine->start_unix_seconds + START_EARLY_SECONDS;
    for (size_t i = 0; fits && i < before->process_count; i++) {
        fits = !lives(&before->processes[i]);
    }
    buffer_release(&a);
    buffer_release(&b);
    return fits;
}

/* The one with the latest start before mine and before bound. */
static struct entry *latest_before(
    struct entries *entries, const struct kept_name *mine, uint64_t bound)
{
    struct entry *latest = NULL;

    for (size_t i = 0; i < entries->count; i++) {
        struct entry *entry = &entries->items[i];
        const uint64_t start = entry->name.start_unix_seconds;
        if (entry->name.key == mine->key && start < bound &&
            !kept_name_same_start(&entry->name, mine) &&
            (latest == NULL || start > latest->name.start_unix_seconds)) {
            latest = entry;
        }
    }
    return latest;
}

static bool find(int folder, const struct facts *now, const struct kept_name *mine,
    struct facts *before)
{
    uint64_t bound = mine->start_unix_seconds + 1;
    struct entries entries;
    bool found = false;

    if (list(folder, &entries) != 0) {
        return false;
    }
    for (int i = 0; i < MOST_TRIES && !found; i++) {
        const struct entry *entry = latest_before(&entries, mine, bound);
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
