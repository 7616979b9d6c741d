/* schema_heaps.h - the fields of what was found inside of allocators, for schema.c. */
#ifndef STRATA_RECORD_SCHEMA_HEAPS_H
#define STRATA_RECORD_SCHEMA_HEAPS_H

#include "record/schema.h"

extern const struct schema glibc_facts_schema;
extern const struct schema zend_facts_schema;
extern const struct schema strata_facts_schema;

#endif
