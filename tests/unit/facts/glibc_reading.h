/* glibc_reading.h - one synthetic process, read by the whole glibc reader. */
#ifndef STRATA_TESTS_GLIBC_READING_H
#define STRATA_TESTS_GLIBC_READING_H

#include "base/region.h"
#include "facts_types/facts.h"
#include "glibc_image.h"

struct glibc_reading {
    struct glibc_image image;
    struct process_facts process;
    struct region region;
};

/* Too large for a stack, so there is one; between begin and end it is a test's. */
extern struct glibc_reading glibc_reading;

void glibc_reading_begin(enum glibc_layout_id layout);
void glibc_reading_end(void);

/* Reads the image as it is now; no page that is absent may be touched. */
const struct glibc_facts *glibc_reading_read(void);

/* The arena is exact, and as expected. */
void glibc_reading_compare(
    const struct glibc_arena *arena, const struct glibc_arena *expected);

#endif
