/* header_text.h - whose memory this is: the first line of `strata explain`. */
#ifndef STRATA_PRESENT_HEADER_TEXT_H
#define STRATA_PRESENT_HEADER_TEXT_H

#include "model/snapshot.h"
#include "present/page.h"

/* Name, pid or members, uptime, threads, allocators, unit or container. */
void header_text(struct page *page, const struct snapshot *snapshot);

/*
 * What bills the target, in few words: "docker 3f2a1bcd9e01", "mariadb.service", a cgroup
 * path; NULL when it is not known. The text is borrowed from facts or stored in scratch.
 */
enum { BILL_TEXT_BYTES = 128 };
const char *bill_name(const struct cgroup_facts *cgroup, char scratch[BILL_TEXT_BYTES]);

/* The name a target goes by: its own, or the first member's. Never NULL. */
const char *target_name(const struct facts *facts);

#endif
