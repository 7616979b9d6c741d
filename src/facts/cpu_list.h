/* cpu_list.h - lists of CPUs as the kernel prints them (Documentation, cpu lists). */
#ifndef STRATA_FACTS_CPU_LIST_H
#define STRATA_FACTS_CPU_LIST_H

#include <stdint.h>

#include "base/slice.h"

/* How many CPUs a list like "0-3,8" names; 0 when it is none. */
uint64_t cpu_list_count(struct slice list);

#endif
