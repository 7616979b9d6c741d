/* overview_json.h - `strata --json`: the host at a glance, for machines. */
#ifndef STRATA_PRESENT_OVERVIEW_JSON_H
#define STRATA_PRESENT_OVERVIEW_JSON_H

#include "base/buffer.h"
#include "present/overview.h"

/* Appends one JSON document and a line end; every row, in the order given. */
void present_overview_json(const struct overview *overview, struct buffer *buffer);

#endif
