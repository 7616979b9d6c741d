/* moment.h - reads the clocks. */
#ifndef STRATA_FACTS_MOMENT_H
#define STRATA_FACTS_MOMENT_H

#include "facts/root.h"
#include "facts_types/moment.h"

/* Now; boot_id is read from /proc/sys/kernel/random/boot_id, "" when it is not there. */
void moment_read(struct facts_root *root, struct moment *moment);

#endif
