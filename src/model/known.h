/* known.h - does a fact carry a number. */
#ifndef STRATA_MODEL_KNOWN_H
#define STRATA_MODEL_KNOWN_H

#include <stdbool.h>
#include <stdint.h>

#include "facts_types/fact.h"

/* Only these two states carry a value; see fact.h. */
static inline bool state_is_known(uint32_t state)
{
    return state == FACT_OK || state == FACT_STALE;
}

static inline bool fact_is_known(const struct fact *fact)
{
    return state_is_known((uint32_t)fact->state);
}

#endif
