/* finding.h - what the numbers mean, what to change, and what that will give back. */
#ifndef STRATA_FINDINGS_FINDING_H
#define STRATA_FINDINGS_FINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/region.h"
#include "model/course.h"
#include "model/snapshot.h"

enum severity { SEVERITY_INFO, SEVERITY_WARN, SEVERITY_CRITICAL, SEVERITY_COUNT };
extern const char *const severity_names[SEVERITY_COUNT]; /* "info", "warn", "critical" */

/* How sure a prediction is; said to the user beside the range. */
enum confidence { CONFIDENCE_MEASURED, CONFIDENCE_LIKELY, CONFIDENCE_ROUGH };
extern const char *const confidence_names[3]; /* "measured", "likely", "rough" */

enum evidence_unit { EVIDENCE_BYTES, EVIDENCE_COUNT_OF, EVIDENCE_PERCENT, EVIDENCE_TEXT };

/* One number (or text) a finding rests on. */
struct evidence {
    const char *name; /* "free_resident" */
    enum evidence_unit unit;
    int64_t value;
    const char *text; /* when unit is EVIDENCE_TEXT */
};

enum { FINDING_MAX_EVIDENCE = 12 };

/* Whose bytes a change gives back: two rules with the same name compete for them. */
enum finding_bytes { BYTES_OWN, BYTES_OF_GLIBC, BYTES_OF_ZEND, BYTES_OF_LAZY_FREE };

struct rule;

struct finding {
    const struct rule *rule;
    enum severity severity;
    int32_t pid;           /* the member it is about; 0: the whole target */
    uint32_t subject;      /* of a course: its id in the recording; else 0 */
    const char *summary;   /* one sentence with the numbers in it */
    const char *reasoning; /* how the prediction was made; may be NULL */
    struct evidence evidence[FINDING_MAX_EVIDENCE];
    size_t evidence_count;
    bool predicts; /* low and high are meaningful */
    uint64_t predicted_low_bytes;
    uint64_t predicted_high_bytes;
    uint64_t
        predicted_cost_bytes; /* not 0: it may also take so much more, and low is 0 */
    enum confidence confidence;
    const char *fix;    /* the exact change: lines to paste; may be several */
    const char *verify; /* how to see that it worked */
};

/* Sorted: severity first, then what is to be expected of the change (advice.h). */
struct finding_list {
    struct region region;
    struct finding *items;
    size_t count;
    bool failed; /* memory was short while a text was made; see finding_writer.h */
};

/* A rule looks at the snapshot and adds at most a few findings. 0 or -ENOMEM. */
struct rule {
    const char *id;           /* "glibc-retained" */
    const char *title;        /* what it finds, one line */
    const char *needs;        /* the facts it looks at */
    const char *threshold;    /* when it speaks, in words, with the numbers */
    const char *evidence;     /* what its evidence means */
    const char *fix;          /* what it proposes, in general */
    const char *price;        /* what else the change costs, measured; may be NULL */
    const char *text;         /* a paragraph: why it happens, when it does not matter */
    enum finding_bytes bytes; /* see advice.h */
    bool once;                /* the change gives back now, and keeps nothing away */
    int (*run)(const struct snapshot *snapshot, struct finding_list *list);
    /* Instead of run: looks at how one subject of a recording went. */
    int (*run_course)(const struct course *course, struct finding_list *list);
};

/* The one table of rules, in the order of docs/findings.md; ends with id NULL. */
extern const struct rule rule_table[];

/* The rule of that id, or NULL. */
const struct rule *rule_find(const char *id);

/* Runs every rule of the table. Pure. 0 or -ENOMEM (then nothing needs a release). */
int findings_run(const struct snapshot *snapshot, struct finding_list *list);

/* The same for the rules on time, over all courses of a recording. */
int findings_run_courses(
    const struct course *courses, size_t count, struct finding_list *list);
void finding_list_release(struct finding_list *list);

/*
 * A copy that stands alone: no text of it belongs to the snapshot or its facts, which may
 * then be released. 0 or -ENOMEM (then nothing needs a release).
 */
int finding_list_copy(const struct finding_list *list, struct finding_list *copy);

#endif
