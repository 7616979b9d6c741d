/*
 * retained.c - the same threshold for every allocator.
 *
 * What is small beside the program, or small for any program, is not worth a restart.
 */
#include "findings/retained.h"

#include "findings/finding_writer.h"

enum { MIN_PERCENT = 10, WARN_PERCENT = 20 };

static const uint64_t min_bytes = 8 * FINDING_MIB;
static const uint64_t warn_bytes = 64 * FINDING_MIB;

bool retained_grade(uint64_t kept, uint64_t resident, enum severity *severity)
{
    if (!finding_reaches(kept, min_bytes, resident, MIN_PERCENT)) {
        return false;
    }
    *severity = finding_reaches(kept, warn_bytes, resident, WARN_PERCENT) ? SEVERITY_WARN
                                                                          : SEVERITY_INFO;
    return true;
}
