/* kept_look.h - what explain saw last, kept for the day after. */
#ifndef STRATA_CMD_KEPT_LOOK_H
#define STRATA_CMD_KEPT_LOOK_H

#include <stdbool.h>

#include "facts_types/facts.h"
#include "findings/finding.h"

/* A finding predicts bytes, so that there will be something to compare. */
bool kept_look_is_worth(const struct finding_list *list);

/*
 * Keeps facts as the last look at this start of the target, with the last one of the start
 * before it; what is older goes. 0, -ENOENT (no folder, or it is switched off), -EFBIG, -EPERM
 * (the folder is not this user's alone), or -errno. Nothing else depends on it.
 */
int kept_look_keep(const struct facts *facts);

/* A few words on what kept_look_keep() returned; NULL: not worth a word. */
const char *kept_look_words(int rc);

/*
 * The last look at the start of the target before the one that now shows. False: there is none,
 * or it cannot be read. What is in the folder is input like any other.
 */
bool kept_look_before(const struct facts *now, struct facts *before);

#endif
