/* folder.h - the temporary folder of one bench, its files, and free ports. */
#ifndef STRATA_TRIAL_FOLDER_H
#define STRATA_TRIAL_FOLDER_H

#include <stddef.h>

#include "base/buffer.h"

/*
 * Makes a folder below TMPDIR or /tmp that servers of other users may enter. *claim, to be closed
 * behind folder_remove(), tells folder_sweep() that it is in use. 0 or -errno.
 */
int folder_make(char *path, size_t bytes, int *claim);

/* Removes what benches left there that were killed, and says how many. */
size_t folder_sweep(void);

/* Removes it with all it holds; follows no links, crosses no mounts. */
void folder_remove(const char *path);

/* A file of at most 1 MiB below folder; name may begin with "../" once. 0 or -errno. */
int folder_read(const char *folder, const char *name, struct buffer *text);

/* Writes a file that others may read. 0 or -errno. */
int folder_write(const char *folder, const char *name, const struct buffer *text);

/* The last line of a file with something in it; "" when there is none. */
void folder_tail(const char *path, char *line, size_t bytes);

/* Loopback ports nobody listens on, all different. 0 or -errno. */
int folder_free_ports(unsigned *ports, size_t count);

#endif
