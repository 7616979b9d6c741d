/* metrics_cgroup.h - metrics of the cgroups that exported targets are in. */
#ifndef STRATA_PRESENT_METRICS_CGROUP_H
#define STRATA_PRESENT_METRICS_CGROUP_H

#include "present/metrics_writer.h"

/* What each of them is billed; page->host must be there. */
void metrics_write_cgroups(
    struct metrics_family *family, const struct metrics_page *page);

#endif
