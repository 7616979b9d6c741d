/* metrics_target.h - metrics whose series stand for one target each. */
#ifndef STRATA_PRESENT_METRICS_TARGET_H
#define STRATA_PRESENT_METRICS_TARGET_H

#include "present/metrics_writer.h"

/* Layers, processes, allocators and findings of the targets, and how they were had. */
void metrics_write_targets(
    struct metrics_family *family, const struct metrics_page *page);

#endif
