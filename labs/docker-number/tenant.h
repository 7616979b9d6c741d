/*
 * tenant.h - the process in the cgroup: it has memory of each kind, in known amounts.
 */
#ifndef STRATA_LABS_DOCKER_NUMBER_TENANT_H
#define STRATA_LABS_DOCKER_NUMBER_TENANT_H

/*
 * Takes what its settings name (anon, shared, once, twice in MiB; files; folder), prints
 * "ready", and waits for the end of its input. Returns an exit code.
 */
int tenant(int count, char **arguments);

#endif
