/* models.h - three ways of serving, each in the shape of a server that people run. */
#ifndef STRATA_LABS_SERVERS_MODELS_H
#define STRATA_LABS_SERVERS_MODELS_H

#include <stdbool.h>

struct model_options {
    unsigned port;
    unsigned workers;
    unsigned wait_ms; /* the simulated query */
};

/*
 * Each serves until a signal ends it, and returns only when it cannot start: -1 after a
 * message. Workers end with their parent.
 */

/* A master and workers that accept, serve one request and clear their heap: as PHP-FPM. */
int model_prefork(const struct model_options *options);

/* Workers with an event loop; a coroutine for each request, one heap for all: as Swoole. */
int model_event(const struct model_options *options);

/* One process with all connections; workers behind pipes get one request each: as RoadRunner. */
int model_supervisor(const struct model_options *options);

/* Forks a worker that ends when its parent does; 0 in the worker, -1 on failure. */
int model_fork(void);

/* Sleeps, as a blocking query does. */
void model_wait(unsigned wait_ms);

/* Listens, forks the workers, each of which calls work for good, and waits for them; -1 when it
 * cannot start. */
int model_serve(const struct model_options *options, bool nonblocking,
    void (*work)(int listener, unsigned wait_ms));

/* Waits for the workers to end, which they do not by themselves; returns 0. */
int model_watch(void);

#endif
