/* schema_check.h - whether a struct keeps what its schema promises. */
#ifndef STRATA_RECORD_SCHEMA_CHECK_H
#define STRATA_RECORD_SCHEMA_CHECK_H

#include "base/error.h"
#include "record/schema.h"
#include "record/schema_place.h"

/*
 * Required texts are there, enums and states and numbers are in their range, letters
 * are letters, and arrays hold no more items than they may. place is the struct's own,
 * NULL for the whole. 0, or -EINVAL with error (may be NULL) naming the field.
 */
int schema_check(const struct schema *schema, const void *data,
    const struct schema_place *place, struct error *error);

#endif
