/*
 * web_value.c - values in a URL's query, by RFC 3986, section 2.
 *
 * Apart from web.c, so that a build which cannot load libcurl has it too: every byte that is
 * not unreserved becomes % and two digits, whatever its encoding.
 */
#include "facts/web_value.h"

#include <string.h>

void web_append_value(struct buffer *url, const char *text)
{
    static const char plain[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                                "0123456789-_.~";

    for (; *text != '\0'; text++) {
        if (strchr(plain, *text) != NULL) {
            buffer_append_char(url, *text);
        } else {
            buffer_printf(url, "%%%02X", (unsigned)(unsigned char)*text);
        }
    }
}
