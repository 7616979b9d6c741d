/* sample.h - targets built by hand, for the renderers of text and JSON alike. */
#ifndef STRATA_TESTS_UNIT_PRESENT_SAMPLE_H
#define STRATA_TESTS_UNIT_PRESENT_SAMPLE_H

#include "findings/finding.h"
#include "model/snapshot.h"

/* Facts, snapshot and findings that belong together; nothing of it is released. */
struct sample {
    struct facts facts;
    struct snapshot snapshot;
    struct finding_list list;
};

/* A database in a container: 35 arenas, a limit, findings of each severity. */
void sample_database(struct sample *sample);

/* The same with a server that answered: it counts 470 MiB, 128 MiB of it beside malloc. */
void sample_database_asked(struct sample *sample);

/* A process of another user: nearly everything denied, names that attack the terminal. */
void sample_denied(struct sample *sample);

/* Twelve workers of one pool, some of which ended while they were read. */
void sample_pool(struct sample *sample);

/* No mapping, no arena, no finding, and a negative residual. */
void sample_empty(struct sample *sample);

#endif
