/* retained.h - from when on memory that an allocator keeps is worth a finding. */
#ifndef STRATA_FINDINGS_RETAINED_H
#define STRATA_FINDINGS_RETAINED_H

#include <stdbool.h>
#include <stdint.h>

#include "findings/finding.h"

/*
 * kept bytes are free and resident. False below 8 MiB or a tenth of the resident set; else the
 * severity: a warning from 64 MiB and a fifth of it on.
 */
bool retained_grade(uint64_t kept, uint64_t resident, enum severity *severity);

#endif
