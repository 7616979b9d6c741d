/*
 * central_lists.c - the lists of every class, in memory that is never given back.
 *
 * Below the files that use them: central.c hands blocks out of them, central_sweep.c gives
 * pages back, central_figures.c shows them. Zero is a class without slabs, so nothing has
 * to be set up before the first call; the lock of a class is in its row.
 */
#include "central_lists.h"

struct strata__central strata__centrals[STRATA__BLOCK_CLASSES];
