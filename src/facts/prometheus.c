/*
 * prometheus.c - /api/v1/query_range, as Prometheus 2 and what imitates it answer.
 *
 * {"status":"success","data":{"resultType":"matrix","result":[{"metric":{labels},
 * "values":[[seconds,"number"],...]}]}}. Numbers are texts there, so that NaN and Inf can be
 * said; those are no figures and are left out. The server may be anybody's: counts are
 * bounded before memory is taken, and labels are kept as they are.
 */
#include "facts/prometheus.h"

#include <errno.h>
#include <inttypes.h>
#include <jansson.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/buffer.h"
#include "facts/web.h"
#include "facts/web_value.h"

static int refuse(struct error *error, const char *why)
{
    return error_set(error, -EBADMSG,
        "cannot read the answer of Prometheus: %s; is it the address of its API?", why);
}

static char *label(struct region *region, const json_t *metric, const char *name)
{
    const char *text = json_string_value(json_object_get(metric, name));

    return region_copy_text(region, text != NULL ? text : "");
}

static int take_points(
    struct region *region, const json_t *values, struct prometheus_series *series)
{
    const size_t count = json_array_size(values);

    series->points = region_alloc(region, (count + 1) * sizeof(*series->points));
    if (series->points == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < count; i++) {
        const json_t *pair = json_array_get(values, i);
        const char *text = json_string_value(json_array_get(pair, 1));
        const json_t *at = json_array_get(pair, 0);
        char *end;
        if (text == NULL || !json_is_number(at)) {
            continue;
        }
        const double value = strtod(text, &end);
        if (end != text && *end == '\0' && isfinite(value)) {
            series->points[series->point_count++] =
                (struct prometheus_point){json_number_value(at), value};
        }
    }
    return 0;
}

static int take_series(struct region *region, const json_t *one,
    struct prometheus_answer *answer, struct error *error)
{
    const json_t *metric = json_object_get(one, "metric");
    const json_t *values = json_object_get(one, "values");
    struct prometheus_series *series;

    if (!json_is_object(metric) || !json_is_array(values)) {
        return refuse(error, "a series has no metric or no values");
    }
    if (json_array_size(values) > PROMETHEUS_MAX_POINTS - answer->points) {
        return error_set(error, -EFBIG, "Prometheus answers with too many points");
    }
    answer->points += json_array_size(values);
    series = region_grow(region, (void *)&answer->series, answer->count,
        PROMETHEUS_MAX_SERIES, sizeof(*series));
    if (series == NULL) {
        return error_set(error, -EFBIG, "Prometheus answers with too many series");
    }
    answer->count++;
    series->instance = label(region, metric, "instance");
    series->name = label(region, metric, "name");
    series->pool = label(region, metric, "pool");
    series->unit = label(region, metric, "unit");
    if (series->instance == NULL || series->name == NULL || series->pool == NULL ||
        series->unit == NULL) {
        return -ENOMEM;
    }
    return take_points(region, values, series);
}

static int take_answer(struct region *region, const json_t *document,
    struct prometheus_answer *answer, struct error *error)
{
    const char *status = json_string_value(json_object_get(document, "status"));
    const json_t *data = json_object_get(document, "data");
    const char *type = json_string_value(json_object_get(data, "resultType"));
    const json_t *result = json_object_get(data, "result");
    int rc = 0;

    if (status == NULL || strcmp(status, "success") != 0) {
        const char *said = json_string_value(json_object_get(document, "error"));
        return refuse(error, said != NULL ? said : "it has no status 'success'");
    }
    if (type == NULL || strcmp(type, "matrix") != 0 || !json_is_array(result)) {
        return refuse(error, "its result is no matrix");
    }
    for (size_t i = 0; rc == 0 && i < json_array_size(result); i++) {
        rc = take_series(region, json_array_get(result, i), answer, error);
    }
    return rc;
}

int prometheus_parse(struct region *region, const char *text, size_t bytes,
    struct prometheus_answer *answer, struct error *error)
{
    json_error_t wrong;
    json_t *document = json_loadb(text, bytes, JSON_REJECT_DUPLICATES, &wrong);

    *answer = (struct prometheus_answer){0};
    if (document == NULL) {
        return refuse(error, wrong.text);
    }
    const int rc = take_answer(region, document, answer, error);
    json_decref(document);
    return rc;
}

int prometheus_query(struct region *region, const char *base, const char *expression,
    const struct prometheus_span *span, struct prometheus_answer *answer,
    struct error *error)
{
    struct buffer url;
    struct buffer body;
    size_t bytes = strlen(base);

    while (bytes > 0 && base[bytes - 1] == '/') {
        bytes--;
    }
    buffer_init(&url);
    buffer_init(&body);
    buffer_append(&url, base, bytes);
    buffer_append_text(&url, "/api/v1/query_range?query=");
    web_append_value(&url, expression);
    buffer_printf(&url, "&start=%" PRId64 "&end=%" PRId64 "&step=%" PRId64, span->from_s,
        span->to_s, span->step_s);
    int rc = buffer_error(&url);
    if (rc == 0) {
        rc = web_get(buffer_text(&url), &body, error);
    }
    if (rc == 0) {
        rc = prometheus_parse(
            region, buffer_text(&body), body.length_bytes, answer, error);
    }
    buffer_release(&url);
    buffer_release(&body);
    return rc;
}
