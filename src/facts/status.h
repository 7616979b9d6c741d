/* status.h - /proc/PID/status: sizes that every user may read. */
#ifndef STRATA_FACTS_STATUS_H
#define STRATA_FACTS_STATUS_H

#include <stddef.h>
#include <stdint.h>

#include "facts_types/process_facts.h"

/* A process may be in 65,536 groups, each with up to ten digits in one line of status. */
enum { STATUS_MAX_BYTES = 1 << 20 };

/*
 * Parses the text (bytes long, with a NUL behind it; cut up in place) and fills the facts of
 * source "status", user_id, namespace_pid and kernel_thread of process. *group_pid becomes the
 * process that a thread id belongs to, 0 when the text does not say. Lines that
 * are missing leave their facts absent: a zombie and a kernel thread have no Vm lines.
 */
void status_parse(
    char *text, size_t bytes, struct process_facts *process, int32_t *group_pid);

#endif
