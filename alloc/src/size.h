/* Sizes as users write them. */
#ifndef STRATA_SIZE_H
#define STRATA_SIZE_H

#include <stddef.h>

/* "1000", "512M" (K, M, G, T: powers of 1024), or "80%": that share of the cgroup's limit,
 * or of all memory where the cgroup has none or one above it. 0 bytes, a share of nothing
 * and above 100 % are no sizes. `system`: see cgroup.h. 0 or -EINVAL; *bytes only then. */
int strata__size_parse(const char *text, const char *system, size_t *bytes);

#endif
