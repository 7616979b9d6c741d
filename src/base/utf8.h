/* utf8.h - characters out of bytes that may be anything. */
#ifndef STRATA_BASE_UTF8_H
#define STRATA_BASE_UTF8_H

#include <stddef.h>
#include <stdint.h>

/*
 * Length of the well-formed UTF-8 sequence at the NUL terminated text, 0 when there is
 * none (Unicode 15, table 3-7: no surrogates, nothing overlong). The NUL has length 1.
 */
size_t utf8_length(const char *text);

/* The same, and stores the code point; *code is untouched when the result is 0. */
size_t utf8_decode(const char *text, uint32_t *code);

#endif
