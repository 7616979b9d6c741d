/* result_json.h - the result of a bench for machines, and as a page with plots. */
#ifndef STRATA_TRIAL_RESULT_JSON_H
#define STRATA_TRIAL_RESULT_JSON_H

#include "base/buffer.h"
#include "trial/result.h"

/* One document and a line end; docs/json.md describes it. */
void result_json(const struct result *result, struct buffer *buffer);

/* One offline page: the table, bars of memory and requests, memory over time. */
void result_html(const struct result *result, struct buffer *buffer);

#endif
