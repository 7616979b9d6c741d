/*
 * Text in a buffer of the caller's, for messages and reports: no stdio, no locale, no
 * memory of its own. What does not fit is cut off.
 */
#ifndef STRATA_TEXT_H
#define STRATA_TEXT_H

#include <stddef.h>

struct strata__text {
    char *start; /* always ends with a zero byte */
    size_t length;
    size_t size; /* of the buffer, at least 1 */
};

void strata__text_init(struct strata__text *text, char *buffer, size_t size);
void strata__text_add(struct strata__text *text, const char *string);
/* Decimal. */
void strata__text_number(struct strata__text *text, size_t number);
/* To standard error, all of it or what it takes. Keeps errno. */
void strata__text_complain(const struct strata__text *text);

#endif
