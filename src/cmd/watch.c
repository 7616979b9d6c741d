/*
 * watch.c - looks at the host and inside of targets, in threads; who may see the results.
 *
 * Two kinds of looks, two clocks. The host is looked at every few seconds, which costs
 * microseconds for each process. A look inside of a target costs milliseconds, and for a
 * hostile one minutes: each target has a due time of its own (watch_schedule.c), and the thread
 * rests between looks in proportion to what they took. Views and looks are immutable and
 * counted, so readers copy pointers under the lock and leave.
 */
#include "cmd/watch.h"

#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cmd/watch_schedule.h"
#include "cmd/watch_state.h"
#include "cmd/watch_view.h"

enum { NS_PER_SECOND = 1000000000 };

/* Rest after the first look at a target, so that a new one and a new watch need not wait long. */
enum { FIRST_REST = 1 };

/* The free end of the heap that malloc may keep. */
#define KEPT_BYTES (1 << 20)

#define STOP_WAIT_NS (UINT64_C(500) * 1000 * 1000)

/* More of a look does not count, so that no rest overflows. */
#define LONGEST_LOOK_NS (UINT64_C(1) << 40)

/* ---- views; the lock is held */

static void drop_view(struct watch_view *view)
{
    if (view != NULL && --view->references == 0) {
        watch_view_free(view);
    }
}

/* ---- the host */

static int look_at_host(struct watch *watch)
{
    struct watch_view *view = NULL;
    struct error error;

    error_reset(&error);
    int rc = watch_view_read(&watch->options, &view, &error);
    (void)pthread_mutex_lock(&watch->lock);
    watch->host_due_ns = watch_now_ns() + watch->options.every_ns;
    watch->counts.host_looks++;
    if (rc == 0) {
        watch->counts.host_wall_ns = view->wall_ns;
        watch->counts.cpu_ns += view->cpu_ns;
        drop_view(watch->view);
        watch->view = view;
        watch_update_entries(watch);
    } else {
        watch->counts.host_failures++;
    }
    watch->sequence++;
    (void)pthread_cond_broadcast(&watch->changed);
    (void)pthread_mutex_unlock(&watch->lock);
    return rc;
}

/* ---- looks inside */

/* The lock is held, and given up while the target is read. Returns the processor time taken. */
static uint64_t look_inside(struct watch *watch, const char *entry_key)
{
    struct watch_view *view = watch->view;
    const size_t place = watch_place_of(watch, entry_key);
    struct watch_look *look = NULL;
    char *key = strdup(entry_key);
    int rc = -ENOMEM;

    if (key == NULL || place == view->account.overview.count) {
        free(key);
        return 0;
    }
    const struct facts *group = view->account.overview.rows[place].snapshot.facts;
    const struct watch_members members = {.name = view->names[place].labels.name,
        .processes = group->processes,
        .count = group->process_count,
        .root = watch->options.root,
        .ask_nobody = watch->options.ask_nobody};
    const bool full = watch_is_focus(watch, key);
    const uint64_t cpu_before_ns = watch_cpu_ns();

    view->references++;
    (void)pthread_mutex_unlock(&watch->lock);
    rc = watch_look_take(&members, full, &look);
    (void)pthread_mutex_lock(&watch->lock);
    watch_store_look(watch, key, rc, look);
    (void)pthread_cond_broadcast(&watch->changed);
    drop_view(view);
    free(key);
    return watch_cpu_ns() - cpu_before_ns;
}

/* ---- threads */

static void wait_until(struct watch *watch, uint64_t until_ns)
{
    const struct timespec until = {.tv_sec = (time_t)(until_ns / NS_PER_SECOND),
        .tv_nsec = (long)(until_ns % NS_PER_SECOND)};

    (void)pthread_cond_timedwait(&watch->changed, &watch->lock, &until);
}

static void wait_for_change(struct watch *watch)
{
    (void)pthread_cond_wait(&watch->changed, &watch->lock);
}

