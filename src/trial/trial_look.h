/* trial_look.h - full looks at the pool of a trial. */
#ifndef STRATA_TRIAL_TRIAL_LOOK_H
#define STRATA_TRIAL_TRIAL_LOOK_H

#include "trial/trial_state.h"

/* A full look; the one with the largest request is kept in trial->look. */
void trial_look_closely(struct trial *trial);

/* Fills row->trim_gain by what could go back now. */
void trial_count_trim_gain(struct trial *trial);

#endif
