/* fact_table.h - facts.def as enums and constant tables. */
#ifndef STRATA_FACTS_TYPES_FACT_TABLE_H
#define STRATA_FACTS_TYPES_FACT_TABLE_H

#include "facts_types/fact.h"

enum process_fact {
#define FACT_PROCESS(ID, ...) PROCESS_FACT_##ID,
#include "facts_types/facts.def"
    PROCESS_FACT_COUNT,
};

enum mapping_fact {
#define FACT_MAPPING(ID, ...) MAPPING_FACT_##ID,
#include "facts_types/facts.def"
    MAPPING_FACT_COUNT,
};

enum host_fact {
#define FACT_HOST(ID, ...) HOST_FACT_##ID,
#include "facts_types/facts.def"
    HOST_FACT_COUNT,
};

enum cgroup_fact {
#define FACT_CGROUP(ID, ...) CGROUP_FACT_##ID,
#include "facts_types/facts.def"
    CGROUP_FACT_COUNT,
};

enum mysql_fact {
#define FACT_MYSQL(ID, ...) MYSQL_FACT_##ID,
#include "facts_types/facts.def"
    MYSQL_FACT_COUNT,
};

extern const struct fact_info process_fact_table[PROCESS_FACT_COUNT];
extern const struct fact_info mapping_fact_table[MAPPING_FACT_COUNT];
extern const struct fact_info host_fact_table[HOST_FACT_COUNT];
extern const struct fact_info cgroup_fact_table[CGROUP_FACT_COUNT];
extern const struct fact_info mysql_fact_table[MYSQL_FACT_COUNT];

#endif
