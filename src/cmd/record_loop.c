/*
 * record_loop.c - when to read, and what is told meanwhile.
 *
 * Ticks are due at multiples of the interval from the start, by CLOCK_BOOTTIME: a tick that
 * took long, or a suspended machine, makes ticks fall out and does not shift the others. Signals
 * are blocked except while waiting, so a tick is always stored whole.
 */
#include "cmd/record_loop.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/quantity.h"
#include "cmd/message.h"
#include "cmd/record_capture.h"
#include "cmd/record_target.h"
#include "facts/moment.h"
#include "facts/process_list.h"
#include "record/recorder_commit.h"
#include "record/recorder_retain.h"

enum {
    MS_PER_SECOND = 1000,
    US_PER_MS = 1000,
    JUMP_MS = 1000,    /* a clock that moved by more was set, not slewed */
    RETAIN_MS = 60000, /* how often old things are looked for */
};

static volatile sig_atomic_t stopped;

static void stop(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

static void catch_signals(sigset_t *while_waiting)
{
    static const int signals[] = {SIGINT, SIGTERM, SIGHUP};
    struct sigaction action = {.sa_handler = stop};
    sigset_t blocked;

    stopped = 0;
    (void)sigemptyset(&blocked);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        (void)sigaction(signals[i], &action, NULL);
        (void)sigaddset(&blocked, signals[i]);
    }
    (void)sigprocmask(SIG_BLOCK, &blocked, while_waiting);
    for (size_t i = 0; i < sizeof(signals) / sizeof(signals[0]); i++) {
        (void)sigdelset(while_waiting, signals[i]);
    }
}

struct loop {
    struct record_session *session;
    struct record_progress *progress;
    int64_t next_ms; /* boot clock, as all here */
    int64_t tick_ms; /* of the last tick */
    int64_t retained_ms;
    int64_t clock_offset_ms; /* wall - boot at the last tick */
    bool first;
    bool storing;
};

static int note_clock(struct loop *loop)
{
    const struct moment *now = &loop->session->now;
    const int64_t offset = now->wall_ms - now->boot_ms;
    const int64_t jump = offset - loop->clock_offset_ms;
    int rc = 0;

    if (!loop->first && llabs(jump) > JUMP_MS) {
        char text[96];
        (void)snprintf(text, sizeof(text), "the clock was set %s by %s",
            jump > 0 ? "ahead" : "back",
            quantity_seconds((uint64_t)(llabs(jump) / MS_PER_SECOND)).text);
        rc = recorder_add_event(loop->session->recorder, 0, "clock", text);
    }
    loop->clock_offset_ms = offset;
    return rc;
}

static int read_targets(struct loop *loop, struct error *error)
{
    struct record_session *session = loop->session;
    bool with_host = true;
    int rc = process_list_fingerprint(&session->root, &session->pids);

    if (rc != 0) {
        return error_set(error, rc, "cannot list processes: %s", strerror(-rc));
    }
    for (size_t i = 0; rc == 0 && i < session->target_count; i++) {
        struct record_target *target = &session->targets[i];
        rc = record_target_tick(session, target, with_host, error);
        if (rc == 0 && record_target_wants_capture(session, target)) {
            record_progress_end(loop->progress); /* it may say what is missing */
            rc = record_capture(session, target, error);
        }
        with_host = with_host && target->finished;
    }
    return rc;
}

/*
 * A tick that cannot be stored is told when it begins and when it is over. -ESTALE: nothing ever
 * will be, the file is gone.
 */
static int store(struct loop *loop, struct error *error)
{
    struct record_session *session = loop->session;
    struct error why = {0};
    int rc = recorder_commit(session->recorder, &session->now, &why);

    if (rc == 0 && session->now.boot_ms - loop->retained_ms >= RETAIN_MS) {
        loop->retained_ms = session->now.boot_ms;
        rc = recorder_retain(session->recorder, &why);
    }
    if (rc == -ESTALE) {
        return error_set(error, rc, "%s", why.text);
    }
    if ((rc == 0) != loop->storing) {
        record_progress_end(loop->progress);
        if (rc != 0) {
            complain("%s; trying again at every tick", why.text);
        } else {
            complain("recording goes on");
            (void)recorder_add_event(
                session->recorder, 0, "lost", "ticks before this could not be stored");
        }
    }
    loop->storing = rc == 0;
    return 0;
}

