/* thin_facts.h - facts without what no account is made from. */
#ifndef STRATA_RECORD_THIN_FACTS_H
#define STRATA_RECORD_THIN_FACTS_H

#include "facts_types/facts.h"

/*
 * Facts of which the model and the rules make the same account: the same layers, parts and
 * findings. Left out of each process are the mappings of files that nobody writes, runs or has in
 * memory, and of the others the values that no account reads. thin borrows from facts and has a
 * region of its own. 0, or -ENOMEM (then nothing needs a release).
 */
int thin_facts(const struct facts *facts, struct facts *thin);

#endif
