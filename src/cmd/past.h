/* past.h - an earlier look at a target, judged again and set beside the one of now. */
#ifndef STRATA_CMD_PAST_H
#define STRATA_CMD_PAST_H

#include <stdbool.h>

#include "cmd/account.h"
#include "findings/since.h"

struct past {
    bool there;
    struct account before;
    struct since since;
};

/*
 * The look at path (a capture, or the last one of a recording) as the past of now. EXIT_FINE,
 * or the code to exit with after a message; then there is nothing to release.
 */
enum exit_code past_read(const char *path, const struct account *now, struct past *past);

/* The same of facts that are there; takes them over. 0 or -ENOMEM, without a message. */
int past_take(const struct facts *facts, const char *source, const struct account *now,
    struct past *past);

/*
 * Compares past->before, which is judged, with now; doubt is why that cannot be done, or NULL.
 * 0, or -ENOMEM: then past->before is released.
 */
int past_compare(
    struct past *past, const char *source, const struct account *now, const char *doubt);

/* Also of one that is not there. */
void past_release(struct past *past);

#endif
