/* metrics_fact.h - a row of facts.def as a family of metrics. */
#ifndef STRATA_PRESENT_METRICS_FACT_H
#define STRATA_PRESENT_METRICS_FACT_H

#include "present/metrics_writer.h"

/* The family strata_<what>_<fact>_<unit>; its kind and help are those of facts.def. */
void metrics_begin_fact(
    struct metrics_family *family, const char *what, const struct fact_info *info);

/* In the unit of the family; nothing when the fact is not known. */
void metrics_write_fact(struct metrics_family *family,
    const struct metrics_sample *sample, const struct fact_info *info,
    const struct fact *fact);

#endif
