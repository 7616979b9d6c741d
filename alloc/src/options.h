/*
 * What the environment says about the malloc replacement, read once at the start.
 */
#ifndef STRATA_OPTIONS_H
#define STRATA_OPTIONS_H

#include <stddef.h>

struct strata__options {
    int background;     /* STRATA_BACKGROUND: the thread of decay.c may be started */
    int cpu_tables;     /* STRATA_CPU_TABLES: CPUs keep blocks */
    int keep_deepbind;  /* STRATA_DEEPBIND: dlopen leaves RTLD_DEEPBIND alone */
    int region;         /* STRATA_REGION: the figures are shared with readers outside */
    int region_for;     /* STRATA_REGION_FOR: 1: with all of them */
    int pressure;       /* STRATA_PRESSURE: the thread watches the cgroup */
    int hardened;       /* STRATA_HARDENED: the stronger mode of hard.c */
    size_t limit_bytes; /* STRATA_LIMIT; 0: none */
    size_t soft_limit_bytes; /* STRATA_SOFT_LIMIT */
};

/* Fills in all of them. Writes a message for each variable that begins with STRATA_ and
 * is no option, and for each value that is none; with STRATA_HELP=1, the list. A
 * privileged program (AT_SECURE, getauxval(3)) gets the defaults and no messages. */
void strata__options_read(struct strata__options *options, char *const *environment);

#endif
