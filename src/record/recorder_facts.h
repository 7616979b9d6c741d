/* recorder_facts.h - scalar facts as figures of a recording. */
#ifndef STRATA_RECORD_RECORDER_FACTS_H
#define STRATA_RECORD_RECORDER_FACTS_H

#include <stdint.h>

#include "facts_types/facts.h"
#include "record/recorder.h"

/*
 * All scalar facts of the members, cgroups and the host of facts, which belong to owner.
 * Members and cgroups of owner that are not among them have ended. A process's facts that
 * are absent keep what they had before when they come from other files than stat and status,
 * which alone are read at each tick. As recorder_subject().
 */
int recorder_put_facts(
    struct recorder *recorder, uint32_t owner, const struct facts *facts);

/* The subject of a member, as recorder_put_facts() made it; 0: there is none. */
uint32_t recorder_process(
    const struct recorder *recorder, uint32_t owner, const struct process_facts *process);

#endif