static void *run_host_thread(void *argument)
{
    struct watch *watch = argument;

    (void)pthread_mutex_lock(&watch->lock);
    while (!watch->stopping) {
        if (watch->paused) {
            wait_for_change(watch);
        } else if (watch_now_ns() < watch->host_due_ns) {
            wait_until(watch, watch->host_due_ns);
        } else {
            (void)pthread_mutex_unlock(&watch->lock);
            (void)look_at_host(watch);
            (void)pthread_mutex_lock(&watch->lock);
        }
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return NULL;
}

/* Sleeps although there may be targets due, unless it is time to end or the focus has changed. */
static void rest(struct watch *watch, uint64_t took_ns, bool first, uint64_t changes)
{
    const uint64_t counted_ns = took_ns < LONGEST_LOOK_NS ? took_ns : LONGEST_LOOK_NS;
    const uint64_t until_ns =
        watch_now_ns() + counted_ns * (first ? FIRST_REST : watch->options.rest);

    while (!watch->stopping && watch->focus_changes == changes &&
           watch_now_ns() < until_ns) {
        wait_until(watch, until_ns);
    }
}

static void *run_look_thread(void *argument)
{
    struct watch *watch = argument;

    (void)pthread_mutex_lock(&watch->lock);
    while (!watch->stopping) {
        const struct watch_entry *entry = watch_most_due(watch);
        if (watch->paused || entry == NULL) {
            wait_for_change(watch);
        } else if (!watch_entry_is_due(watch, entry)) {
            wait_until(watch, entry->due_ns);
        } else {
            const bool first = entry->look == NULL && entry->failures == 0;
            const uint64_t changes = watch->focus_changes;
            const uint64_t took_ns = look_inside(watch, entry->key);
            rest(watch, took_ns, first, changes);
        }
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return NULL;
}

/* ---- begin and end */

static void free_watch(struct watch *watch)
{
    for (size_t i = 0; i < watch->entry_count; i++) {
        watch_entry_free(&watch->entries[i]);
    }
    drop_view(watch->view);
    free(watch->entries);
    free(watch->focus);
    (void)pthread_cond_destroy(&watch->changed);
    (void)pthread_mutex_destroy(&watch->lock);
    free(watch);
}

static int check_root(const struct watch_options *options, struct error *error)
{
    struct facts_root root;
    int rc = facts_root_open(&root, options->root, error);

    if (rc == 0) {
        facts_root_close(&root);
    }
    return rc;
}

/*
 * Looks take memory and give all of it back, again and again. One arena keeps no second copy, and
 * thresholds that are set do not grow with the largest block, as glibc's own do: a day of looks at large
 * targets would leave tens of MiB at the end of each thread's heap.
 */
static void keep_little(void)
{
    (void)mallopt(M_ARENA_MAX, 1);
    (void)mallopt(M_TRIM_THRESHOLD, KEPT_BYTES);
}

int watch_open(
    const struct watch_options *options, struct watch **result, struct error *error)
{
    keep_little();
    int rc = check_root(options, error);
    struct watch *watch = calloc(1, sizeof(*watch));
    pthread_condattr_t attributes;

    if (rc == 0 && watch != NULL) {
        watch->entries = calloc(2 * options->most + 1, sizeof(*watch->entries));
    }
    if (rc != 0 || watch == NULL || watch->entries == NULL) {
        free(watch);
        return rc != 0 ? rc : -ENOMEM;
    }
    watch->options = *options;
    (void)pthread_mutex_init(&watch->lock, NULL);
    (void)pthread_condattr_init(&attributes);
    (void)pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
    (void)pthread_cond_init(&watch->changed, &attributes);
    (void)pthread_condattr_destroy(&attributes);
    *result = watch;
    return 0;
}

int watch_start(
    const struct watch_options *options, struct watch **result, struct error *error)
{
    struct watch *watch;
    sigset_t all;
    sigset_t before;
    int rc = watch_open(options, &watch, error);

    if (rc != 0) {
        return rc;
    }
    /* Signals are for the caller's thread. */
    (void)sigfillset(&all);
    (void)pthread_sigmask(SIG_SETMASK, &all, &before);
    rc = pthread_create(&watch->host_thread, NULL, run_host_thread, watch);
    if (rc == 0) {
        rc = pthread_create(&watch->look_thread, NULL, run_look_thread, watch);
        watch->threads_run = rc == 0;
        if (rc != 0) {
            watch->stopping = true;
            (void)pthread_cond_broadcast(&watch->changed);
            (void)pthread_join(watch->host_thread, NULL);
        }
    }
    (void)pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (rc != 0) {
        free_watch(watch);
        return error_set(error, -rc, "cannot start a thread: %s", strerrordesc_np(rc));
    }
    *result = watch;
    return 0;
}

int watch_update(struct watch *watch)
{
    int rc = look_at_host(watch);

    (void)pthread_mutex_lock(&watch->lock);
    const uint64_t now_ns = watch_now_ns();
    const struct watch_entry *entry = watch_most_due(watch);
    for (size_t i = 0;
         i < 2 * watch->options.most && entry != NULL && entry->due_ns <= now_ns; i++) {
        (void)look_inside(watch, entry->key);
        entry = watch_most_due(watch);
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return rc;
}

static bool join_soon(pthread_t thread)
{
    struct timespec until;

    (void)clock_gettime(CLOCK_MONOTONIC, &until);
    const uint64_t until_ns =
        (uint64_t)until.tv_sec * NS_PER_SECOND + (uint64_t)until.tv_nsec + STOP_WAIT_NS;
    until.tv_sec = (time_t)(until_ns / NS_PER_SECOND);
    until.tv_nsec = (long)(until_ns % NS_PER_SECOND);
    return pthread_clockjoin_np(thread, NULL, CLOCK_MONOTONIC, &until) == 0;
}

bool watch_stop(struct watch *watch)
{
    if (watch->threads_run) {
        (void)pthread_mutex_lock(&watch->lock);
        watch->stopping = true;
        (void)pthread_cond_broadcast(&watch->changed);
        (void)pthread_mutex_unlock(&watch->lock);
        const bool host_ended = join_soon(watch->host_thread);
        const bool look_ended = join_soon(watch->look_thread);
        if (!host_ended || !look_ended) {
            return false; /* it still uses the watch, until the process ends */
        }
        /* Their last changes were made under it; checkers of threads do not know the join above. */
        (void)pthread_mutex_lock(&watch->lock);
        (void)pthread_mutex_unlock(&watch->lock);
    }
    free_watch(watch);
    return true;
}

/* ---- what the caller sees */

static int fill_rows(struct watch *watch, struct watch_moment *moment)
{
    const struct overview *overview = &watch->view->account.overview;

    moment->rows = calloc(overview->count + 1, sizeof(*moment->rows));
    if (moment->rows == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < overview->count; i++) {
        const struct watch_name *name = &watch->view->names[i];
        const struct watch_entry *entry =
            i < 2 * watch->options.most || watch_is_focus(watch, name->key)
                ? watch_entry_find(watch, name->key)
                : NULL;
        moment->rows[i] = (struct watch_row){.labels = name->labels,
            .key = name->key,
            .plain = &overview->rows[i],
            .look = entry != NULL ? watch_look_hold(entry->look) : NULL};
    }
    moment->count = overview->count;
    moment->overview = overview;
    moment->host_taken_ns = watch->view->taken_ns;
    moment->watch = watch;
    moment->view = watch->view;
    watch->view->references++;
    return 0;
}

uint64_t watch_sequence(struct watch *watch)
{
    (void)pthread_mutex_lock(&watch->lock);
    const uint64_t sequence = watch->sequence;
    (void)pthread_mutex_unlock(&watch->lock);
    return sequence;
}

int watch_take(struct watch *watch, struct watch_moment *moment)
{
    int rc = 0;

    *moment = (struct watch_moment){.count = 0};
    (void)pthread_mutex_lock(&watch->lock);
    moment->sequence = watch->sequence;
    moment->counts = watch->counts;
    if (watch->view != NULL) {
        rc = fill_rows(watch, moment);
    }
    (void)pthread_mutex_unlock(&watch->lock);
    return rc;
}

void watch_moment_release(struct watch_moment *moment)
{
    if (moment->view == NULL) {
        return;
    }
    for (size_t i = 0; i < moment->count; i++) {
        watch_look_drop(moment->rows[i].look);
    }
    free(moment->rows);
    (void)pthread_mutex_lock(&moment->watch->lock);
    drop_view(moment->view);
    (void)pthread_mutex_unlock(&moment->watch->lock);
    *moment = (struct watch_moment){.count = 0};
}

void watch_focus(struct watch *watch, const char *key)
{
    char *copy = key != NULL ? strdup(key) : NULL;

    (void)pthread_mutex_lock(&watch->lock);
    free(watch->focus);
    watch->focus = copy;
    watch->focus_changes++;
    if (copy != NULL && watch->view != NULL) {
        watch_update_entries(watch);
    }
    (void)pthread_cond_broadcast(&watch->changed);
    (void)pthread_mutex_unlock(&watch->lock);
}

void watch_hurry(struct watch *watch)
{
    (void)pthread_mutex_lock(&watch->lock);
    watch->host_due_ns = 0;
    for (size_t i = 0; i < watch->entry_count; i++) {
        watch->entries[i].due_ns = 0;
    }
    (void)pthread_cond_broadcast(&watch->changed);
    (void)pthread_mutex_unlock(&watch->lock);
}

void watch_pause(struct watch *watch, bool paused)
{
    (void)pthread_mutex_lock(&watch->lock);
    watch->paused = paused;
    (void)pthread_cond_broadcast(&watch->changed);
    (void)pthread_mutex_unlock(&watch->lock);
}