static bool all_finished(const struct record_session *session)
{
    for (size_t i = 0; i < session->target_count; i++) {
        if (!session->targets[i].finished) {
            return false;
        }
    }
    return true;
}

static void wait_until(struct loop *loop, int64_t until_ms, const sigset_t *mask)
{
    struct moment now = {0};

    moment_read(&loop->session->root, &now);
    while (!stopped && now.boot_ms < until_ms) {
        const int64_t all_ms = until_ms - now.boot_ms;
        const int64_t left_ms = loop->progress->on_terminal && all_ms > MS_PER_SECOND
                                    ? MS_PER_SECOND
                                    : all_ms;
        const struct timespec timeout = {.tv_sec = left_ms / MS_PER_SECOND,
            .tv_nsec = left_ms % MS_PER_SECOND * US_PER_MS * US_PER_MS};
        (void)ppoll(NULL, 0, &timeout, mask);
        moment_read(&loop->session->root, &now);
        record_progress_show(loop->progress, loop->session, now.boot_ms);
    }
}

static int tick(struct loop *loop, struct error *error)
{
    int rc = note_clock(loop);

    loop->tick_ms = loop->session->now.boot_ms;
    if (rc == 0) {
        rc = read_targets(loop, error);
    }
    if (rc == 0) {
        rc = store(loop, error);
    }
    if (rc == 0) {
        record_progress_show(loop->progress, loop->session, loop->session->now.boot_ms);
        loop->first = false;
    }
    return rc;
}

/*
 * How everything is at the end, which is what is asked for most often. Nothing is tried on a full
 * disk, and of targets that are all gone there is nothing to say.
 */
static int last_tick(struct loop *loop, struct error *error)
{
    struct record_session *session = loop->session;

    moment_read(&session->root, &session->now);
    if (!loop->storing || all_finished(session) ||
        session->now.boot_ms <= loop->tick_ms) {
        return 0;
    }
    session->ending = true;
    return tick(loop, error);
}

int record_loop(struct record_session *session, struct record_progress *progress,
    struct record_outcome *outcome, struct error *error)
{
    struct loop loop = {.session = session,
        .progress = progress,
        .next_ms = session->now.boot_ms,
        .retained_ms = session->now.boot_ms,
        .first = true,
        .storing = true};
    const int64_t every_ms = (int64_t)session->intervals.every_ms;
    const uint64_t for_ms = session->for_ms;
    sigset_t mask;
    int rc = 0;

    catch_signals(&mask);
    while (rc == 0 && !stopped && !all_finished(session)) {
        moment_read(&session->root, &session->now);
        const int64_t elapsed_ms = session->now.boot_ms - progress->start_ms;
        if (for_ms != 0 && elapsed_ms >= (int64_t)for_ms && !loop.first) {
            break;
        }
        rc = tick(&loop, error);
        while (loop.next_ms <= session->now.boot_ms) {
            loop.next_ms += every_ms;
        }
        const int64_t end_ms = progress->start_ms + (int64_t)for_ms;
        wait_until(
            &loop, for_ms != 0 && end_ms < loop.next_ms ? end_ms : loop.next_ms, &mask);
    }
    if (rc == 0) {
        rc = last_tick(&loop, error);
    }
    record_progress_end(progress);
    moment_read(&session->root, &session->now);
    *outcome =
        (struct record_outcome){.cpu_us = record_cpu_us() - progress->cpu_before_us,
            .elapsed_ms = (uint64_t)(session->now.boot_ms - progress->start_ms),
            .storing = loop.storing};
    return rc;
}
