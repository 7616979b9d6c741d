/* mysql.h - asks the MySQL and MariaDB servers among the processes what they track. */
#ifndef STRATA_FACTS_MYSQL_H
#define STRATA_FACTS_MYSQL_H

#include <stdbool.h>

#include "facts/root.h"
#include "facts_types/facts.h"

/* Is the process a server of MySQL or MariaDB, by its program or its name? */
bool mysql_is_server(const struct process_facts *process);

/*
 * Fills the mysql facts of each server among the processes. A server that cannot be asked is a
 * gap and has a state with the reason. Bounded in time: MYSQL_SERVER_MS for one server,
 * MYSQL_TOTAL_MS for all. 0 or -ENOMEM.
 */
int mysql_read(struct facts_root *root, struct facts *facts);

enum { MYSQL_SERVER_MS = 3000, MYSQL_TOTAL_MS = 10000 };

#endif
