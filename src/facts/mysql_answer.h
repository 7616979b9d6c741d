/* mysql_answer.h - the stream of answers of a database server into facts. */
#ifndef STRATA_FACTS_MYSQL_ANSWER_H
#define STRATA_FACTS_MYSQL_ANSWER_H

#include <stddef.h>

#include "base/region.h"
#include "facts_types/mysql_facts.h"

/*
 * Reads the lines of mysql_client_run() (see there) into mysql, which starts zeroed. The
 * stream may be cut short or hold anything: what is not as it should be is malformed and
 * takes nothing else with it. finished says that the writer ended by itself; what has no line
 * is absent then, and else was not answered in time. 0 or -ENOMEM.
 */
int mysql_answer_read(const char *stream, size_t bytes, bool finished,
    struct region *region, struct mysql_facts *mysql);

#endif
