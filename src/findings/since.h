/* since.h - a target then and now: what its layers did, and what came of each promise. */
#ifndef STRATA_FINDINGS_SINCE_H
#define STRATA_FINDINGS_SINCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "findings/finding.h"
#include "model/snapshot.h"

/* What came of a promise. */
enum since_verdict {
    SINCE_AS_PROMISED,
    SINCE_MORE,     /* more was given back than the range says */
    SINCE_LESS,     /* less, or the memory grew */
    SINCE_UNLIKE,   /* the moments cannot be compared; struct since says why */
    SINCE_NOT_MADE, /* the change is not in force, or nothing shows it */
    SINCE_ENDED,    /* it was about memory of a process that has ended since */
    SINCE_VERDICT_COUNT,
};

/* "as-promised", "more", "less", "unlike", "not-made", "ended" */
extern const char *const since_verdict_names[SINCE_VERDICT_COUNT];

/* Is the change that a finding proposed in force now. */
enum since_force {
    SINCE_FORCE_UNKNOWN,
    SINCE_IN_FORCE,
    SINCE_NOT_IN_FORCE,
    SINCE_FORCE_COUNT
};

/* "unknown", "in-force", "not-in-force" */
extern const char *const since_force_names[SINCE_FORCE_COUNT];

struct since_layer {
    enum layer_id id;
    int64_t before_bytes;
    int64_t now_bytes;
};

/*
 * One finding of before that predicted bytes. What is compared is what its bytes are about
 * (measure), not the resident set alone, so that a cache which filled meanwhile is not
 * taken for a broken promise.
 */
struct since_promise {
    const struct finding *finding; /* of before */
    enum since_verdict verdict;
    enum since_force force;
    const char *force_text; /* what shows it: "at most 2 arenas"; NULL: nothing does */
    bool found_now;         /* the rule speaks now as well */
    bool together; /* changes for the same bytes are in force: the range is of all */
    const char *measure;
    int64_t before_bytes;
    int64_t now_bytes;
    int64_t low_bytes; /* the range that the verdict is by */
    int64_t high_bytes;
    const char *why; /* of more or less, when it is known; else NULL */
};

/* Texts belong to region; findings and facts of before are borrowed. */
struct since {
    struct region region;
    const struct facts *before;
    const char *source; /* where before comes from, for people */
    bool restarted;     /* no process of before is there any more */
    const char *unlike; /* why the moments cannot be compared; NULL: they can */
    struct since_layer layers[LAYER_COUNT]; /* those known at both moments */
    size_t layer_count;
    struct since_promise *promises; /* in the order of the findings of before */
    size_t promise_count;
};

struct since_moment {
    const struct snapshot *snapshot;
    const struct finding_list *findings;
    const char *doubt; /* why this look cannot be compared; NULL: no reason is known */
};

/* Compares. Pure. 0, or -ENOMEM (then nothing needs a release). */
int since_build(const struct since_moment *before, const struct since_moment *now,
    const char *source, struct since *since);

void since_release(struct since *since);

/* By how much the measured quantity fell; below zero when it grew. */
int64_t since_fell_bytes(const struct since_promise *promise);

#endif
