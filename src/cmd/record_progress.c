/*
 * record_progress.c - one line on a terminal, written over and over; elsewhere one at the start.
 *
 * A journal or the mail of a cron job gets no more than that line and the outcome: what goes
 * on in between is in the file. On a terminal the line never reaches the last column, since
 * one that wraps cannot be taken back.
 */
#include "cmd/record_progress.h"

#include <stdio.h>
#include <sys/resource.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/descriptor.h"
#include "base/quantity.h"
#include "cmd/message.h"
#include "cmd/terminal.h"

enum { MOST_NAMED = 8, MS_PER_SECOND = 1000, NS_PER_MS = 1000000, LINE_BYTES = 200 };

uint64_t record_cpu_us(void)
{
    struct rusage usage = {0};

    (void)getrusage(RUSAGE_SELF, &usage);
    return (uint64_t)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000 +
           (uint64_t)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

static void name_targets(const struct record_session *session, struct buffer *line)
{
    const size_t count = session->target_count;
    const size_t named = count > MOST_NAMED ? MOST_NAMED : count;

    for (size_t i = 0; i < named; i++) {
        buffer_printf(line, "%s'%s'", i == 0 ? "" : ", ", session->targets[i].text);
    }
    if (count > named) {
        buffer_printf(
            line, " and %s", quantity_count(count - named, "other target").text);
    }
}

static void tell_start(const struct record_session *session, const char *output)
{
    struct buffer line;

    buffer_init(&line);
    buffer_append_text(&line, "recording ");
    name_targets(session, &line);
    buffer_printf(&line, " into '%s' until ", output);
    if (session->for_ms != 0) {
        const int64_t end_ms = session->now.wall_ms + (int64_t)session->for_ms;
        buffer_append_text(&line, quantity_time(end_ms * NS_PER_MS).text);
    } else {
        buffer_append_text(&line, "a signal ends it");
    }
    /* Without memory for it the recording itself says what fails. */
    if (buffer_error(&line) == 0) {
        complain("%s", buffer_text(&line));
    }
    buffer_release(&line);
}

void record_progress_begin(struct record_progress *progress,
    const struct record_session *session, const char *output)
{
    *progress = (struct record_progress){.start_ms = session->now.boot_ms,
        .cpu_before_us = record_cpu_us(),
        .on_terminal = isatty(STDERR_FILENO) == 1};
    if (!progress->on_terminal) {
        tell_start(session, output);
    }
    record_progress_show(progress, session, progress->start_ms);
}

static int write_line(const struct record_progress *progress,
    const struct record_session *session, int64_t now_ms, char *line)
{
    const int64_t elapsed_ms = now_ms - progress->start_ms;
    const uint64_t cpu_us = record_cpu_us() - progress->cpu_before_us;
    struct recorder_state state;
    size_t members = 0, there = 0;

    recorder_get_state(session->recorder, &state);
    for (size_t i = 0; i < session->target_count; i++) {
        members += session->targets[i].members;
        there += session->targets[i].members > 0 ? 1 : 0;
    }
    return snprintf(line, LINE_BYTES,
        "%s  %s  targets %zu/%zu  processes %zu  ticks %llu  captures %llu  cpu %.2f %%",
        quantity_seconds((uint64_t)(elapsed_ms / MS_PER_SECOND)).text,
        quantity_bytes(state.file_bytes, false).text, there, session->target_count,
        members, (unsigned long long)state.ticks, (unsigned long long)state.captures,
        elapsed_ms > 0 ? (double)cpu_us / (double)elapsed_ms / 10.0 : 0.0);
}

void record_progress_show(struct record_progress *progress,
    const struct record_session *session, int64_t now_ms)
{
    char line[LINE_BYTES], out[LINE_BYTES + 4];

    if (!progress->on_terminal || write_line(progress, session, now_ms, line) <= 0) {
        return;
    }
    const int bytes = snprintf(
        out, sizeof(out), "\r\033[K%.*s", terminal_width(STDERR_FILENO) - 1, line);
    (void)descriptor_write_all(STDERR_FILENO, out, (size_t)bytes);
    progress->line_is_open = true;
}

void record_progress_end(struct record_progress *progress)
{
    if (progress->line_is_open) {
        (void)descriptor_write_all(STDERR_FILENO, "\r\033[K", 4);
        progress->line_is_open = false;
    }
}
