/*
 * watch_schedule.c - which rows are looked into, and which of them next.
 *
 * A target is due again in proportion to what the last look took, and later after each
 * failure in a row.
 */
#include "cmd/watch_schedule.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* A target is due again after this many times as long as it took. */
enum { TARGET_REST = 50, FAILURES_MAX = 6 };

/* ---- which rows */

struct watch_entry *watch_entry_find(struct watch *watch, const char *key)
{
    for (size_t i = 0; i < watch->entry_count; i++) {
        if (strcmp(watch->entries[i].key, key) == 0) {
            return &watch->entries[i];
        }
    }
    return NULL;
}

bool watch_is_focus(const struct watch *watch, const char *key)
{
    return watch->focus != NULL && strcmp(watch->focus, key) == 0;
}

size_t watch_place_of(const struct watch *watch, const char *key)
{
    const size_t count = watch->view->account.overview.count;

    for (size_t i = 0; i < count; i++) {
        if (strcmp(watch->view->names[i].key, key) == 0) {
            return i;
        }
    }
    return count;
}

void watch_entry_free(struct watch_entry *entry)
{
    watch_look_drop(entry->look);
    free(entry->key);
}

static void add_entry(struct watch *watch, const char *key)
{
    if (watch_entry_find(watch, key) != NULL ||
        watch->entry_count >= 2 * watch->options.most + 1) {
        return;
    }
    char *copy = strdup(key);
    if (copy != NULL) { /* else at the next look at the host */
        watch->entries[watch->entry_count++] = (struct watch_entry){.key = copy};
    }
}

/*
 * A row that has been looked into is kept while it is among the first 2 * most, so that rows
 * at the border do not come and go.
 */
void watch_update_entries(struct watch *watch)
{
    const size_t rows = watch->view->account.overview.count;
    size_t kept = 0;

    for (size_t i = 0; i < watch->entry_count; i++) {
        const size_t place = watch_place_of(watch, watch->entries[i].key);
        if (place < rows && (place < 2 * watch->options.most ||
                                watch_is_focus(watch, watch->entries[i].key))) {
            watch->entries[kept++] = watch->entries[i];
        } else {
            watch_entry_free(&watch->entries[i]);
        }
    }
    watch->entry_count = kept;
    for (size_t i = 0; i < rows && i < watch->options.most; i++) {
        add_entry(watch, watch->view->names[i].key);
    }
    if (watch->focus != NULL && watch_place_of(watch, watch->focus) < rows) {
        add_entry(watch, watch->focus);
    }
}

/* ---- which one is next */

/* The focus is due until its facts are kept too. */
bool watch_entry_is_due(const struct watch *watch, const struct watch_entry *entry)
{
    return entry->due_ns <= watch_now_ns() ||
           (watch_is_focus(watch, entry->key) &&
               (entry->look == NULL || !entry->look->full));
}

struct watch_entry *watch_most_due(struct watch *watch)
{
    struct watch_entry *best = NULL;

    for (size_t i = 0; i < watch->entry_count; i++) {
        struct watch_entry *entry = &watch->entries[i];
        if (watch_is_focus(watch, entry->key) && watch_entry_is_due(watch, entry)) {
            return entry;
        }
        if (best == NULL || entry->due_ns < best->due_ns) {
            best = entry;
        }
    }
    return best;
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static enum fact_state state_of_failure(int rc)
{
    switch (-rc) {
    case ESRCH:
    case ENOENT:
        return FACT_GONE;
    case EACCES:
    case EPERM:
        return FACT_DENIED;
    case ENOMEM:
        return FACT_ABSENT; /* nothing is wrong with the target */
    default:
        return FACT_MALFORMED;
    }
}

void watch_store_look(
    struct watch *watch, const char *key, int rc, struct watch_look *look)
{
    struct watch_entry *entry = watch_entry_find(watch, key);
    const uint64_t every_ns = watch->options.every_ns;

    watch->counts.looks++;
    watch->sequence++;
    if (rc != 0) {
        watch->counts.failures[state_of_failure(rc)]++;
    } else {
        watch->counts.look_wall_ns = look->wall_ns;
        watch->counts.cpu_ns += look->cpu_ns;
    }
    if (entry == NULL) { /* the row went meanwhile */
        watch_look_drop(look);
    } else if (rc != 0) {
        entry->due_ns = watch_now_ns() + (every_ns << entry->failures);
        entry->failures += entry->failures < FAILURES_MAX;
    } else {
        const uint64_t rest_ns =
            shorter(look->wall_ns, UINT64_MAX / TARGET_REST / 2) * TARGET_REST;
        watch_look_drop(entry->look);
        entry->look = look;
        entry->failures = 0;
        entry->due_ns =
            watch_now_ns() + (rest_ns > every_ns && !look->full ? rest_ns : every_ns);
    }
}
