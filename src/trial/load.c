/*
 * load.c - one way to start, watch and read three generators.
 *
 * wrk counts answers by status only, so it is given a script that compares the bodies too and
 * prints one line of our own; the sums over its threads are made there. ab compares
 * lengths with the first answer. The generator's processor time is taken from the kernel
 * when it is waited for, to tell when it and not the server was the limit.
 */
#include "trial/load.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buffer.h"
#include "base/descriptor.h"
#include "trial/generator.h"

enum { OUTPUT_MOST_BYTES = 1 << 20, COMMAND_BYTES = 2048 };

#define COUNT_MOST 9007199254740992.0 /* 2^53: a double counts no further one by one */

const char *const load_tool_names[LOAD_TOOL_COUNT] = {
    [LOAD_OWN] = "own", [LOAD_WRK] = "wrk", [LOAD_AB] = "ab"};

static const char wrk_script[] =
    "local threads = {}\n"
    "function setup(thread) table.insert(threads, thread) end\n"
    "function init(args)\n"
    "  wrong_status, wrong_body = 0, 0\n"
    "  prefix, bytes = args[1] or '', tonumber(args[2] or 0)\n"
    "  prefix = prefix:gsub('+', ' ')\n"
    "end\n"
    "function response(status, headers, body)\n"
    "  if status ~= 200 then wrong_status = wrong_status + 1\n"
    "  elseif body:sub(1, #prefix) ~= prefix or (bytes > 0 and #body ~= bytes) then\n"
    "    wrong_body = wrong_body + 1 end\n"
    "end\n"
    "function done(summary, latency, requests)\n"
    "  local s, b = 0, 0\n"
    "  for _, t in ipairs(threads) do\n"
    "    s, b = s + t:get('wrong_status'), b + t:get('wrong_body') end\n"
    "  local e = summary.errors\n"
    "  io.write(string.format('STRATA %d %d %d %d %d %.0f %.0f %.0f %.0f %.0f\\n',\n"
    "    summary.requests, summary.duration, s, b,\n"
    "    e.connect + e.read + e.write + e.timeout, latency.mean,\n"
    "    latency:percentile(50), latency:percentile(90), latency:percentile(99),\n"
    "    latency.max))\n"
    "end\n";

