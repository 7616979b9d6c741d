/* channel.h - what the lab's server and its load driver have in common. */
#ifndef STRATA_LABS_ARENA_SERVER_CHANNEL_H
#define STRATA_LABS_ARENA_SERVER_CHANNEL_H

#include <stddef.h>

enum { CHANNEL_LINE_BYTES = 128 };

/*
 * A connection that talks in lines. Requests of the driver: "query KIB SEED" (work on that
 * much memory), "stat", "trim". The answer is one line that starts with "ok".
 */
struct channel {
    int fd;
    size_t length; /* bytes in pending that were not yet handed out */
    char pending[CHANNEL_LINE_BYTES];
};

/* A listening socket at path (replaced when it is there), or -errno. */
int channel_listen(const char *path);

/* Connects to path: 0 or -errno. */
int channel_connect(struct channel *channel, const char *path);

/*
 * The next line without its end, in line (CHANNEL_LINE_BYTES). 1; 0 at the end of the
 * connection; -errno; -EMSGSIZE for a line that is too long.
 */
int channel_read(struct channel *channel, char *line);

/* Writes text and a line end: 0 or -errno. */
int channel_write(struct channel *channel, const char *text);

#endif
