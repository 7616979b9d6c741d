/* recorder.h - writes a recording: figures of each tick, captures, findings, events. */
#ifndef STRATA_RECORD_RECORDER_H
#define STRATA_RECORD_RECORDER_H

#include <stdint.h>

#include "base/error.h"
#include "facts_types/facts.h"
#include "record/recording.h"

struct recorder;

struct recorder_options {
    uint64_t every_ms;
    uint64_t keep_ms;   /* older ticks are removed; 0: none are */
    uint64_t max_bytes; /* of the file, which is thinned out beyond; 0: no bound */
    const char *host;
    const char *version;
};

/*
 * Number of a subject, made when it is new: the same kind and owner, and for a process the
 * same boot, pid and start, for all others the same name. A process that goes by another
 * name now is renamed. key's id is not looked at. 0, -EFBIG (too many in one file),
 * -ENOMEM, or -errno of reading the database.
 */
int recorder_subject(
    struct recorder *recorder, const struct recording_subject *key, uint32_t *subject);

/* Sets a figure from this tick on; what is not set anew stays. plus_minus is not kept. */
void recorder_put(
    struct recorder *recorder, uint32_t subject, size_t metric, const struct fact *fact);

/* The target is gone: its members, cgroups and itself have no figures from now on. */
void recorder_end_target(struct recorder *recorder, uint32_t owner);

/*
 * What happened, and what was found; stored with the next tick, at its time. 0 or
 * -ENOMEM; capture: as capture_write().
 */
int recorder_add_event(
    struct recorder *recorder, uint32_t subject, const char *kind, const char *text);
int recorder_add_finding(
    struct recorder *recorder, const struct recording_finding *finding);
int recorder_add_capture(struct recorder *recorder, uint32_t target,
    const struct facts *facts, struct error *error);

struct recorder_state {
    uint64_t ticks;
    uint64_t ticks_lost;
    uint64_t captures;
    uint64_t file_bytes; /* in use, without what is free inside */
    size_t alive;        /* subjects */
};
void recorder_get_state(const struct recorder *recorder, struct recorder_state *state);

#endif
