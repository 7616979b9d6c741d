/*
 * box.h - a memory cgroup for one experiment, of version 1 or 2.
 */
#ifndef STRATA_LABS_COMMON_BOX_H
#define STRATA_LABS_COMMON_BOX_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { BOX_PATH_BYTES = 1024 };

struct box {
    int version; /* of the controller: 1 or 2; 0: none could be made */
    char path[BOX_PATH_BYTES];
    char why[BOX_PATH_BYTES]; /* when version is 0 */
};

/*
 * Makes a cgroup `parent/name` where this machine has the memory controller, with this
 * limit of bytes (0: none). False when that is not possible; box->why says why. Needs root or a delegated
 * cgroup.
 */
bool box_make(struct box *box, const char *parent, const char *name, int64_t limit_bytes);

/* Moves a process in; only pages it touches from then on are charged here. 0 or -errno. */
int box_add(const struct box *box, pid_t pid);

/* A file of the cgroup as a number, or LAB_UNKNOWN ("max" included). */
int64_t box_number(const struct box *box, const char *file);

/* One value of memory.stat. */
int64_t box_stat(const struct box *box, const char *key);

/* Bytes charged now, and the limit, under the names of the box's version. */
int64_t box_usage(const struct box *box);
int64_t box_limit(const struct box *box);

/* Asks the kernel to drop what it can drop without harm (page cache). 0 or -errno. */
int box_drop_cache(const struct box *box);

/* Removes the box, which must be empty. 0 or -errno. */
int box_remove(const struct box *box);

/* Removes parent and all boxes in it, wherever a controller is mounted. */
void box_remove_all(const char *parent);

#endif
