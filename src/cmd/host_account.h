/* host_account.h - all processes of the host as services, each judged as a target of its own. */
#ifndef STRATA_CMD_HOST_ACCOUNT_H
#define STRATA_CMD_HOST_ACCOUNT_H

#include <stddef.h>

#include "base/error.h"
#include "facts/root.h"
#include "facts_types/facts.h"
#include "present/overview.h"

struct host_account {
    struct facts host;
    struct region region; /* owns the groups */
    struct facts *groups;
    size_t group_count;
    struct overview overview; /* its rows borrow the groups */
};

/*
 * Reads the host and puts its processes together as services. The groups may then be changed
 * until host_account_judge(). what: COLLECT_OVERVIEW, and COLLECT_CLOSELY if wanted. 0 or -errno,
 * with error set when there is more to say; then nothing needs a release.
 */
int host_account_read(struct facts_root *root, unsigned what,
    struct host_account *account, struct error *error);

/* Model and findings of each group: fills the overview, sorted. 0 or -ENOMEM; release anyway. */
int host_account_judge(struct host_account *account);

void host_account_release(struct host_account *account);

#endif
