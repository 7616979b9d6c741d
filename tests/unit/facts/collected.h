/* collected.h - reads live targets, and finds its way in what was read. */
#ifndef STRATA_TESTS_COLLECTED_H
#define STRATA_TESTS_COLLECTED_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "facts/collect.h"

/* As facts_collect(), of this machine. */
int collected(
    const char *target, unsigned what, struct facts *facts, struct error *error);
int collected_pid(pid_t pid, unsigned what, struct facts *facts, struct error *error);

/* Fails the test when the fact is not ok. */
uint64_t collected_value(const struct process_facts *process, enum process_fact id);

/* Fails the test when there is none. */
const struct mapping *collected_mapping(
    const struct process_facts *process, uint64_t address);

/* The gap of that fact, or NULL. */
const struct gap *collected_gap(const struct facts *facts, const char *fact);

/* Frame numbers are shown to the capability, which root may lack in a container. */
bool collected_frames_are_shown(void);

#endif
