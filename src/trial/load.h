/* load.h - load on a server: by wrk, by ab, or by a generator of our own. */
#ifndef STRATA_TRIAL_LOAD_H
#define STRATA_TRIAL_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/error.h"
#include "trial/service.h"

enum load_tool { LOAD_OWN, LOAD_WRK, LOAD_AB, LOAD_TOOL_COUNT };
extern const char *const load_tool_names[LOAD_TOOL_COUNT]; /* "own", "wrk", "ab" */

enum { LOAD_WHY_BYTES = 160, LOAD_MAX_CONNECTIONS = 4096 };

/* What an answer must be. */
struct load_expected {
    const char *prefix; /* the body begins with it; "" accepts any */
    uint64_t bytes;     /* of the body; 0: any */
};

struct load_request {
    enum load_tool tool;
    const char
        *url; /* http://127.0.0.1:PORT/PATH, fastcgi://127.0.0.1:PORT/SCRIPT?QUERY or
                 fastcgi://unix:/PATH.sock:/SCRIPT?QUERY */
    struct load_expected expected;
    unsigned connections;
    unsigned seconds;
    double rate; /* requests a second, open loop; 0: closed loop */
    bool keep_alive;
    const char *folder; /* for logs and scripts */
    const char *wrk;    /* their paths */
    const char *ab;
};

/* Latencies in microseconds; in the open loop from the intended start. */
struct load_result {
    enum load_tool tool;
    bool complete;            /* ran to its end and was understood */
    char why[LOAD_WHY_BYTES]; /* when it did not */
    uint64_t requests;        /* answered well: status and, but for ab, body */
    uint64_t bad_status;
    uint64_t bad_body;
    uint64_t failed; /* connect, read, write, timeout */
    uint64_t unsent; /* open loop: intended, and not even sent in time */
    double seconds;
    double rate;    /* requests / seconds */
    double mean_us; /* 0: the tool does not tell */
    double p50_us;
    double p90_us;
    double p99_us;
    double most_us;
    double processor_seconds; /* of the generator, all its threads */
};

/* A load that runs. */
struct load {
    struct service service; /* wrk or ab, or our child */
    int answer;             /* our child's pipe, -1 */
    char log[512];
    int64_t started_ns;
    double processor_before;
};

/* 0 or -errno with error set. */
int load_start(
    struct load *load, const struct load_request *request, struct error *error);

/* True while it runs. */
bool load_is_running(struct load *load);

/* Once it does not: what it found. Ends it first when it still runs. */
void load_finish(
    struct load *load, const struct load_request *request, struct load_result *result);

/* The output of the tools, apart from running them. */
void load_parse_wrk(const char *text, struct load_result *result);
void load_parse_ab(const char *text, struct load_result *result);

/* One request, verified. 0, -EPROTO (another status or body), or -errno. */
int load_probe(const char *url, const struct load_expected *expected);

#endif
