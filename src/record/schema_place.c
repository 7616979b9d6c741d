/*
 * schema_place.c - prints the chain from the outermost key inwards.
 *
 * The chain is as deep as the tables of schema.c are nested, which bounds the recursion.
 */
#include "record/schema_place.h"

#include <stdio.h>
#include <string.h>

static void append_place(const struct schema_place *place, char *text)
{
    size_t used;

    if (place == NULL) {
        return;
    }
    append_place(place->parent, text);
    used = strlen(text);
    (void)snprintf(
        text + used, SCHEMA_PLACE_BYTES - used, "%s%s", used > 0 ? "." : "", place->key);
    if (place->item != SCHEMA_NO_ITEM) {
        used = strlen(text);
        (void)snprintf(text + used, SCHEMA_PLACE_BYTES - used, "[%ld]", place->item);
    }
}

void schema_place_print(const struct schema_place *place, char text[SCHEMA_PLACE_BYTES])
{
    text[0] = '\0';
    append_place(place, text);
}
