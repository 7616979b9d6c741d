/* fix_text.h - changes to paste, for the way in which the target is run. */
#ifndef STRATA_FINDINGS_FIX_TEXT_H
#define STRATA_FINDINGS_FIX_TEXT_H

#include <stddef.h>

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

/*
 * Lines that set a property of the target's unit ("MemoryMax", "LimitNOFILE") or, in a
 * container, the compose lines given as compose. The same rules for names.
 */
const char *fix_property(struct finding_list *list, const struct snapshot *snapshot,
    const char *name, const char *value, const char *compose);

/*
 * Lines that set options of a database server, read at its start: words of the command or args of
 * a container or pod, else a group of my.cnf. The same rules for names.
 */
const char *fix_server_options(struct finding_list *list, const struct snapshot *snapshot,
    const struct fix_variable *options, size_t count);

/* The same for an option that a running server takes as well: first what sets it at once. */
const char *fix_server_variable(struct finding_list *list,
    const struct snapshot *snapshot, const struct fix_variable *variable);

/*
 * What to type after `strata explain` for this target: as the user named it, or the pid.
 * Never a text that a shell would read as more than one word.
 */
const char *fix_target(struct finding_list *list, const struct snapshot *snapshot);

#endif
