/* fpm_config.h - the effective configuration of PHP-FPM's pools, from its files. */
#ifndef STRATA_FACTS_FPM_CONFIG_H
#define STRATA_FACTS_FPM_CONFIG_H

#include <stdint.h>

#include "base/error.h"
#include "facts/root.h"
#include "facts_types/facts.h"

/*
 * Reads file, a path as the master process sees it, below the folder root_fd (its root
 * directory), follows include= with globs, expands $pool, and appends one entry for each
 * pool section to facts->fpm_pools. Settings before the first pool and unknown keys are skipped. 0 or
 * -errno with error set: the file is missing or unreadable, includes are nested or
 * too many, memory is short.
 */
int fpm_config_read(struct facts_root *root, int root_fd, const char *file,
    struct facts *facts, struct error *error);

/*
 * The text of one file, without its includes: for tests and fuzzing. Same result as a file
 * that includes nothing. text is changed.
 */
int fpm_config_parse(char *text, const char *file, struct facts *facts);

/*
 * A size as PHP reads it: digits and one of K, M, G; -1 is without limit. 0, -EINVAL, or
 * -ENOENT for without limit.
 */
int fpm_config_size(const char *text, uint64_t *bytes);

#endif