static double children_seconds(void)
{
    struct rusage usage;

    (void)getrusage(RUSAGE_CHILDREN, &usage);
    return (double)usage.ru_utime.tv_sec + (double)usage.ru_stime.tv_sec +
           (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
}

static int write_script(const char *path, struct error *error)
{
    const int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    int rc =
        fd < 0 ? -errno : descriptor_write_all(fd, wrk_script, sizeof(wrk_script) - 1);

    if (fd >= 0 && close(fd) != 0 && rc == 0) {
        rc = -errno;
    }
    return rc == 0 ? 0
                   : error_set(error, rc, "cannot write '%s': %s", path, strerror(-rc));
}

/* Blanks part words, and the script is told of them by plus signs. */
static void plus_for_blanks(char *text)
{
    for (; *text != '\0'; text++) {
        *text = *text == ' ' ? '+' : *text;
    }
}

static int start_wrk(
    struct load *load, const struct load_request *request, struct error *error)
{
    char script[512];
    char prefix[64];
    char command[COMMAND_BYTES];

    (void)snprintf(script, sizeof(script), "%s/verify.lua", request->folder);
    (void)snprintf(prefix, sizeof(prefix), "%s", request->expected.prefix);
    plus_for_blanks(prefix);
    int rc = write_script(script, error);
    if (rc != 0) {
        return rc;
    }
    (void)snprintf(command, sizeof(command),
        "%s -t1 -c%u -d%us --timeout 10s -s %s %s%s -- %s %" PRIu64, request->wrk,
        request->connections, request->seconds, script,
        request->keep_alive ? "" : "-H Connection:close ", request->url,
        *prefix != '\0' ? prefix : "+", request->expected.bytes);
    return service_start(&load->service, command, load->log, NULL, error);
}

static int start_ab(
    struct load *load, const struct load_request *request, struct error *error)
{
    char command[COMMAND_BYTES];

    (void)snprintf(command, sizeof(command), "%s -q %s-c %u -t %u -n 100000000 %s",
        request->ab, request->keep_alive ? "-k " : "", request->connections,
        request->seconds, request->url);
    return service_start(&load->service, command, load->log, NULL, error);
}

/* A child that generates and leaves its result in a pipe. */
static int start_own(
    struct load *load, const struct load_request *request, struct error *error)
{
    int ends[2];

    if (pipe2(ends, O_CLOEXEC) != 0) {
        return error_set(error, -errno, "cannot make a pipe: %s", strerror(errno));
    }
    load->service.pid = fork();
    if (load->service.pid == 0) {
        struct load_result result = {.tool = LOAD_OWN};
        (void)setpgid(0, 0);
        (void)close(ends[0]);
        generator_run(request, &result);
        _Exit(descriptor_write_all(ends[1], &result, sizeof(result)) == 0 ? 0 : 1);
    }
    (void)close(ends[1]);
    if (load->service.pid < 0) {
        const int code = -errno;
        load->service.pid = 0;
        (void)close(ends[0]);
        return error_set(error, code, "cannot start a generator: %s", strerror(-code));
    }
    load->answer = ends[0];
    return 0;
}

int load_start(struct load *load, const struct load_request *request, struct error *error)
{
    static unsigned number;

    *load = (struct load){.answer = -1, .processor_before = children_seconds()};
    (void)snprintf(
        load->log, sizeof(load->log), "%s/load-%u.log", request->folder, number++);
    load->started_ns = service_now_ns();
    load->service.stop_signal = SIGTERM;
    if (request->tool == LOAD_WRK) {
        return start_wrk(load, request, error);
    }
    return request->tool == LOAD_AB ? start_ab(load, request, error)
                                    : start_own(load, request, error);
}

bool load_is_running(struct load *load)
{
    return service_is_alive(&load->service);
}

/* What a generator prints is text like any other: neither nan nor 1e300 is a count. */
static uint64_t count_of(double value)
{
    return value > 0 ? (value < COUNT_MOST ? (uint64_t)value : (uint64_t)COUNT_MOST) : 0;
}

static double number_behind(const char *text, const char *label)
{
    const char *at = strstr(text, label);

    const double value = at == NULL ? 0 : strtod(at + strlen(label), NULL);

    return isfinite(value) ? value : 0;
}

void load_parse_wrk(const char *text, struct load_result *result)
{
    const char *line = strstr(text, "STRATA ");
    double values[10];
    char *end;

    result->complete = false;
    if (line == NULL) {
        (void)snprintf(result->why, LOAD_WHY_BYTES, "wrk gave no result");
        return;
    }
    line += strlen("STRATA ");
    for (int i = 0; i < 10; i++) {
        values[i] = strtod(line, &end);
        if (end == line || !isfinite(values[i]) || values[i] < 0) {
            (void)snprintf(result->why, LOAD_WHY_BYTES, "wrk's result is cut short");
            return;
        }
        line = end;
    }
    result->bad_status = count_of(values[2]);
    result->bad_body = count_of(values[3]);
    result->failed = count_of(values[4]);
    const double good = values[0] - values[2] - values[3];
    result->requests = count_of(good);
    result->seconds = values[1] / 1e6;
    result->mean_us = values[5];
    result->p50_us = values[6];
    result->p90_us = values[7];
    result->p99_us = values[8];
    result->most_us = values[9];
    result->complete = result->seconds > 0;
}

void load_parse_ab(const char *text, struct load_result *result)
{
    result->complete = false;
    if (strstr(text, "Complete requests:") == NULL) {
        (void)snprintf(result->why, LOAD_WHY_BYTES, "ab gave no result");
        return;
    }
    const double complete = number_behind(text, "Complete requests:");
    const double failed = number_behind(text, "Failed requests:");
    const double lengths = number_behind(text, "Length:");

    result->bad_status = count_of(number_behind(text, "Non-2xx responses:"));
    result->bad_body = count_of(lengths < failed ? lengths : failed);
    result->failed = count_of(failed) - result->bad_body;
    const double good = complete - failed - (double)result->bad_status;
    result->requests = count_of(good);
    result->seconds = number_behind(text, "Time taken for tests:");
    result->p50_us = number_behind(text, "\n  50%") * 1000;
    result->p90_us = number_behind(text, "\n  90%") * 1000;
    result->p99_us = number_behind(text, "\n  99%") * 1000;
    result->most_us = number_behind(text, "\n 100%") * 1000;
    result->complete = result->seconds > 0;
}

static void read_log(const struct load *load, const struct load_request *request,
    struct load_result *result)
{
    struct buffer text;
    const int fd = open(load->log, O_RDONLY | O_CLOEXEC);

    buffer_init(&text);
    if (fd >= 0) {
        (void)descriptor_read_all(fd, OUTPUT_MOST_BYTES, &text);
        (void)close(fd);
    }
    if (request->tool == LOAD_WRK) {
        load_parse_wrk(buffer_text(&text), result);
    } else {
        load_parse_ab(buffer_text(&text), result);
    }
    buffer_release(&text);
}

void load_finish(
    struct load *load, const struct load_request *request, struct load_result *result)
{
    const bool ended = !load_is_running(load);
    bool killed;

    service_stop(&load->service);
    killed = !ended || !WIFEXITED(load->service.status) ||
             WEXITSTATUS(load->service.status) != 0;
    *result = (struct load_result){.tool = request->tool};
    if (request->tool != LOAD_OWN) {
        read_log(load, request, result);
    } else if (descriptor_read(load->answer, result, sizeof(*result)) !=
               (ssize_t)sizeof(*result)) {
        *result = (struct load_result){.tool = request->tool};
    }
    if (load->answer >= 0) {
        (void)close(load->answer);
    }
    if (killed) {
        result->complete = false;
        (void)snprintf(result->why, LOAD_WHY_BYTES,
            !ended ? "the generator was stopped" : "the generator ended with a failure");
    }
    result->rate = result->seconds > 0 ? (double)result->requests / result->seconds : 0;
    result->processor_seconds = children_seconds() - load->processor_before;
}

int load_probe(const char *url, const struct load_expected *expected)
{
    const struct load_request request = {
        .url = url, .expected = *expected, .connections = 1};

    return generator_probe(&request);
}
