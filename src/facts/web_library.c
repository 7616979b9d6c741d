/*
 * web_library.c - libcurl by dlopen(3), so that strata runs where there is none.
 * Debian has it twice, for two TLS libraries; either will do.
 */
#include "facts/web_library.h"

#include <errno.h>
#include <stddef.h>

#include "base/library.h"
#include "facts/web_value.h"

int web_library_load(struct web_library *curl, const char *url, struct error *error)
{
    static const char *const names[] = {"libcurl.so.4", "libcurl-gnutls.so.4", NULL};
    const struct library_function functions[] = {
        {"curl_global_init", &curl->global_init},
        {"curl_easy_init", &curl->easy_init},
        {"curl_easy_setopt", &curl->easy_setopt},
        {"curl_easy_perform", &curl->easy_perform},
        {"curl_easy_getinfo", &curl->easy_getinfo},
        {"curl_easy_strerror", &curl->easy_strerror},
        {"curl_easy_cleanup", &curl->easy_cleanup},
    };
    const int rc =
        library_load(names, functions, sizeof(functions) / sizeof(functions[0]));

    if (rc == -ENOENT) {
        return error_set(error, -ENOENT,
            "cannot get '%s': libcurl.so.4 is not installed: package libcurl4 (Debian, "
            "Ubuntu) or libcurl",
            web_shown(url).text);
    }
    if (rc != 0) {
        return error_set(error, -ENOENT, "cannot get '%s': libcurl lacks a function",
            web_shown(url).text);
    }
    return 0;
}
