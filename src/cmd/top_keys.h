/* top_keys.h - the keys of `strata top`. */
#ifndef STRATA_CMD_TOP_KEYS_H
#define STRATA_CMD_TOP_KEYS_H

#include "cmd/top_state.h"

/* A character or an enum top_key: changes what is shown, and what the watch looks at first. */
void top_handle_key(struct top *top, int key);

#endif
