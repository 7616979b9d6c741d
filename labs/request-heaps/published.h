/*
 * published.h - the published figures which the labs on request heaps set beside what they
 * find, each once. The READMEs of the labs name their source.
 *
 * They are as published; where a figure contains huge blocks, the function beside it gives
 * what it would be with pages of 4 KiB (lab_page_surplus()).
 */
#ifndef STRATA_LABS_REQUEST_HEAPS_PUBLISHED_H
#define STRATA_LABS_REQUEST_HEAPS_PUBLISHED_H

#include <stdbool.h>

#include "lab.h"

enum {
    LAYERS_POINTS = 5,
    LAYERS_TABLE_ELEMENTS = 1 << 20, /* what range() of a million asks for at once */
    STEPS_ROWS = 8,
    STEPS_ELEMENTS = 20000, /* from one row to the next */
    LIMIT_BYTES = 16 << 20,
    CLIFF_ROWS = 20,
    STAIRCASE_ROWS = 6,
};

/* layers: five points of one script. */
struct layers_point {
    const char *key; /* of the script's point */
    const char *label;
    int64_t huge_blocks; /* alive, for the page size of the published run */
    struct lab_reading published;
};
extern const struct layers_point layers_points[LAYERS_POINTS];
extern const int64_t layers_peak_real;

int64_t layers_real_here(size_t point);
int64_t layers_peak_real_here(void);

/* steps: a growing array, every STEPS_ELEMENTS. */
extern const int64_t steps_used[STEPS_ROWS];
extern const int64_t steps_real[STEPS_ROWS];

/* Capacity of the table which holds so many elements. */
size_t steps_capacity(size_t elements);
int64_t steps_real_here(size_t row);

/* limit: the last reading before the refusal. */
extern const int64_t limit_used;
extern const int64_t limit_real;
extern const int64_t limit_asked;

int64_t limit_real_here(void);

/* cliff: strings of one size, and by how much real rises. */
struct cliff_row {
    size_t strings;
    size_t payload;
    bool warm; /* one chunk in the cache before */
    const char *what;
    int64_t published_real; /* LAB_UNKNOWN where the text gives none */
};
extern const struct cliff_row cliff_rows[CLIFF_ROWS];
extern const size_t cliff_mebibyte;      /* a payload, */
extern const int64_t cliff_mebibyte_rss; /* and the rise of RSS in its row */

/* chunks-return: RSS in MB in one heavy request and after it and the next ones. */
extern const int64_t staircase_megabytes[STAIRCASE_ROWS];

/* Chunks in a row: the published worker itself takes 3 MB. */
int64_t staircase_chunks(size_t row);

#endif
