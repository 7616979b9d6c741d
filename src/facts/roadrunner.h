/* roadrunner.h - which processes are PHP workers of a RoadRunner server. */
#ifndef STRATA_FACTS_ROADRUNNER_H
#define STRATA_FACTS_ROADRUNNER_H

#include "facts/root.h"
#include "facts/target_group.h"

/* The server is a Go program of this name, and the parent of its workers. */
#define ROADRUNNER_NAME "rr"

/* All entries of the group are servers. */
bool roadrunner_is_server(const struct target_group *group);

/*
 * Adds the workers of the servers in the group: their descendants which have RR_MODE in
 * their environment. One whose environment may not be read counts when it is a direct child
 * and runs another program. The group has room for all entries of its list. 0 or -ENOMEM.
 */
int roadrunner_add_workers(struct facts_root *root, struct target_group *group);

/*
 * Adds to an empty group the workers whose RR_MODE is mode (http, jobs, ...), and their
 * servers; *servers is how many these are. 0 or -ENOMEM.
 */
int roadrunner_find(struct facts_root *root, const char *mode, struct target_group *group,
    size_t *servers);

#endif
