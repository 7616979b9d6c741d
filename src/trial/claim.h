/* claim.h - a folder that is held while its maker lives, so that others can tell it is left. */
#ifndef STRATA_TRIAL_CLAIM_H
#define STRATA_TRIAL_CLAIM_H

#include <stddef.h>
#include <sys/types.h>

/* What the names of all folders and cgroups of a bench begin with; the maker's pid follows. */
#define CLAIM_PREFIX "strata-bench-"

/*
 * Locks the folder at path, which the caller made. The descriptor, to be closed at the end; -EBUSY
 * when a sweep was faster: make another one; or -errno.
 */
int claim_take(const char *path);

/*
 * Calls remove_one for each folder in parent that a bench of this user made and left: nobody holds
 * it, and no process has the pid in its name. How many remove_one said 0 of.
 */
size_t claim_sweep(const char *parent, int (*remove_one)(const char *path));

#endif
