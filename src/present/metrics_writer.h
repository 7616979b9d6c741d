/* metrics_writer.h - families and samples in the two text formats that Prometheus reads. */
#ifndef STRATA_PRESENT_METRICS_WRITER_H
#define STRATA_PRESENT_METRICS_WRITER_H

#include <stdint.h>

#include "base/buffer.h"
#include "present/metrics.h"

enum metrics_kind { METRICS_GAUGE, METRICS_COUNTER, METRICS_INFO };

/*
 * The family that samples are written for. Its head is written before its first sample, so
 * that a family without samples does not appear at all.
 */
struct metrics_family {
    struct buffer *buffer;
    enum metrics_format format;
    char name[96]; /* without _total and _info */
    enum metrics_kind kind;
    const char *unit; /* "bytes", which the name ends in; "" none */
    const char *help;
    bool begun;
};

/* What stands in the braces; a NULL or empty value is left out. */
struct metrics_label {
    const char *name;
    const char *value;
};

enum { METRICS_MAX_LABELS = 6 };

/* The labels of one sample; values may be anything and are borrowed. */
struct metrics_sample {
    struct metrics_label labels[METRICS_MAX_LABELS];
    size_t label_count;
};

/* name is printed by format; it must end in "_<unit>" when there is a unit. */
void metrics_family_begin(struct metrics_family *family, enum metrics_kind kind,
    const char *unit, const char *help, const char *format, ...)
    __attribute__((format(printf, 5, 6)));

void metrics_sample_add(
    struct metrics_sample *sample, const char *name, const char *value);

void metrics_write_unsigned(
    struct metrics_family *family, const struct metrics_sample *sample, uint64_t value);
void metrics_write_signed(
    struct metrics_family *family, const struct metrics_sample *sample, int64_t value);

/* Microseconds are as exact as it gets: six digits behind the point. */
void metrics_write_real(
    struct metrics_family *family, const struct metrics_sample *sample, double value);

#endif
