/* json_bounds.h - how large a JSON text will become, before anything is built from it. */
#ifndef STRATA_RECORD_JSON_BOUNDS_H
#define STRATA_RECORD_JSON_BOUNDS_H

#include <stddef.h>

/* Counted outside of strings, whether the text is well formed or not. */
struct json_bounds {
    size_t depth;      /* deepest nesting of brackets */
    size_t tree_bytes; /* about what a tree of the values takes in memory */
};

/* One pass over text, no memory. */
void json_bounds_measure(const char *text, size_t bytes, struct json_bounds *bounds);

#endif
