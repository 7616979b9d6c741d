/* web.h - one GET over HTTP or HTTPS, by libcurl when it is there. */
#ifndef STRATA_FACTS_WEB_H
#define STRATA_FACTS_WEB_H

#include "base/buffer.h"
#include "base/error.h"

enum { WEB_MAX_ANSWER_BYTES = 64 << 20, WEB_TIMEOUT_SECONDS = 30 };

/*
 * Appends the body of the answer to url (http: or https:, nothing else, three redirects at most)
 * to body. Proxies and certificates are those of libcurl's defaults. 0, or with error set
 * -ENOENT (no libcurl), -EFBIG (more than WEB_MAX_ANSWER_BYTES), -EPROTO (a status of 400
 * or more; its body is in body), -EIO (libcurl's own words), -ENOMEM.
 */
int web_get(const char *url, struct buffer *body, struct error *error);

#endif
