/* mysql_layers.h - what a database server tracks, and how much of malloc that explains. */
#ifndef STRATA_MODEL_MYSQL_LAYERS_H
#define STRATA_MODEL_MYSQL_LAYERS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/region.h"
#include "model/amounts.h"
#include "model/snapshot.h"

/* Where the tracked bytes come from. */
enum mysql_source {
    MYSQL_SOURCE_NONE,
    MYSQL_SOURCE_SCHEMA,  /* sum over the memory instruments of Performance Schema */
    MYSQL_SOURCE_COUNTER, /* MariaDB's Memory_used */
    MYSQL_SOURCE_BOTH,    /* Memory_used and what Performance Schema has beside it */
};

/*
 * The server's account beside malloc's. A tracked byte is either inside malloc or mapped by the
 * server beside it (buffer pool, caches), so
 *   in use by malloc = inside + headers + untracked
 * where untracked has a sign: facts are read one after the other.
 */
struct mysql_view {
    const struct mysql_facts *facts; /* NULL: the process is no such server */
    enum mysql_source source;
    uint64_t tracked_bytes;
    uint64_t outside_bytes; /* of tracked: mapped beside malloc */
    uint64_t inside_bytes;  /* of tracked: the rest */
    uint64_t schema_bytes;  /* Performance Schema itself, as its instruments count it */
    uint64_t header_bytes;  /* malloc's headers and rounding on the counted blocks */
    bool in_use_known;
    uint64_t in_use_bytes; /* malloc's blocks */
    int64_t untracked_bytes;
    uint64_t coverage_percent; /* inside and headers, of in use */
};

/* Of one process whose in-use layer is built. Pure. */
struct mysql_view mysql_view_of(const struct process_view *view);

/*
 * Sets LAYER_TRACKED of a database server and adds its parts to tracked; a process that
 * is none is left as it is. 0 or -ENOMEM.
 */
int mysql_layers_build(
    struct region *region, struct process_view *view, struct amounts *tracked);

#endif
