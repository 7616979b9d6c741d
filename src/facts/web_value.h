/* web_value.h - a value in the query of a URL. */
#ifndef STRATA_FACTS_WEB_VALUE_H
#define STRATA_FACTS_WEB_VALUE_H

#include "base/buffer.h"

/* Appends text as a value in a query: all but letters, digits, '-', '_', '.', '~' in hex. */
void web_append_value(struct buffer *url, const char *text);

#endif
