/*
 * metrics_writer.c - the grammar of OpenMetrics 1.0.0 and of the text format 0.0.4.
 *
 * The two differ where Prometheus cares: OpenMetrics names the family without _total and
 * _info and has UNIT lines; the older format names it as its samples are called. Values of labels
 * come from programs that may call themselves anything: what could break a line or a terminal
 * is made harmless by safe_text, and backslash, quote and line end are escaped as both formats say.
 */
#include "present/metrics_writer.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "base/bug.h"
#include "present/safe_text.h"

static const char *suffix_of(const struct metrics_family *family)
{
    switch (family->kind) {
    case METRICS_COUNTER:
        return "_total";
    case METRICS_INFO:
        return "_info";
    case METRICS_GAUGE:
        break;
    }
    return "";
}

static const char *type_of(const struct metrics_family *family)
{
    switch (family->kind) {
    case METRICS_COUNTER:
        return "counter";
    case METRICS_INFO:
        return family->format == METRICS_OPENMETRICS ? "info" : "gauge";
    case METRICS_GAUGE:
        break;
    }
    return "gauge";
}

void metrics_family_begin(struct metrics_family *family, enum metrics_kind kind,
    const char *unit, const char *help, const char *format, ...)
{
    va_list arguments;

    va_start(arguments, format);
    int bytes = vsnprintf(family->name, sizeof(family->name), format, arguments);
    va_end(arguments);
    BUG_IF(bytes < 0 || (size_t)bytes >= sizeof(family->name));
    family->kind = kind;
    family->unit = unit;
    family->help = help;
    family->begun = false;
}

/* Texts of our own tables: one line, no backslash. */
static void begin(struct metrics_family *family)
{
    const bool open = family->format == METRICS_OPENMETRICS;
    const char *suffix = open ? "" : suffix_of(family);

    if (family->begun) {
        return;
    }
    family->begun = true;
    buffer_printf(family->buffer, "# HELP %s%s %s\n", family->name, suffix, family->help);
    buffer_printf(
        family->buffer, "# TYPE %s%s %s\n", family->name, suffix, type_of(family));
    if (open && *family->unit != '\0') {
        buffer_printf(family->buffer, "# UNIT %s %s\n", family->name, family->unit);
    }
}

void metrics_sample_add(
    struct metrics_sample *sample, const char *name, const char *value)
{
    BUG_IF(sample->label_count >= METRICS_MAX_LABELS);
    if (value != NULL && *value != '\0') {
        sample->labels[sample->label_count++] = (struct metrics_label){name, value};
    }
}

static void append_value(struct buffer *buffer, const char *text)
{
    struct safe_character character;

    while (*text != '\0') {
        text = safe_text_next(text, true, &character);
        if (*character.text == '\\' || *character.text == '"') {
            buffer_append_char(buffer, '\\');
        }
        buffer_append(buffer, character.text, character.bytes);
    }
}

static void begin_sample(
    struct metrics_family *family, const struct metrics_sample *sample)
{
    begin(family);
    buffer_printf(family->buffer, "%s%s", family->name, suffix_of(family));
    for (size_t i = 0; i < sample->label_count; i++) {
        buffer_printf(
            family->buffer, "%s%s=\"", i == 0 ? "{" : ",", sample->labels[i].name);
        append_value(family->buffer, sample->labels[i].value);
        buffer_append_char(family->buffer, '"');
    }
    buffer_append_text(family->buffer, sample->label_count > 0 ? "} " : " ");
}

void metrics_write_unsigned(
    struct metrics_family *family, const struct metrics_sample *sample, uint64_t value)
{
    begin_sample(family, sample);
    buffer_printf(family->buffer, "%" PRIu64 "\n", value);
}

void metrics_write_signed(
    struct metrics_family *family, const struct metrics_sample *sample, int64_t value)
{
    begin_sample(family, sample);
    buffer_printf(family->buffer, "%" PRId64 "\n", value);
}

void metrics_write_real(
    struct metrics_family *family, const struct metrics_sample *sample, double value)
{
    begin_sample(family, sample);
    buffer_printf(family->buffer, "%.6f\n", value);
}
