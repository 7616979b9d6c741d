/* schema_writer.h - any struct that has a schema, as JSON. */
#ifndef STRATA_RECORD_SCHEMA_WRITER_H
#define STRATA_RECORD_SCHEMA_WRITER_H

#include "base/json_writer.h"
#include "record/schema.h"

/*
 * Writes the keys and values of the struct at data into the object that json has open.
 * The struct must have passed schema_check(). Failure to grow is the buffer's.
 */
void schema_write(
    struct json_writer *json, const struct schema *schema, const void *data);

#endif
