/* box.h - a memory cgroup of our own, with a limit, for one bench. */
#ifndef STRATA_TRIAL_BOX_H
#define STRATA_TRIAL_BOX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

struct box {
    bool open;
    bool unified;     /* cgroup v2 */
    int claim;        /* held while it is in use; see claim.h */
    char folder[512]; /* below the mount */
    char procs[576];  /* its cgroup.procs */
};

/*
 * Makes a cgroup below our own, with limit_bytes (0: none). 0; -EOPNOTSUPP where no memory
 * controller can be had; or -errno with error set.
 */
int box_open(struct box *box, uint64_t limit_bytes, struct error *error);

/* Removes it once its processes are gone; waits up to two seconds for them. */
void box_close(struct box *box);

/* Removes the cgroups of benches that were killed, and says how many: those without processes. */
size_t box_sweep(void);

/* What happened in it. */
struct box_events {
    uint64_t limit_hits; /* the limit was met and reclaim was tried */
    uint64_t kills;      /* processes killed for want of memory */
    uint64_t peak_bytes; /* largest charge; 0: not known */
    bool known;
};
struct box_events box_read(const struct box *box);

#endif
