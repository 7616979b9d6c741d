/*
 * metrics_fact.c - facts.def as names, units and help of metrics.
 *
 * Counters of microseconds become seconds, as Prometheus has it; all else keeps its unit. What
 * is not known has no sample.
 */
#include "present/metrics_fact.h"

#include "model/known.h"

static const char *unit_of(const struct fact_info *info)
{
    static const char *const units[] = {[FACT_UNIT_BYTES] = "bytes",
        [FACT_UNIT_COUNT] = "",
        [FACT_UNIT_MICROSECONDS] = "seconds"};

    return units[info->unit];
}

void metrics_begin_fact(
    struct metrics_family *family, const char *what, const struct fact_info *info)
{
    const char *unit = unit_of(info);

    metrics_family_begin(family,
        info->kind == FACT_COUNTER ? METRICS_COUNTER : METRICS_GAUGE, unit, info->summary,
        "strata_%s_%s%s%s", what, info->name, *unit != '\0' ? "_" : "", unit);
}

void metrics_write_fact(struct metrics_family *family,
    const struct metrics_sample *sample, const struct fact_info *info,
    const struct fact *fact)
{
    enum { US_PER_SECOND = 1000000 };

    if (!fact_is_known(fact)) {
        return;
    }
    if (info->unit == FACT_UNIT_MICROSECONDS) {
        metrics_write_real(family, sample, (double)fact->value / US_PER_SECOND);
    } else {
        metrics_write_unsigned(family, sample, fact->value);
    }
}
