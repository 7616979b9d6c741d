/* trial_start.h - from a recipe to a server that answers. */
#ifndef STRATA_TRIAL_TRIAL_START_H
#define STRATA_TRIAL_TRIAL_START_H

#include "trial/trial_state.h"

/* Chooses ports and fills the placeholders. 0 or -errno with error set. */
int trial_set_values(struct trial *trial);

/* Starts what the recipe says and waits until it answers. 0 or -errno with error set. */
int trial_start_server(struct trial *trial);

/* The first right answer from url. 0, -EINTR, -ECHILD or -errno with error set. */
int trial_wait_ready(struct trial *trial, const char *url);

/* The role of a service that ended by itself, or NULL. */
const char *trial_lost_service(struct trial *trial);

/* Sets the error of a lost service, with the last line of the log. -ECHILD. */
int trial_ended_early(struct trial *trial, const char *role);

#endif
