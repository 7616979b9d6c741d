/* container.h - rules on what a container is billed beyond its processes. */
#ifndef STRATA_FINDINGS_CONTAINER_H
#define STRATA_FINDINGS_CONTAINER_H

#include "findings/finding.h"

/*
 * Rules for the table in rules.c; see struct rule. Each adds one finding at most, for all members
 * of the target together. 0 or -ENOMEM.
 */

/* Page cache inside the figure of docker and kubelet. */
int rule_page_cache_in_container(
    const struct snapshot *snapshot, struct finding_list *list);

/* Kernel objects inside the bill. */
int rule_slab_in_container(const struct snapshot *snapshot, struct finding_list *list);

/* Shared memory and tmpfs inside the bill. */
int rule_shmem_charged(const struct snapshot *snapshot, struct finding_list *list);

/* The host itself is a virtual machine. */
int rule_measured_inside_vm(const struct snapshot *snapshot, struct finding_list *list);

#endif
