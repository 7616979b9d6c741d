/* container_text.h - the cgroup's figures as docker, the kubelet and podman print them. */
#ifndef STRATA_PRESENT_CONTAINER_TEXT_H
#define STRATA_PRESENT_CONTAINER_TEXT_H

#include <stdbool.h>

#include "model/snapshot.h"
#include "present/page.h"

/*
 * Limit and headroom, the four figures beside each other, and what was charged by kind.
 * Nothing when the target has no cgroup that bills it; without a limit and a container
 * only the kinds.
 */
void container_text(struct page *page, const struct snapshot *snapshot);

/* The limit that counts is not the cgroup's own. */
bool container_limit_is_above(const struct cgroup_facts *facts);

#endif
