/* result_read.h - what a plan needs, out of the JSON of a bench. */
#ifndef STRATA_TRIAL_RESULT_READ_H
#define STRATA_TRIAL_RESULT_READ_H

#include <stdbool.h>

#include "base/error.h"
#include "base/region.h"
#include "trial/result.h"

enum { RESULT_READ_MAX_BYTES = 64 << 20 };

/*
 * Reads the row of that recipe (NULL: the only one that has a plan) of the result in path.
 * Samples and *name come from region. 0; -ENOMSG when the file is JSON and no result of a
 * bench; -EINVAL with error set when it is broken or has several; -ENOENT no such row; -errno.
 */
int result_read_plan(struct region *region, const char *path, const char *recipe,
    struct result_plan *plan, const char **name, struct error *error);

#endif
