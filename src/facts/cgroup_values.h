/* cgroup_values.h - the numbers in the folder of one memory cgroup. */
#ifndef STRATA_FACTS_CGROUP_VALUES_H
#define STRATA_FACTS_CGROUP_VALUES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/buffer.h"
#include "facts/root.h"
#include "facts_types/fact_table.h"

/*
 * Reads every fact that a file of the folder holds; those that are "computed" in facts.def
 * are left alone. version 1 or 2 says how the files are named. scratch is overwritten.
 * 0 or -ENOMEM.
 */
int cgroup_values_read(struct facts_root *root, int folder_fd, uint32_t version,
    struct buffer *scratch, struct fact values[CGROUP_FACT_COUNT]);

/*
 * Stores what the text of one of those files says: pure, for tests. Version 1 without the
 * rules for limits. Facts of other files are left alone.
 */
void cgroup_values_parse(uint32_t version, const char *file, const char *text,
    struct fact values[CGROUP_FACT_COUNT]);

struct cgroup_limits {
    struct fact limit;
    struct fact usage;
};

/* Reads the hard limit and the usage only. 0 or -ENOMEM. */
int cgroup_limits_read(struct facts_root *root, int folder_fd, uint32_t version,
    struct buffer *scratch, struct cgroup_limits *limits);

/*
 * The smallest limit of a cgroup of version 1 and all its ancestors, also of those that
 * are not visible here; absent when none of them has one. 0 or -ENOMEM.
 */
int cgroup_hierarchical_limit(
    struct facts_root *root, int folder_fd, struct buffer *scratch, struct fact *limit);

/*
 * False when the children of this cgroup are not charged to it as well: version 1 with
 * memory.use_hierarchy 0, which is gone since Linux 5.11.
 */
bool cgroup_is_charged_for_children(
    struct facts_root *root, int folder_fd, uint32_t version, struct buffer *scratch);

#endif
