/*
 * plan_fleet.c - six series joined by host, pool and time.
 *
 * Prometheus evaluates all of them at the same moments, so points belong together when their
 * times are equal. A pool is told by its label 'pool', and where there is none by its
 * name. Only what has private memory and processes is a moment.
 */
#include "cmd/plan_fleet.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#include "base/bug.h"
#include "base/number.h"
#include "facts/prometheus.h"

enum {
    DEFAULT_DAYS = 7,
    DAYS_MOST = 366,
    SECONDS_OF_DAY = 86400,
    POINTS = 2000, /* of each series; Prometheus refuses above 11,000 */
    STEP_LEAST_S = 15,
    NAMES_MOST = 32,
};

enum which { PRIVATE, PROCESSES, UNIQUE, TABLES, REAL, LIMIT, WHICH_COUNT };

static const char *const metrics[WHICH_COUNT] = {
    [PRIVATE] = "strata_private_bytes",
    [PROCESSES] = "strata_processes",
    [UNIQUE] = "strata_unique_bytes",
    [TABLES] = "strata_process_vm_pte_bytes",
    [REAL] = "strata_php_real_bytes",
    [LIMIT] = "strata_php_limit_bytes",
};

static const char *pool_of(const struct prometheus_series *series)
{
    return *series->pool != '\0' ? series->pool : series->name;
}

static int take_days(const char *text, uint64_t *days, struct error *error)
{
    *days = DEFAULT_DAYS;
    if (text != NULL &&
        (number_parse(text, days) != 0 || *days == 0 || *days > DAYS_MOST)) {
        return error_set(error, -EINVAL, "--days takes a number from 1 to %d, not '%s'",
            DAYS_MOST, text);
    }
    return 0;
}

static int ask(struct region *region, const struct options *options, uint64_t days,
    struct prometheus_answer answers[WHICH_COUNT], struct error *error)
{
    const int64_t now = time(NULL);
    const int64_t seconds = (int64_t)days * SECONDS_OF_DAY;
    const int64_t wanted = seconds / POINTS;
    const int64_t step = wanted < STEP_LEAST_S ? STEP_LEAST_S : wanted;
    const struct prometheus_span span = {
        .from_s = now - seconds / step * step, /* so that the last point is now */
        .to_s = now,
        .step_s = step};
    int rc = 0;

    for (int i = 0; rc == 0 && i < WHICH_COUNT; i++) {
        rc = prometheus_query(region, options->texts[TEXT_PROMETHEUS], metrics[i], &span,
            &answers[i], error);
    }
    return rc;
}

/* The pool to plan: the one that was named, or the only one. */
static int choose(const struct prometheus_answer *answer, const char *wanted,
    const char **pool, struct error *error)
{
    struct buffer names;
    int rc = 0;
    size_t told = 0;

    *pool = NULL;
    buffer_init(&names);
    for (size_t i = 0; i < answer->count; i++) {
        const char *name = pool_of(&answer->series[i]);
        if (wanted != NULL && strcmp(name, wanted) != 0) {
            continue;
        }
        if (*pool == NULL || strcmp(*pool, name) == 0) {
            *pool = name;
        } else if (rc == 0 || strstr(buffer_text(&names), name) == NULL) {
            rc = -EEXIST;
            if (told++ < NAMES_MOST) {
                buffer_printf(&names, ", '%s'", name);
            }
        }
    }
    if (rc == -EEXIST) {
        (void)error_set(error, rc, "several pools; name one with --pool: '%s'%s", *pool,
            buffer_text(&names));
    } else if (*pool == NULL) {
        rc = error_set(error, -ENODATA,
            wanted != NULL ? "Prometheus has no pool '%s' from strata export in this time"
                           : "Prometheus has nothing%s from strata export in this time",
            wanted != NULL ? wanted : "");
    }
    buffer_release(&names);
    return rc;
}

static bool same_target(
    const struct prometheus_series *a, const struct prometheus_series *b)
{
    return strcmp(a->instance, b->instance) == 0 && strcmp(a->name, b->name) == 0 &&
           strcmp(a->pool, b->pool) == 0 && strcmp(a->unit, b->unit) == 0;
}

static const struct prometheus_series *find_series(
    const struct prometheus_answer *answer, const struct prometheus_series *like)
{
    for (size_t i = 0; i < answer->count; i++) {
        if (same_target(&answer->series[i], like)) {
            return &answer->series[i];
        }
    }
    return NULL;
}

/* The value at that time; *index walks along, since times ascend. False: none. */
static bool value_at(
    const struct prometheus_series *series, double at_s, size_t *index, uint64_t *value)
{
    if (series == NULL) {
        return false;
    }
    while (*index < series->point_count && series->points[*index].at_s < at_s) {
        (*index)++;
    }
    if (*index == series->point_count || series->points[*index].at_s > at_s ||
        series->points[*index].value < 0 || series->points[*index].value > 1e18) {
        return false;
    }
    *value = (uint64_t)series->points[*index].value;
    return true;
}

/* The exporter shows an FPM pool without its master; other groups have theirs among them. */
static uint64_t workers_of(const struct prometheus_series *series, uint64_t processes)
{
    return *series->pool != '\0' || processes <= 1 ? processes : processes - 1;
}

static void take_moments(const struct prometheus_answer answers[WHICH_COUNT],
    const struct prometheus_series *held, struct fleet *fleet)
{
    const struct prometheus_series *series[WHICH_COUNT];
    size_t indices[WHICH_COUNT] = {0};

    for (int i = 0; i < WHICH_COUNT; i++) {
        series[i] = find_series(&answers[i], held);
    }
    for (size_t i = 0; i < held->point_count; i++) {
        uint64_t values[WHICH_COUNT] = {0};
        bool known[WHICH_COUNT];
        for (int j = 0; j < WHICH_COUNT; j++) {
            known[j] = value_at(series[j], held->points[i].at_s, &indices[j], &values[j]);
        }
        if (known[PRIVATE] && known[PROCESSES] && values[PROCESSES] > 0) {
            fleet->moments[fleet->count++] =
                (struct fleet_moment){.private_bytes = values[PRIVATE],
                    .unique_bytes = values[UNIQUE],
                    .tables_bytes = values[TABLES],
                    .workers = workers_of(held, values[PROCESSES]),
                    .real_bytes = values[REAL],
                    .limit_bytes = values[LIMIT]};
        }
    }
}

int plan_fleet_read(struct region *region, const struct options *options,
    struct fleet *fleet, struct error *error)
{
    struct prometheus_answer answers[WHICH_COUNT];
    uint64_t days;

    *fleet = (struct fleet){0};
    int rc = take_days(options->texts[TEXT_DAYS], &days, error);
    rc = rc == 0 ? ask(region, options, days, answers, error) : rc;
    rc = rc == 0
             ? choose(&answers[PRIVATE], options->texts[TEXT_POOL], &fleet->name, error)
             : rc;
    if (rc != 0) {
        return rc;
    }
    BUG_IF(fleet->name == NULL);
    fleet->days = (unsigned)days;
    fleet->moments =
        region_alloc(region, (answers[PRIVATE].points + 1) * sizeof(*fleet->moments));
    if (fleet->moments == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < answers[PRIVATE].count; i++) {
        const struct prometheus_series *held = &answers[PRIVATE].series[i];
        const size_t before = fleet->count;
        if (strcmp(pool_of(held), fleet->name) == 0) {
            take_moments(answers, held, fleet);
        }
        fleet->hosts += fleet->count > before ? 1 : 0;
    }
    return 0;
}
