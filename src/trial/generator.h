/* generator.h - requests from one thread over many connections, each answer verified. */
#ifndef STRATA_TRIAL_GENERATOR_H
#define STRATA_TRIAL_GENERATOR_H

#include "trial/load.h"

/*
 * Runs to the end of request->seconds and fills result. Closed loop: every connection sends
 * its next request when the answer is there. Open loop: requests start by the clock,
 * whatever the server does, and their latency counts from the moment they should have
 * started, so a server that stalls cannot hide it. One request for each connection.
 */
void generator_run(const struct load_request *request, struct load_result *result);

/* Can url be loaded, by its form alone? */
bool generator_accepts(const char *url);

/* One request. 0, -EPROTO (another status or body), -ETIMEDOUT, or -errno. */
int generator_probe(const struct load_request *request);

#endif
