/* state_folder.h - the folder in which this user's strata keeps what it will need again. */
#ifndef STRATA_CMD_STATE_FOLDER_H
#define STRATA_CMD_STATE_FOLDER_H

#include <stdbool.h>
#include <stddef.h>

enum { STATE_FOLDER_BYTES = 4096 };

/*
 * Its path: STRATA_STATE, or that of systemd (STATE_DIRECTORY), or /var/lib/strata of root,
 * or strata in XDG_STATE_HOME or ~/.local/state. False: there is none, or STRATA_STATE is
 * "off" or empty.
 */
bool state_folder_path(char *path, size_t bytes);

/*
 * Opens that folder; with make it is made, for its owner alone. Nobody else can have a hand in
 * it: each folder on the way belongs to root or this user and is not open to all (a
 * sticky one, as /tmp, is), links of others are not followed, and the folder itself is
 * this user's and no other can write to it. A descriptor, or -errno (-EPERM: not safe).
 */
int state_folder_open(const char *path, bool make);

#endif
