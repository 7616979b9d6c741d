/* random_facts.h - facts with every field filled at random, for tests of captures. */
#ifndef STRATA_TESTS_RANDOM_FACTS_H
#define STRATA_TESTS_RANDOM_FACTS_H

#include "facts_types/facts.h"

/*
 * Facts that pass capture_check(), made from seed alone; each field of the schema has a
 * value that is not its default in most runs. Released with region_release().
 */
void random_facts(unsigned seed, struct facts *facts);

/* Compares field by field, texts by content; false and the key's name at the first difference. */
bool same_facts(const struct facts *a, const struct facts *b, const char **key);

#endif
