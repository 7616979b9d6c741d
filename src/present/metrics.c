/*
 * metrics.c - the page of `strata export`: one family after the other, each with its targets.
 *
 * Names: strata_<layer>_bytes from layer_names; strata_process_, strata_host_ and
 * strata_cgroup_<fact>_<unit> from facts.def. Families may not be interleaved, hence loops over
 * targets inside of loops over families.
 */
#include "present/metrics.h"

#include "present/metrics_cgroup.h"
#include "present/metrics_fact.h"
#include "present/metrics_target.h"

const char *metrics_content_type(enum metrics_format format)
{
    return format == METRICS_OPENMETRICS
               ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
               : "text/plain; version=0.0.4; charset=utf-8";
}

static void write_host(struct metrics_family *family, const struct facts *host)
{
    const struct metrics_sample none = {.label_count = 0};

    for (int i = 0; i < HOST_FACT_COUNT; i++) {
        metrics_begin_fact(family, "host", &host_fact_table[i]);
        metrics_write_fact(family, &none, &host_fact_table[i], &host->host.values[i]);
    }
}

/* ---- the exporter itself */

static void write_gauge(
    struct metrics_family *family, const char *name, const char *help, uint64_t value)
{
    const struct metrics_sample none = {.label_count = 0};

    metrics_family_begin(family, METRICS_GAUGE, "", help, "%s", name);
    metrics_write_unsigned(family, &none, value);
}

static void write_seconds(struct metrics_family *family, enum metrics_kind kind,
    const char *name, const char *help, double value)
{
    const struct metrics_sample none = {.label_count = 0};

    metrics_family_begin(family, kind, "seconds", help, "%s", name);
    metrics_write_real(family, &none, value);
}

static void write_counts(struct metrics_family *family, const char *label,
    const struct metrics_count *counts, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        struct metrics_sample sample = {.label_count = 0};
        metrics_sample_add(&sample, label, counts[i].reason);
        metrics_write_unsigned(family, &sample, counts[i].value);
    }
}

static void write_coverage(struct metrics_family *family, const struct metrics_page *page)
{
    uint64_t read = 0;
    uint64_t denied = 0;

    for (size_t i = 0; i < page->target_count; i++) {
        read += page->targets[i].looked && !page->targets[i].denied;
        denied += page->targets[i].looked && page->targets[i].denied;
    }
    write_gauge(family, "strata_targets_seen",
        "Programs and pools of the host, exported or not.", page->self.targets_seen);
    write_gauge(family, "strata_targets_exported", "Targets that have series.",
        page->target_count);
    write_gauge(family, "strata_targets_read", "Targets that were looked into.", read);
    write_gauge(family, "strata_targets_denied",
        "Targets whose memory may not be read: more privileges would help.", denied);
}

static void write_self(struct metrics_family *family, const struct metrics_self *self)
{
    struct metrics_sample build = {.label_count = 0};
    const struct metrics_sample none = {.label_count = 0};

    metrics_family_begin(
        family, METRICS_INFO, "", "The strata that measures.", "strata_build");
    metrics_sample_add(&build, "version", self->version);
    metrics_write_unsigned(family, &build, 1);
    write_seconds(family, METRICS_GAUGE, "strata_host_age_seconds",
        "Age of the last good look at the host.", self->host_age_seconds);
    write_seconds(family, METRICS_GAUGE, "strata_host_look_duration_seconds",
        "How long the last look at the host took.", self->host_duration_seconds);
    write_seconds(family, METRICS_GAUGE, "strata_target_look_duration_seconds",
        "How long the last look inside of a target took.", self->look_duration_seconds);
    write_seconds(family, METRICS_COUNTER, "strata_look_cpu_seconds",
        "Processor time that all looks took.", self->cpu_seconds);
    metrics_family_begin(
        family, METRICS_COUNTER, "", "Looks at the host.", "strata_host_looks");
    metrics_write_unsigned(family, &none, self->host_looks);
    metrics_family_begin(
        family, METRICS_COUNTER, "", "Looks inside of targets.", "strata_target_looks");
    metrics_write_unsigned(family, &none, self->looks);
    metrics_family_begin(family, METRICS_COUNTER, "", "Looks that failed, by reason.",
        "strata_look_errors");
    write_counts(family, "reason", self->errors, self->error_count);
    metrics_family_begin(
        family, METRICS_COUNTER, "", "Answers to HTTP requests.", "strata_http_requests");
    write_counts(family, "code", self->requests, self->request_count);
}

void present_metrics(
    const struct metrics_page *page, enum metrics_format format, struct buffer *buffer)
{
    struct metrics_family family = {.buffer = buffer, .format = format};

    if (page->host != NULL) {
        write_host(&family, page->host);
        metrics_write_targets(&family, page);
        metrics_write_cgroups(&family, page);
    }
    write_coverage(&family, page);
    write_self(&family, &page->self);
    if (format == METRICS_OPENMETRICS) {
        buffer_append_text(buffer, "# EOF\n");
    }
}
