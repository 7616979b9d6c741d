/* schema_reader.h - any struct that has a schema, out of parsed JSON. */
#ifndef STRATA_RECORD_SCHEMA_READER_H
#define STRATA_RECORD_SCHEMA_READER_H

#include <jansson.h>

#include "base/error.h"
#include "base/region.h"
#include "record/schema.h"
#include "record/schema_place.h"

/*
 * Fills the zeroed struct at data from object; texts and items come from region. Unknown
 * keys are skipped; place is NULL for the whole. 0, -EINVAL (a key that is known has a wrong
 * type or range, or a required one is missing; error names it), -EFBIG (an array is too
 * long) or -ENOMEM. Ranges between fields are not looked at.
 */
int schema_read(const struct schema *schema, const json_t *object, void *data,
    struct region *region, struct error *error);

#endif
