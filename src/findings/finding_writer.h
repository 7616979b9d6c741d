/* finding_writer.h - what every rule needs to put a finding together. */
#ifndef STRATA_FINDINGS_FINDING_WRITER_H
#define STRATA_FINDINGS_FINDING_WRITER_H

#include <stdbool.h>
#include <stdint.h>

#include "findings/finding.h"

#define FINDING_KIB UINT64_C(1024)
#define FINDING_MIB (FINDING_KIB * FINDING_KIB)

/*
 * A rule fills a struct finding of its own and pushes it. Text made here belongs to the
 * list; when memory is short it is NULL, which finding_push() reports.
 */
const char *finding_printf(struct finding_list *list, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Evidence, in the order in which it is shown. Larger than int64_t is cut. */
void finding_add_bytes(struct finding *finding, const char *name, uint64_t bytes);
void finding_add_count(struct finding *finding, const char *name, uint64_t count);
void finding_add_percent(
    struct finding *finding, const char *name, uint64_t part, uint64_t whole);
void finding_add_text(struct finding *finding, const char *name, const char *text);

/* The value only when the fact carries one: bytes, and a count. */
void finding_add_fact(struct finding *finding, const char *name, const struct fact *fact);
void finding_add_count_fact(
    struct finding *finding, const char *name, const struct fact *fact);

/* low is at most high afterwards. */
void finding_predict(struct finding *finding, uint64_t low_bytes, uint64_t high_bytes,
    enum confidence confidence);

/* Appends a copy; the rule is filled in by findings_run(). 0 or -ENOMEM. */
int finding_push(struct finding_list *list, const struct finding *finding);

/* part is at least percent of whole, and whole is not 0. */
bool at_least_percent(uint64_t part, uint64_t whole, unsigned percent);

/* What most thresholds are: so many bytes at least, and that part of the whole. */
bool finding_reaches(
    uint64_t bytes, uint64_t least_bytes, uint64_t whole_bytes, unsigned percent);

/* Bytes of the whole target's layer, 0 when it has none. */
uint64_t target_bytes(const struct snapshot *snapshot, enum layer_id id);

/* Over all members: the number of smaps_rollup, or else the sum over their mappings. */
uint64_t sum_over_members(
    const struct snapshot *snapshot, enum process_fact rollup, enum mapping_fact key);

/* The pid for a finding on all members: that of the only one, else 0. */
int32_t target_pid(const struct snapshot *snapshot);

#endif
