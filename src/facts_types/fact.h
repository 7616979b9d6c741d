/* fact.h - one number that was read, or the reason why it is missing. */
#ifndef STRATA_FACTS_TYPES_FACT_H
#define STRATA_FACTS_TYPES_FACT_H

#include <stdint.h>

/*
 * Zero is FACT_ABSENT, so a struct that was never filled says "unknown" and never "0".
 * Only FACT_OK and FACT_STALE carry a value.
 */
enum fact_state {
    FACT_ABSENT,    /* this kernel, program or configuration has no such number */
    FACT_OK,        /* read, and consistent with what was read beside it */
    FACT_STALE,     /* read, but something moved meanwhile: see plus_minus */
    FACT_DENIED,    /* exists; we may not read it */
    FACT_GONE,      /* the process or cgroup ended while it was read */
    FACT_MALFORMED, /* read, but it cannot be what it claims to be */
    FACT_STATE_COUNT,
};

struct fact {
    uint64_t value;      /* bytes, or a count; see the unit in facts.def */
    uint64_t plus_minus; /* the true value lies in value +- plus_minus */
    enum fact_state state;
};

/* "ok", "absent", ...: the spelling of every output and of captures. */
extern const char *const fact_state_names[FACT_STATE_COUNT];

enum fact_unit { FACT_UNIT_BYTES, FACT_UNIT_COUNT, FACT_UNIT_MICROSECONDS };
enum fact_kind { FACT_GAUGE, FACT_COUNTER };

/* One row of facts.def. */
struct fact_info {
    const char *name;    /* id in captures and JSON: "vm_rss" */
    const char *source;  /* kernel file: "status", "smaps", "memory.stat" */
    const char *key;     /* key in that file: "VmRSS"; "" when the file is one number */
    enum fact_unit unit; /* unit of fact.value, after conversion from the file's kB */
    enum fact_kind kind;
    const char *since;   /* first kernel with this key, "" when older than 4.14 */
    const char *summary; /* one line: help text of the metric */
};

#endif
