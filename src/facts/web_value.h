/* web_value.h - a value in the query of a URL, and a URL without its secret. */
#ifndef STRATA_FACTS_WEB_VALUE_H
#define STRATA_FACTS_WEB_VALUE_H

#include "base/buffer.h"

/* Appends text as a value in a query: all but letters, digits, '-', '_', '.', '~' in hex. */
void web_append_value(struct buffer *url, const char *text);

enum { WEB_SHOWN_BYTES = 512 };

/* A URL for messages: user and password are left out, what is too long is cut. */
struct web_shown {
    char text[WEB_SHOWN_BYTES];
};
struct web_shown web_shown(const char *url);

#endif
