/* export_page.h - what a watch knows at one moment, as the page of metrics. */
#ifndef STRATA_CMD_EXPORT_PAGE_H
#define STRATA_CMD_EXPORT_PAGE_H

#include "base/buffer.h"
#include "cmd/watch.h"
#include "present/metrics.h"

/*
 * Appends the page of the first `most` rows, and of further ones that have been looked into.
 * Never waits for a target. requests: counts of HTTP, may be none. 0 or -ENOMEM.
 */
int export_page_render(struct watch *watch, size_t most,
    const struct metrics_count *requests, size_t request_count,
    enum metrics_format format, struct buffer *buffer);

#endif
