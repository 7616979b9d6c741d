/*
 * Builds a line or a report in a buffer on the caller's stack. Nothing here can fail or
 * call back: malloc itself writes its messages with it.
 *
 * write(2) is repeated after a part was taken, and given up on any error: there is nobody
 * to tell.
 */
#include "text.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#define DIGITS_MAX 20

void strata__text_init(struct strata__text *text, char *buffer, size_t size)
{
    *text = (struct strata__text){.start = buffer, .size = size};
    buffer[0] = '\0';
}

void strata__text_add(struct strata__text *text, const char *string)
{
    size_t room = text->size - 1 - text->length;
    size_t bytes = strnlen(string, room);
    memcpy(text->start + text->length, string, bytes);
    text->length += bytes;
    text->start[text->length] = '\0';
}

void strata__text_number(struct strata__text *text, size_t number)
{
    char digits[DIGITS_MAX + 1] = {0};
    size_t at = DIGITS_MAX;
    do {
        digits[--at] = (char)('0' + number % 10);
        number /= 10;
    } while (number > 0);
    strata__text_add(text, digits + at);
}

void strata__text_complain(const struct strata__text *text)
{
    int saved = errno;
    size_t written = 0;
    while (written < text->length) {
        ssize_t part =
            write(STDERR_FILENO, text->start + written, text->length - written);
        if (part <= 0) {
            break;
        }
        written += (size_t)part;
    }
    errno = saved;
}
