/*
 * web.c - one transfer by libcurl.
 *
 * The numbers of options and codes are libcurl's binary interface (curl/curl.h), which has
 * not changed since 7.16: options are a base for their kind (0 long, 10000 pointer, 20000
 * function) and a number. The server is not trusted: the answer is bounded by bytes and time,
 * redirects by number, and only http and https are spoken.
 */
#include "facts/web.h"

#include <errno.h>

#include "facts/web_library.h"
#include "facts/web_value.h"

enum {
    OPTION_WRITEDATA = 10001,
    OPTION_URL = 10002,
    OPTION_TIMEOUT = 13,
    OPTION_FOLLOWLOCATION = 52,
    OPTION_MAXREDIRS = 68,
    OPTION_NOSIGNAL = 99,
    OPTION_PROTOCOLS = 181,
    OPTION_REDIR_PROTOCOLS = 182,
    OPTION_WRITEFUNCTION = 20011,
    INFO_RESPONSE_CODE = 0x200002,
    PROTOCOLS_WEB = 1 | 2, /* CURLPROTO_HTTP, CURLPROTO_HTTPS */
    GLOBAL_DEFAULT = 3,
    MOST_REDIRECTS = 3,
    STATUS_FAILED = 400,
};

/* Returning less than it was given ends the transfer. */
static size_t take(char *data, size_t size, size_t count, void *place)
{
    struct buffer *body = place;
    const size_t bytes = size * count;

    if (bytes > WEB_MAX_ANSWER_BYTES - body->length_bytes) {
        return 0;
    }
    buffer_append(body, data, bytes);
    return buffer_error(body) == 0 ? bytes : 0;
}

static int perform(const struct web_library *curl, void *handle, const char *url,
    struct buffer *body, struct error *error)
{
    long status = 0;

    (void)curl->easy_setopt(handle, OPTION_URL, url);
    (void)curl->easy_setopt(handle, OPTION_TIMEOUT, (long)WEB_TIMEOUT_SECONDS);
    (void)curl->easy_setopt(handle, OPTION_NOSIGNAL, 1L);
    (void)curl->easy_setopt(handle, OPTION_FOLLOWLOCATION, 1L);
    (void)curl->easy_setopt(handle, OPTION_MAXREDIRS, (long)MOST_REDIRECTS);
    (void)curl->easy_setopt(handle, OPTION_REDIR_PROTOCOLS, (long)PROTOCOLS_WEB);
    (void)curl->easy_setopt(handle, OPTION_WRITEFUNCTION, take);
    (void)curl->easy_setopt(handle, OPTION_WRITEDATA, body);
    if (curl->easy_setopt(handle, OPTION_PROTOCOLS, (long)PROTOCOLS_WEB) != 0) {
        return error_set(error, -EIO, "cannot bound libcurl to http and https");
    }
    const int code = curl->easy_perform(handle);
    if (buffer_error(body) != 0) {
        return error_set(
            error, -ENOMEM, "cannot get '%s': out of memory", web_shown(url).text);
    }
    if (code != 0) {
        return error_set(error, -EIO, "cannot get '%s': %s", web_shown(url).text,
            curl->easy_strerror(code));
    }
    if (curl->easy_getinfo(handle, INFO_RESPONSE_CODE, &status) != 0 ||
        status >= STATUS_FAILED) {
        return error_set(error, -EPROTO,
            "cannot get '%s': the server answers with status %ld", web_shown(url).text,
            status);
    }
    return 0;
}

int web_get(const char *url, struct buffer *body, struct error *error)
{
    struct web_library curl;
    int rc = web_library_load(&curl, url, error);

    if (rc != 0) {
        return rc;
    }
    void *handle = curl.global_init(GLOBAL_DEFAULT) == 0 ? curl.easy_init() : NULL;
    if (handle == NULL) {
        return error_set(
            error, -EIO, "cannot get '%s': libcurl does not start", web_shown(url).text);
    }
    rc = perform(&curl, handle, url, body, error);
    curl.easy_cleanup(handle);
    return rc;
}
