/*
 * kept_folder.c - which looks lie in the state folder, and which of them go.
 *
 * The folder may be one of systemd's, with files of others in it, so only names that a look has
 * count. Of a target stay the look at this start and the one at the start before; of all
 * targets those that were looked at last.
 */
#include "cmd/kept_folder.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    MOST_ENTRIES = 512, /* of ours; the bound on targets keeps them far below */
    MOST_NAMES = 8192,  /* in the folder */
    TEMPORARY_SECONDS = 3600,
};

const char kept_temporary[] = ".strata-new-";

static void add_entry(int folder, const char *text, struct kept_entries *entries)
{
    struct kept_entry *entry = &entries->items[entries->count];
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

    if (strncmp(text, kept_temporary, sizeof(kept_temporary) - 1) == 0 &&
        fstatat(folder, text, &status, AT_SYMLINK_NOFOLLOW) == 0 &&
        S_ISREG(status.st_mode) && time(NULL) - status.st_mtime > TEMPORARY_SECONDS) {
        (void)unlinkat(folder, text, 0);
    }
}

int kept_folder_list(int folder, struct kept_entries *entries)
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

static void drop(int folder, struct kept_entry *entry)
{
    (void)unlinkat(folder, entry->text, 0);
    entry->text[0] = '\0';
}

/* Of the target itself: this start, and the last one before it. */
static void prune_target(
    int folder, struct kept_entries *entries, const struct kept_name *mine)
{
    struct kept_entry *last = NULL;

    for (size_t i = 0; i < entries->count; i++) {
        struct kept_entry *entry = &entries->items[i];
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
static int64_t newest_of(const struct kept_entries *entries, uint64_t key)
{
    int64_t newest = INT64_MIN;

    for (size_t i = 0; i < entries->count; i++) {
        const struct kept_entry *entry = &entries->items[i];
        if (entry->text[0] != '\0' && entry->name.key == key && entry->written > newest) {
            newest = entry->written;
        }
    }
    return newest;
}

/* How many targets there are, and the one that nobody looked at for longest. */
static size_t count_targets(const struct kept_entries *entries, uint64_t *forgotten)
{
    int64_t oldest = INT64_MAX;
    size_t count = 0;

    for (size_t i = 0; i < entries->count; i++) {
        const struct kept_entry *entry = &entries->items[i];
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

void kept_folder_prune(int folder, const struct kept_name *mine)
{
    struct kept_entries entries;
    uint64_t forgotten = 0;

    if (kept_folder_list(folder, &entries) != 0) {
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

const struct kept_entry *kept_folder_latest(
    const struct kept_entries *entries, const struct kept_name *mine, uint64_t bound)
{
    const struct kept_entry *latest = NULL;

    for (size_t i = 0; i < entries->count; i++) {
        const struct kept_entry *entry = &entries->items[i];
        const uint64_t start = entry->name.start_unix_seconds;
        if (entry->name.key == mine->key && start < bound &&
            !kept_name_same_start(&entry->name, mine) &&
            (latest == NULL || start > latest->name.start_unix_seconds)) {
            latest = entry;
        }
    }
    return latest;
}
