/* Giving back what slabs and units that live on do not use. */
#ifndef STRATA_CENTRAL_SWEEP_H
#define STRATA_CENTRAL_SWEEP_H

#include <stddef.h>

/* Gives back the pages of partly used slabs and units on which every block is free, and was when
 * the last sweep looked; with `now`, all that are free. Returns the bytes given back. */
size_t strata__central_sweep(int now);

#endif
