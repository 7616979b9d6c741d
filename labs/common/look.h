/*
 * look.h - the figures of one look at a process, out of the tool's report.
 */
#ifndef STRATA_LABS_COMMON_LOOK_H
#define STRATA_LABS_COMMON_LOOK_H

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct look_range {
    bool known;
    int64_t low;
    int64_t high;
};

/* Bytes, LAB_UNKNOWN where the tool gives none. */
struct look {
    json_t *report; /* owned */
    int64_t tracked;
    int64_t in_use;
    int64_t held;
    int64_t resident;
    int64_t residual;
    int64_t free_resident; /* of all allocators */
    int64_t trim_gain;
    int64_t arenas;
    int64_t retained; /* resident in glibc's arenas beyond the blocks in use */
};

/* capture: a file for the facts, or NULL. */
void look_at(struct look *look, pid_t pid, const char *capture);

/* The same of a report that is there already; the look owns it from then on. */
void look_take(struct look *look, json_t *report);

void look_release(struct look *look);

/* What a rule predicts to be saved; not known when the rule did not speak. */
struct look_range look_predicted(const struct look *look, const char *rule);

/* True when there is a finding of this rule. */
bool look_found(const struct look *look, const char *rule);

/* A number of the cgroup section: usage, docker, kubelet, podman, non_reclaimable. */
int64_t look_cgroup(const struct look *look, const char *key);

/* Bytes of a part of the resident set, 0 when it has no such part. */
int64_t look_resident_part(const struct look *look, const char *id);

#endif
