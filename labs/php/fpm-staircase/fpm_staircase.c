/*
 * fpm-staircase: how a PHP-FPM worker gives memory back after a heavy request, and which
 * condition separates a staircase from one step. See README.md.
 *
 * PHP's own figure between two requests is what real is when the next one starts; from
 * outside the worker is read while it waits for that one.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "fpm_server.h"
#include "lab_script.h"
#include "looked_on.h"
#include "published.h"

enum {
    READINGS = 7, /* after the heavy request and after six trivial ones */
    ANSWER_BYTES = 4096,
    NAME_BYTES = 64,
    WARM_REQUESTS = 3,
    STEP_CHUNKS_MOST =
        3,            /* that one step leaves: the first one and what printing takes */
    STAIRS_LEAST = 4, /* trivial requests after which there are fewer chunks */
    MEGABYTE = 1000000,
};

struct scenario {
    const char *title;
    const char *query; /* of the heavy request */
    bool warm;         /* heavy requests came before */
    bool staircase;    /* what must be seen */
    bool published;
};

static const struct scenario scenarios[] = {
    {"478,000 arrays [$i], alive at the end: a staircase", "small", false, true, true},
    {"the same, freed before the end: a staircase", "freed", false, true, false},
    {"the same, freed and gc_mem_caches(): one step", "collected", false, false, false},
    {"one array of 6,000,000, a huge block: one step", "huge", false, false, false},
    {"freed and gc_mem_caches(), but three heavy requests came before: a staircase",
        "collected", true, true, false},
};
enum { SCENARIOS = sizeof(scenarios) / sizeof(scenarios[0]) };

struct readings {
    int64_t inside; /* real in the heavy request, PHP's own */
    int64_t own[READINGS];
    struct outside outside[READINGS];
};

/* False when there is no client. Else lab_php_figure() gives what the page printed. */
static bool ask(struct lab *lab, const struct fpm_server *server, const char *query)
{
    char answer[ANSWER_BYTES];
    int error = fpm_server_get(server, query, answer, sizeof(answer));
    const char *body = strstr(answer, "\r\n\r\n");
    if (error == -ENOENT) {
        lab_note_missing(lab, "cgi-fcgi", "libfcgi-bin");
        return false;
    }
    if (error != 0 || body == NULL) {
        lab_die("no answer from PHP-FPM");
    }
    snprintf(lab->php_text, sizeof(lab->php_text), "%s", body + 4);
    return true;
}

static bool start(struct lab *lab, struct fpm_server *server)
{
    int error = fpm_server_init(server, lab_script);
    if (error == -ENOENT) {
        lab_note_missing(lab, fpm_server_program(), "php8.2-fpm");
    } else if (error != 0) {
        lab_die(strerror(-error));
    }
    return error == 0;
}

static bool run_requests(struct lab *lab, const struct fpm_server *server,
    const struct scenario *scenario, struct readings *readings)
{
    for (size_t i = 0; scenario->warm && i < WARM_REQUESTS; i++) {
        if (!ask(lab, server, "small")) {
            return false;
        }
    }
    if (!ask(lab, server, scenario->query)) {
        return false;
    }
    readings->inside = lab_php_figure(lab, "inside");
    for (size_t i = 0; i < READINGS; i++) {
        outside_read(server->worker, &readings->outside[i]);
        if (!ask(lab, server, "trivial")) {
            return false;
        }
        readings->own[i] = lab_php_figure(lab, "start");
    }
    return true;
}

static int64_t chunks_of(const struct outside *outside)
{
    return outside->chunks + outside->cached_chunks;
}

/* Row 0 of what is published is inside the heavy request. */
static int64_t published_chunks(const struct scenario *scenario, size_t reading)
{
    return scenario->published && reading + 1 < STAIRCASE_ROWS
               ? staircase_chunks(reading + 1)
               : LAB_UNKNOWN;
}

static int64_t times(int64_t figure, int64_t factor)
{
    return figure == LAB_UNKNOWN ? LAB_UNKNOWN : figure * factor;
}

static const char *name_reading(size_t reading, char name[NAME_BYTES])
{
    snprintf(name, NAME_BYTES,
        reading == 0 ? "after the heavy request" : "after trivial request %zu", reading);
    return name;
}

static void print_real(const struct scenario *scenario, const struct readings *readings)
{
    char name[NAME_BYTES];
    outside_print_head("real");
    outside_print_row("inside the heavy request",
        &(struct outside_row){{LAB_UNKNOWN, readings->inside, LAB_UNKNOWN}});
    for (size_t i = 0; i < READINGS; i++) {
        int64_t published =
            times(published_chunks(scenario, i), (int64_t)STRATA_CHUNK_BYTES);
        outside_print_row(name_reading(i, name),
            &(struct outside_row){
                {published, readings->own[i], readings->outside[i].real}});
    }
}

static void print_idle(const struct scenario *scenario, const struct readings *readings)
{
    char name[NAME_BYTES];
    outside_print_head("cached chunks of the idle worker");
    for (size_t i = 0; i < READINGS; i++) {
        outside_print_row(name_reading(i, name),
            &(struct outside_row){
                {LAB_UNKNOWN, LAB_UNKNOWN, readings->outside[i].cached_chunks}});
    }
    outside_print_head("RSS of the idle worker");
    for (size_t i = 0; i < READINGS; i++) {
        int64_t published = scenario->published && i + 1 < STAIRCASE_ROWS
                                ? staircase_megabytes[i + 1] * MEGABYTE
                                : LAB_UNKNOWN;
        outside_print_row(name_reading(i, name),
            &(struct outside_row){{published, LAB_UNKNOWN, readings->outside[i].rss}});
    }
}

static void check_scenario(
    struct lab *lab, const struct scenario *scenario, const struct readings *readings)
{
    char name[NAME_BYTES];
    int64_t stairs = 0;
    for (size_t i = 0; i < READINGS; i++) {
        const struct outside *outside = &readings->outside[i];
        lab_expect_equal(lab, name_reading(i, name), outside->real, readings->own[i]);
        lab_expect_equal(lab, name, chunks_of(outside), published_chunks(scenario, i));
        stairs += i > 0 && chunks_of(outside) < chunks_of(&readings->outside[i - 1]);
    }
    if (scenario->staircase) {
        lab_expect_at_least(lab, "steps down of the staircase", stairs, STAIRS_LEAST);
    } else {
        lab_expect_at_most(lab, "chunks left by one step",
            chunks_of(&readings->outside[0]), STEP_CHUNKS_MOST);
    }
}

static bool run_scenario(struct lab *lab, const struct scenario *scenario)
{
    struct fpm_server server;
    struct readings readings;
    if (!start(lab, &server)) {
        return false;
    }
    bool complete = run_requests(lab, &server, scenario, &readings);
    fpm_server_release(&server);
    if (complete) {
        printf("\n%s\n", scenario->title);
        print_real(scenario, &readings);
        print_idle(scenario, &readings);
        check_scenario(lab, scenario, &readings);
    }
    return complete;
}

int main(int count, char **arguments)
{
    static struct lab lab;
    lab_begin(&lab, count, arguments,
        "fpm-staircase: how a PHP-FPM worker gives memory back, seen from outside");
    for (size_t i = 0; i < SCENARIOS; i++) {
        if (!run_scenario(&lab, &scenarios[i])) {
            break;
        }
    }
    return lab_end(&lab);
}
