/* php.h - rules on PHP: its heap against its limit, what workers keep, how pools are set. */
#ifndef STRATA_FINDINGS_PHP_H
#define STRATA_FINDINGS_PHP_H

#include "findings/finding.h"

/* Rules for the table in rules.c; see struct rule. 0 or -ENOMEM. */

/* A heap whose next chunk, or nearly, is beyond memory_limit. */
int rule_php_near_limit(const struct snapshot *snapshot, struct finding_list *list);

/* Blocks just too large to share a chunk: real counts twice what they weigh. */
int rule_php_chunk_cliff(const struct snapshot *snapshot, struct finding_list *list);

/* Idle workers that keep the chunks of earlier requests. */
int rule_php_idle_cache(const struct snapshot *snapshot, struct finding_list *list);

/* Free blocks scattered over small runs, which only a collection gives back. */
int rule_php_collectable(const struct snapshot *snapshot, struct finding_list *list);

/* More memory taken from malloc by extensions than PHP itself counts. */
int rule_php_native_memory(const struct snapshot *snapshot, struct finding_list *list);

#endif
