/* schema_place.h - where in a capture something is wrong: "processes[3].mappings[7].start". */
#ifndef STRATA_RECORD_SCHEMA_PLACE_H
#define STRATA_RECORD_SCHEMA_PLACE_H

#include <stddef.h>

enum { SCHEMA_PLACE_BYTES = 160, SCHEMA_NO_ITEM = -1 };

/* A chain on the stack of whoever walks; costs nothing until it is printed. */
struct schema_place {
    const struct schema_place *parent; /* NULL: the whole capture */
    const char *key;
    long item; /* in the array key, or SCHEMA_NO_ITEM */
};

/* Writes the place into text, cut off when it is longer. */
void schema_place_print(const struct schema_place *place, char text[SCHEMA_PLACE_BYTES]);

#endif
