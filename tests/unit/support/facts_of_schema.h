/* facts_of_schema.h - facts with every field filled, for tests of captures and replays. */
#ifndef STRATA_TESTS_UNIT_SUPPORT_FACTS_OF_SCHEMA_H
#define STRATA_TESTS_UNIT_SUPPORT_FACTS_OF_SCHEMA_H

#include "facts_types/facts.h"

/*
 * Facts that pass capture_check(), made from seed alone; each field of the schema has a
 * value that is not its default in most runs. Released with region_release().
 */
void facts_of_schema(unsigned seed, struct facts *facts);

/* Compares field by field, texts by content; false and the key's name at the first difference. */
bool facts_are_same(const struct facts *a, const struct facts *b, const char **key);

#endif
