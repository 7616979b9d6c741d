/*
 * web_value.c - values in a URL's query, by RFC 3986, section 2.
 *
 * Apart from web.c, so that a build which cannot load libcurl has it too: every byte that is
 * not unreserved becomes % and two digits, whatever its encoding.
 */
#include "facts/web_value.h"

#include <stdio.h>
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

struct web_shown web_shown(const char *url)
{
    const char *scheme = strstr(url, "://");
    const char *host = scheme != NULL ? scheme + 3 : url;
    const char *secret_end = NULL;
    struct web_shown shown;

    /* All up to the last '@' before the path: a password may hold one as well. */
    for (const char *at = host; *at != '\0' && strchr("/?#", *at) == NULL; at++) {
        secret_end = *at == '@' ? at : secret_end;
    }
    (void)snprintf(shown.text, sizeof(shown.text), "%.*s%s%s", (int)(host - url), url,
        secret_end != NULL ? "***" : "", secret_end != NULL ? secret_end : host);
    return shown;
}
