/* host_choice.h - which processes of a host are worth a closer look. */
#ifndef STRATA_FACTS_HOST_CHOICE_H
#define STRATA_FACTS_HOST_CHOICE_H

#include <stdbool.h>

#include "base/region.h"
#include "facts_types/facts.h"

/*
 * chosen[] (one for each process of facts) holds those that were looked at closely, cgroup
 * included. Chooses further ones, so that a pool is known as a whole: processes with the
 * name of a chosen one that are in a service or container with it, or whose parent has the
 * same name, and that parent; and all of PHP-FPM. Scratch comes from region. 0 or -ENOMEM.
 */
int host_choice_add_relatives(
    const struct facts *facts, struct region *region, bool *chosen);

#endif
