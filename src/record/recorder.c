/*
 * recorder.c - what is known of the subjects while recording, and their current figures.
 *
 * Each subject has its figures twice: as the file has them, and as they are now. A tick is the
 * difference, so a tick that cannot be stored costs a moment and nothing else. Numbers of
 * subjects only grow; those that ended are forgotten here once the file knows.
 */
#include "record/recorder.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "record/capture.h"
#include "record/database.h"
#include "record/deflate.h"
#include "record/recorder_state.h"

static struct recorder_subject **bucket_of(
    struct recorder *recorder, const struct recording_subject *key)
{
    const uint64_t factor = UINT64_C(0x9e3779b97f4a7c15); /* 2^64 / golden ratio */
    uint64_t hash = key->kind * factor;

    hash = (hash ^ key->owner) * factor;
    hash = (hash ^ (uint32_t)key->pid) * factor;
    hash = (hash ^ key->start_ticks) * factor;
    return &recorder->buckets[(hash >> 32) % RECORDER_BUCKETS];
}

static bool is_same(const struct recording_subject *a, const struct recording_subject *b)
{
    return a->kind == b->kind && a->owner == b->owner && a->pid == b->pid &&
           a->start_ticks == b->start_ticks &&
           (a->kind == RECORDING_PROCESS || strcmp(a->name, b->name) == 0);
}

static void subject_free(struct recorder_subject *subject)
{
    if (subject != NULL) {
        free(subject->stored);
        free(subject->current);
        free(subject->key.name);
        free(subject->key.title);
        free(subject);
    }
}

static struct recorder_subject *subject_new(
    const struct recorder *recorder, const struct recording_subject *key)
{
    struct recorder_subject *subject = calloc(1, sizeof(*subject));

    if (subject == NULL) {
        return NULL;
    }
    subject->key = *key;
    subject->key.name = strdup(key->name);
    subject->key.title = strdup(key->title != NULL ? key->title : "");
    subject->current = calloc(recorder->metric_count, sizeof(*subject->current));
    if (subject->key.name == NULL || subject->key.title == NULL ||
        subject->current == NULL) {
        subject_free(subject);
        return NULL;
    }
    return subject;
}

