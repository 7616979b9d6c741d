/* kept_folder.h - the looks in the state folder: their list, and what goes. */
#ifndef STRATA_CMD_KEPT_FOLDER_H
#define STRATA_CMD_KEPT_FOLDER_H

#include <stddef.h>
#include <stdint.h>

#include "cmd/kept_name.h"

enum { KEPT_MOST_TARGETS = 64 };

/* How the name begins of a look that is being written; others may have files there. */
extern const char kept_temporary[sizeof(".strata-new-")];

struct kept_entry {
    struct kept_name name;
    char text[KEPT_NAME_BYTES]; /* "" once it is dropped */
    int64_t written;            /* seconds */
};

/* items is the caller's to free(). */
struct kept_entries {
    struct kept_entry *items;
    size_t count;
};

/* What has the name of a look; temporaries that were left behind are removed. 0 or -ENOMEM. */
int kept_folder_list(int folder, struct kept_entries *entries);

/* Drops older looks at the target of mine, and targets at which nobody looked for longest. */
void kept_folder_prune(int folder, const struct kept_name *mine);

/* The one of that target with the latest start before mine and before bound, or NULL. */
const struct kept_entry *kept_folder_latest(
    const struct kept_entries *entries, const struct kept_name *mine, uint64_t bound);

#endif
