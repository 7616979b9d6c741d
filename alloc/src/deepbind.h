/*
 * dlopen without RTLD_DEEPBIND.
 */
#ifndef STRATA_DEEPBIND_H
#define STRATA_DEEPBIND_H

/* dlopen itself is declared in <dlfcn.h>. */

/* What dlopen leaves of the mode: all but RTLD_DEEPBIND unless somebody changes it. */
extern int strata__deepbind_mask;

/* The next dlopen in the order of the libraries. */
void *strata__deepbind_next(void);

#endif