/* Where id stands or would stand. */
static size_t place_of(const struct recorder *recorder, uint32_t id)
{
    size_t low = 0;
    size_t high = recorder->subject_count;

    while (low < high) {
        const size_t middle = low + (high - low) / 2;
        if (recorder->subjects[middle]->key.id < id) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

struct recorder_subject *recorder_find(const struct recorder *recorder, uint32_t id)
{
    const size_t place = place_of(recorder, id);

    return place < recorder->subject_count && recorder->subjects[place]->key.id == id
               ? recorder->subjects[place]
               : NULL;
}

static int insert(struct recorder *recorder, struct recorder_subject *subject)
{
    if (recorder->subject_count == recorder->subject_capacity) {
        const size_t capacity = recorder->subject_capacity * 2 + 64;
        struct recorder_subject **grown =
            reallocarray(recorder->subjects, capacity, sizeof(struct recorder_subject *));
        if (grown == NULL) {
            return -ENOMEM;
        }
        recorder->subjects = grown;
        recorder->subject_capacity = capacity;
    }
    const size_t place = place_of(recorder, subject->key.id);
    memmove(&recorder->subjects[place + 1], &recorder->subjects[place],
        (recorder->subject_count - place) * sizeof(struct recorder_subject *));
    recorder->subjects[place] = subject;
    recorder->subject_count++;
    struct recorder_subject **bucket = bucket_of(recorder, &subject->key);
    subject->next_in_bucket = *bucket;
    *bucket = subject;
    return 0;
}

static void forget(struct recorder *recorder, struct recorder_subject *subject)
{
    struct recorder_subject **at = bucket_of(recorder, &subject->key);

    while (*at != subject) {
        at = &(*at)->next_in_bucket;
    }
    *at = subject->next_in_bucket;
    subject_free(subject);
}

/* One that an earlier session, or a target that came back, has a number for: else 0. */
static int find_stored(
    struct recorder *recorder, const struct recording_subject *key, uint32_t *id)
{
    const bool process = key->kind == RECORDING_PROCESS;
    sqlite3_stmt *find = recorder->statements[FIND_SUBJECT];
    int rc = 0;

    (void)sqlite3_bind_int(find, 1, key->pid);
    (void)sqlite3_bind_int64(find, 2, (int64_t)key->start_ticks);
    (void)sqlite3_bind_text(find, 3, recording_kind_names[key->kind], -1, SQLITE_STATIC);
    (void)sqlite3_bind_int64(find, 4, key->owner);
    (void)sqlite3_bind_text(
        find, 5, process ? recorder->started.boot_id : "", -1, SQLITE_STATIC);
    (void)sqlite3_bind_text(find, 6, process ? NULL : key->name, -1, SQLITE_STATIC);
    const int code = sqlite3_step(find);
    *id = 0;
    if (code == SQLITE_ROW) {
        const int64_t number = sqlite3_column_int64(find, 0);
        *id = number > 0 && number < TICK_MAX_SUBJECTS ? (uint32_t)number : 0;
    } else if (code != SQLITE_DONE) {
        rc = database_error(recorder->database, "find a subject", NULL);
    }
    (void)sqlite3_reset(find);
    (void)sqlite3_clear_bindings(find);
    return rc;
}

static int add_subject(
    struct recorder *recorder, const struct recording_subject *key, uint32_t *id)
{
    uint32_t stored;
    int rc = find_stored(recorder, key, &stored);

    if (rc != 0) {
        return rc;
    }
    if (stored == 0 && recorder->last_subject + 1 >= TICK_MAX_SUBJECTS) {
        return -EFBIG;
    }
    struct recorder_subject *subject = subject_new(recorder, key);
    if (subject == NULL) {
        return -ENOMEM;
    }
    subject->known = stored != 0;
    subject->revived = subject->known;
    subject->key.id = stored != 0 ? stored : (uint32_t)(recorder->last_subject + 1);
    rc = insert(recorder, subject);
    if (rc != 0) {
        subject_free(subject);
        return rc;
    }
    recorder->last_subject += !subject->known;
    *id = subject->key.id;
    return 0;
}

static int rename_subject(struct recorder_subject *subject, const char *name)
{
    char *copy;

    if (strcmp(subject->key.name, name) == 0) {
        return 0;
    }
    copy = strdup(name);
    if (copy == NULL) {
        return -ENOMEM;
    }
    free(subject->key.name);
    subject->key.name = copy;
    subject->renamed = true;
    return 0;
}

static struct recorder_subject *lookup(
    struct recorder *recorder, const struct recording_subject *key)
{
    struct recorder_subject *subject = *bucket_of(recorder, key);

    while (subject != NULL && !is_same(&subject->key, key)) {
        subject = subject->next_in_bucket;
    }
    return subject;
}

int recorder_subject(
    struct recorder *recorder, const struct recording_subject *key, uint32_t *subject)
{
    struct recorder_subject *found = lookup(recorder, key);

    if (found == NULL) {
        return add_subject(recorder, key, subject);
    }
    *subject = found->key.id;
    if (found->current == NULL) {
        found->current = calloc(recorder->metric_count, sizeof(*found->current));
        if (found->current == NULL) {
            return -ENOMEM;
        }
    }
    return rename_subject(found, key->name);
}

void recorder_put(
    struct recorder *recorder, uint32_t subject, size_t metric, const struct fact *fact)
{
    struct recorder_subject *found = recorder_find(recorder, subject);
    const bool known = fact->state == FACT_OK || fact->state == FACT_STALE;

    BUG_IF(metric >= recorder->metric_count);
    if (found != NULL && found->current != NULL) {
        found->current[metric] = (struct tick_cell){
            .value = known ? fact->value : 0, .state = (uint64_t)fact->state};
    }
}

void recorder_end_target(struct recorder *recorder, uint32_t owner)
{
    for (size_t i = 0; i < recorder->subject_count; i++) {
        struct recorder_subject *subject = recorder->subjects[i];
        if (subject->key.owner == owner || subject->key.id == owner) {
            free(subject->current);
            subject->current = NULL;
        }
    }
}

void recorder_end_all(struct recorder *recorder)
{
    for (size_t i = 0; i < recorder->subject_count; i++) {
        subject_free(recorder->subjects[i]);
    }
    recorder->subject_count = 0;
}

void recorder_settle(struct recorder *recorder)
{
    const size_t bytes = recorder->metric_count * sizeof(struct tick_cell);
    size_t kept = 0;

    for (size_t i = 0; i < recorder->subject_count; i++) {
        struct recorder_subject *subject = recorder->subjects[i];
        subject->known = true;
        subject->revived = false;
        subject->renamed = false;
        if (subject->current == NULL) {
            forget(recorder, subject);
            continue;
        }
        memcpy(subject->stored, subject->current, bytes);
        recorder->subjects[kept++] = subject;
    }
    recorder->subject_count = kept;
}

static struct waiting_row *new_row(struct recorder *recorder)
{
    return region_alloc(&recorder->waiting_region, sizeof(struct waiting_row));
}

static int append_row(struct recorder *recorder, struct waiting_row *row, int texts)
{
    for (int i = 0; i < texts; i++) {
        if (row->text[i] == NULL) {
            return -ENOMEM;
        }
    }
    *recorder->last_row = row;
    recorder->last_row = &row->next;
    return 0;
}

int recorder_add_event(
    struct recorder *recorder, uint32_t subject, const char *kind, const char *text)
{
    struct waiting_row *row = new_row(recorder);

    if (row == NULL) {
        return -ENOMEM;
    }
    row->kind = WAITING_EVENT;
    row->subject = subject;
    row->text[0] = region_copy_text(&recorder->waiting_region, kind);
    row->text[1] = region_copy_text(&recorder->waiting_region, text);
    return append_row(recorder, row, 2);
}

int recorder_add_finding(
    struct recorder *recorder, const struct recording_finding *finding)
{
    struct region *region = &recorder->waiting_region;
    struct waiting_row *row = new_row(recorder);

    if (row == NULL) {
        return -ENOMEM;
    }
    row->kind = WAITING_FINDING;
    row->subject = finding->subject;
    row->pid = finding->pid;
    row->predicts = finding->predicts;
    row->low_bytes = finding->low_bytes;
    row->high_bytes = finding->high_bytes;
    row->text[0] = region_copy_text(region, finding->rule);
    row->text[1] = region_copy_text(region, finding->severity);
    row->text[2] = region_copy_text(region, finding->summary);
    return append_row(recorder, row, 3);
}

/* The capture's text, packed. */
static int pack(
    const struct facts *facts, struct waiting_capture *waiting, struct error *error)
{
    struct buffer plain;

    buffer_init(&plain);
    int rc = capture_write(facts, &plain, error);
    if (rc == 0) {
        rc = deflate_append(
            &waiting->packed, buffer_text(&plain), plain.length_bytes, DEFLATE_FAST);
        if (rc != 0) {
            (void)error_set(error, rc, "out of memory");
        }
    }
    waiting->plain_bytes = plain.length_bytes;
    buffer_release(&plain);
    return rc;
}

int recorder_add_capture(struct recorder *recorder, uint32_t target,
    const struct facts *facts, struct error *error)
{
    struct waiting_capture *waiting = calloc(1, sizeof(*waiting));

    if (waiting == NULL) {
        return error_set(error, -ENOMEM, "out of memory");
    }
    waiting->target = target;
    buffer_init(&waiting->packed);
    int rc = pack(facts, waiting, error);
    if (rc != 0) {
        buffer_release(&waiting->packed);
        free(waiting);
        return rc;
    }
    waiting->next = recorder->first_capture;
    recorder->first_capture = waiting;
    return 0;
}

void recorder_drop_waiting(struct recorder *recorder, bool rows)
{
    while (recorder->first_capture != NULL) {
        struct waiting_capture *capture = recorder->first_capture;
        recorder->first_capture = capture->next;
        buffer_release(&capture->packed);
        free(capture);
    }
    if (rows) {
        region_release(&recorder->waiting_region);
        region_init(&recorder->waiting_region, RECORDER_WAITING_BYTES);
        recorder->first_row = NULL;
        recorder->last_row = &recorder->first_row;
    }
}

void recorder_get_state(const struct recorder *recorder, struct recorder_state *state)
{
    int64_t pages = 0;
    int64_t free_pages = 0;
    int64_t page_bytes = 0;

    *state = (struct recorder_state){.ticks = recorder->ticks,
        .ticks_lost = recorder->ticks_lost,
        .captures = recorder->captures,
        .alive = recorder->subject_count};
    if (database_number(recorder->database, "PRAGMA page_count", &pages, NULL) == 0 &&
        database_number(recorder->database, "PRAGMA freelist_count", &free_pages, NULL) ==
            0 &&
        database_number(recorder->database, "PRAGMA page_size", &page_bytes, NULL) == 0) {
        state->file_bytes = (uint64_t)((pages - free_pages) * page_bytes);
    }
}
