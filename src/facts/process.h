/* process.h - reads one process into its facts. */
#ifndef STRATA_FACTS_PROCESS_H
#define STRATA_FACTS_PROCESS_H

#include <stddef.h>
#include <stdint.h>

#include "facts/process_folder.h"
#include "facts/root.h"
#include "facts_types/facts.h"

struct cgroup_reader;

/* What reading any process needs; facts receives memory and gaps. */
struct process_reader {
    struct facts_root *root;
    struct facts *facts;
    struct cgroup_reader *cgroups; /* NULL: cgroups are not read */
    unsigned what;                 /* enum collect_what */
};

/*
 * Fills process from its stat alone: who it is, its name, faults, threads and resident set.
 * 0 or -ENOMEM.
 */
int process_take_stat(struct process_reader *reader, int32_t pid,
    const struct process_stat *stat, struct process_facts *process);

/*
 * Reads the process pid. A process which starts another program meanwhile is read again, a
 * few times. What is denied becomes a gap. 0; -ESRCH it is gone; -ENODATA it has no memory
 * of its own (zombie, kernel thread: run_state and kernel_thread are filled in); -EACCES
 * not even its status may be read; -ENOMEM.
 */
int process_read(
    struct process_reader *reader, int32_t pid, struct process_facts *process);

/*
 * Reads only what needs few and small files: stat, status, title, cgroup; and smaps_rollup while
 * something is left of *rollup_ns, which is reduced by the processor time it took (NULL: not
 * at all). What is denied of that is the state of its facts, and no gap. Errors as above.
 */
int process_read_shortly(struct process_reader *reader, int32_t pid, uint64_t *rollup_ns,
    struct process_facts *process);

#endif
