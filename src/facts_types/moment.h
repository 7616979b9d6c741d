/* moment.h - when something was read, by two clocks. */
#ifndef STRATA_FACTS_TYPES_MOMENT_H
#define STRATA_FACTS_TYPES_MOMENT_H

#include <stdint.h>

enum { MOMENT_BOOT_ID_BYTES = 40 };

/*
 * wall_ms is what people know and what may jump; boot_ms (CLOCK_BOOTTIME, suspend
 * included) never jumps and starts anew with each boot, which boot_id names.
 */
struct moment {
    int64_t wall_ms; /* since 1970, UTC */
    int64_t boot_ms;
    char boot_id[MOMENT_BOOT_ID_BYTES]; /* "": unknown */
};

#endif
