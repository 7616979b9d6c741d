/*
 * safe_text.c - untrusted text made harmless for a terminal.
 *
 * A process may name itself anything, escape sequences included; what is printed must not
 * move the cursor, change colours or retitle the window. C0 and C1 control characters
 * (the latter as UTF-8: C2 80..C2 9F) and DEL become '?'.
 */
#include "present/present.h"

void present_safe_text(struct buffer *buffer, const char *text)
{
    const unsigned char *at = (const unsigned char *)text;

    for (; *at != '\0'; at++) {
        if (*at == 0xc2 && at[1] >= 0x80 && at[1] <= 0x9f) {
            buffer_append_char(buffer, '?');
            at++;
        } else if (*at < 0x20 || *at == 0x7f) {
            buffer_append_char(buffer, '?');
        } else {
            buffer_append_char(buffer, (char)*at);
        }
    }
}
