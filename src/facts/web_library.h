/* web_library.h - the functions of libcurl that web.c calls. */
#ifndef STRATA_FACTS_WEB_LIBRARY_H
#define STRATA_FACTS_WEB_LIBRARY_H

#include "base/error.h"

struct web_library {
    int (*global_init)(long flags);
    void *(*easy_init)(void);
    int (*easy_setopt)(void *handle, int option, ...);
    int (*easy_perform)(void *handle);
    int (*easy_getinfo)(void *handle, int info, ...);
    const char *(*easy_strerror)(int code);
    void (*easy_cleanup)(void *handle);
};

/* Loads libcurl. 0, or -ENOENT with error set: it is not there, or lacks a function. */
int web_library_load(struct web_library *curl, const char *url, struct error *error);

#endif
