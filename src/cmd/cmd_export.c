/*
 * cmd_export.c - `strata export`: measures in the background, answers in the foreground.
 *
 * The threads of the watch read; the thread of the HTTP end renders what is known; this one
 * waits for signals, ends connections that are late and writes the textfile on its clock.
 * A failed write is told once and tried again: a full disk ends, an exporter should not.
 */
#include "cmd/cmd_export.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <time.h>

#include "cmd/exit_code.h"
#include "cmd/export_http.h"
#include "cmd/export_page.h"
#include "cmd/export_socket.h"
#include "cmd/message.h"
#include "cmd/options.h"
#include "cmd/watch.h"
#include "record/whole_file.h"

enum { DEFAULT_EVERY_MS = 15000, DEFAULT_MOST = 32, REST = 19, TICK_SECONDS = 1 };

#define NS_PER_MS UINT64_C(1000000)

struct exporter {
    const struct options *options;
    struct watch *watch;
    struct export_http *http; /* NULL: textfile only */
    size_t most;
    uint64_t every_ns;
    uint64_t write_due_ns;
    bool write_failed;
};

static int render(void *context, enum metrics_format format, struct buffer *buffer)
{
    struct exporter *exporter = context;
    struct metrics_count counts[EXPORT_HTTP_CODES];
    size_t count = 0;

    if (exporter->http != NULL) {
        export_http_count(exporter->http, counts);
        count = EXPORT_HTTP_CODES;
    }
    return export_page_render(
        exporter->watch, exporter->most, counts, count, format, buffer);
}

/* ---- once and textfile */

static int write_textfile(struct exporter *exporter)
{
    struct buffer buffer;

    buffer_init(&buffer);
    int rc = render(exporter, METRICS_CLASSIC, &buffer);
    if (rc == 0) {
        rc = whole_file_write(exporter->options->textfile, &buffer, WHOLE_FILE_FOR_ALL);
    }
    buffer_release(&buffer);
    if (rc != 0 && !exporter->write_failed) {
        complain("cannot write '%s': %s", exporter->options->textfile, strerror(-rc));
    }
    exporter->write_failed = rc != 0;
    return rc;
}

static enum exit_code print_page(struct exporter *exporter)
{
    struct buffer buffer;

    buffer_init(&buffer);
    int rc = render(exporter, METRICS_CLASSIC, &buffer);
    if (rc == 0) {
        rc = print_buffer(&buffer);
    } else {
        complain("cannot print the metrics: %s", strerror(-rc));
    }
    buffer_release(&buffer);
    return rc == 0 ? EXIT_FINE : EXIT_FAILED;
}

static enum exit_code export_once(
    struct exporter *exporter, const struct watch_options *watching)
{
    struct error error;

    error_reset(&error);
    int rc = watch_open(watching, &exporter->watch, &error);
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        return exit_code_of(rc);
    }
    rc = watch_update(exporter->watch);
    enum exit_code code;
    if (rc != 0) {
        complain("cannot read the host: %s", strerror(-rc));
        code = exit_code_of(rc);
    } else if (exporter->options->textfile != NULL) {
        code = write_textfile(exporter) == 0 ? EXIT_FINE : EXIT_FAILED;
    } else {
        code = print_page(exporter);
    }
    (void)watch_stop(exporter->watch); /* it has no threads */
    return code;
}

/* ---- as a service */

static void write_when_due(struct exporter *exporter)
{
    struct watch_moment moment;

    if (exporter->options->textfile == NULL || watch_now_ns() < exporter->write_due_ns ||
        watch_take(exporter->watch, &moment) != 0) {
        return;
    }
    const bool known = moment.overview != NULL;
    watch_moment_release(&moment);
    if (known) { /* a page without a host would look like a host without programs */
        (void)write_textfile(exporter);
        exporter->write_due_ns = watch_now_ns() + exporter->every_ns;
    }
}

static void run_until_signal(struct exporter *exporter, const sigset_t *signals)
{
    const struct timespec tick = {.tv_sec = TICK_SECONDS};

    while (sigtimedwait(signals, NULL, &tick) < 0) {
        if (exporter->http != NULL) {
            export_http_tick(exporter->http);
        }
        write_when_due(exporter);
    }
}

static int serve(struct exporter *exporter, struct error *error)
{
    if (exporter->options->textfile != NULL && exporter->options->listen == NULL) {
        return 0;
    }
    int fd = export_socket_open(exporter->options->listen, error);
    if (fd < 0) {
        return fd;
    }
    int rc = export_http_start(fd, render, exporter, &exporter->http, error);
    if (rc == 0) {
        complain("serving %s", export_http_url(exporter->http));
    }
    return rc;
}

static enum exit_code export_forever(
    struct exporter *exporter, const struct watch_options *watching)
{
    enum exit_code code = EXIT_FINE;
    struct error error;
    sigset_t signals;
    bool ended = true;

    error_reset(&error);
    (void)sigemptyset(&signals);
    (void)sigaddset(&signals, SIGTERM);
    (void)sigaddset(&signals, SIGINT);
    (void)sigaddset(&signals, SIGHUP);
    (void)sigprocmask(SIG_BLOCK, &signals, NULL);
    int rc = watch_start(watching, &exporter->watch, &error);
    if (rc == 0) {
        rc = serve(exporter, &error);
        if (rc == 0) {
            run_until_signal(exporter, &signals);
        }
        if (exporter->http != NULL) {
            export_http_stop(exporter->http);
        }
        ended = watch_stop(exporter->watch);
    }
    if (rc != 0) {
        complain("%s", error_text(&error, rc));
        code = rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
    }
    if (!ended) {
        exit_beside_threads(code);
    }
    return code;
}

int cmd_export(const struct options *options)
{
    struct exporter exporter = {
        .options = options, .most = options->most > 0 ? options->most : DEFAULT_MOST};
    const uint64_t every_ms =
        options->every_ms > 0 ? options->every_ms : DEFAULT_EVERY_MS;

    exporter.every_ns = every_ms * NS_PER_MS;
    const struct watch_options watching = {.root = options->root,
        .ask_nobody = options->ask_nobody,
        .rows = options->per_pid ? WATCH_PROCESSES : WATCH_NAMES,
        .every_ns = exporter.every_ns,
        .most = exporter.most,
        .rest = REST};
    if (options->once && options->listen != NULL) {
        complain("--once and --listen exclude each other");
        return EXIT_USAGE;
    }
    return options->once ? export_once(&exporter, &watching)
                         : export_forever(&exporter, &watching);
}
