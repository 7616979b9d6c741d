/* fix_text.h - changes to paste, for the way in which the target is run. */
#ifndef STRATA_FINDINGS_FIX_TEXT_H
#define STRATA_FINDINGS_FIX_TEXT_H

#include <stddef.h>
#include <stdint.h>

#include "findings/finding.h"

/* One variable of a process's environment. */
struct fix_variable {
    const char *name;
    const char *value;
};

/*
 * Lines that set count variables: a Kubernetes env entry, a compose snippet, a systemd
 * drop-in for the target's unit, or else shell assignments before the command; the name of
 * the unit is in it when it is known and can be pasted safely. NULL when memory is short
 * (finding_push() reports that).
 */
const char *fix_environment(struct finding_list *list, const struct snapshot *snapshot,
    const struct fix_variable *variables, size_t count);

/* One setting, in the words of each way to run a target. */
struct fix_setting {
    const char *property; /* of a unit: "MemoryMax", "LimitNOFILE" */
    const char *value;
    const char *compose; /* lines of a service in a compose file */
    const char *pod;     /* lines of a container in a pod's manifest */
};

/*
 * Lines that change setting where the target is run: in its unit, its compose file or the manifest
 * of its pod. The same rules for names.
 */
const char *fix_property(struct finding_list *list, const struct snapshot *snapshot,
    const struct fix_setting *setting);

/* The same for a bound of memory: property is MemoryMax or MemoryHigh. */
const char *fix_memory_bound(struct finding_list *list, const struct snapshot *snapshot,
    const char *property, uint64_t mib);

/* What to raise where a cgroup above the target's has the limit. */
const char *fix_limit_above(
    struct finding_list *list, const struct snapshot *snapshot, uint64_t mib);

/*
 * Lines that set options of a database server, read at its start: words of the command or args of
 * a container or pod, else a group of my.cnf. The same rules for names.
 */
const char *fix_server_options(struct finding_list *list, const struct snapshot *snapshot,
    const struct fix_variable *options, size_t count);

/* Where such an option stands: "my.cnf", or the words of a container or pod. */
const char *fix_option_place(const struct snapshot *snapshot);

/* The same for an option that a running server takes as well: first what sets it at once. */
const char *fix_server_variable(struct finding_list *list,
    const struct snapshot *snapshot, const struct fix_variable *variable);

/*
 * What to type after `strata explain` for this target: as the user named it, or the pid.
 * Never a text that a shell would read as more than one word.
 */
const char *fix_target(struct finding_list *list, const struct snapshot *snapshot);

#endif
