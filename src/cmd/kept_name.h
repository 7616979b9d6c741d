/* kept_name.h - under which name a look at a target is kept, and found again after a restart. */
#ifndef STRATA_CMD_KEPT_NAME_H
#define STRATA_CMD_KEPT_NAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"
#include "facts_types/facts.h"

enum { KEPT_NAME_BYTES = 128 };

/* A start of a target: which target, when its oldest member started, and its pid. */
struct kept_name {
    uint64_t key; /* of kept_identity() */
    uint64_t start_unix_seconds;
    int32_t pid;
};

/*
 * What stays when a target starts again: its kind and name, and the unit or cgroup in which
 * it runs, without what is new at each start (pids, ids of containers and pods, numbers
 * of sessions); of a worker of PHP-FPM also its pool.
 */
void kept_identity(const struct facts *facts, struct buffer *text);

/* False: the target has no start that is known, as the host; text is the file's name. */
bool kept_name_of(
    const struct facts *facts, struct kept_name *name, char text[KEPT_NAME_BYTES]);

/* The other way round, of any text; false when no look has that name. */
bool kept_name_parse(const char *text, struct kept_name *name);

/*
 * Whose look it was, for people: of a worker its pid and pool, since there are others of that
 * pool; a container is made anew with its id, so the one before is known by its place alone.
 * 0 or -ENOMEM.
 */
int kept_source(const struct facts *before, const struct facts *now, struct buffer *text);

/* Both are looks at the same start; the kernel computes starts anew after clock steps. */
bool kept_name_same_start(const struct kept_name *a, const struct kept_name *b);

#endif
