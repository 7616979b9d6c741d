/* mysql.h - rules on MySQL and MariaDB: what the server says, beside what it holds. */
#ifndef STRATA_FINDINGS_MYSQL_H
#define STRATA_FINDINGS_MYSQL_H

#include "findings/finding.h"
#include "model/mysql_layers.h"

/* Rules for the table in rules.c; see struct rule. 0 or -ENOMEM. */

/* A thread made for nearly each connection: the cache is too small. */
int rule_mysql_thread_cache(const struct snapshot *snapshot, struct finding_list *list);

/* Buffers for max_connections, as a formula sums them, beside what was measured. */
int rule_mysql_connection_buffers(
    const struct snapshot *snapshot, struct finding_list *list);

/* The memory is what the server was configured to take, not the allocator's. */
int rule_mysql_configuration(const struct snapshot *snapshot, struct finding_list *list);

/* Pages of the pool given up under memory pressure. */
int rule_mysql_pool_emptied(const struct snapshot *snapshot, struct finding_list *list);

/* The value of a fact of the server, 0 when it is not known. */
uint64_t mysql_value(const struct mysql_facts *mysql, enum mysql_fact id);

/* The member that is a server which answered; NULL when there is none, or several. */
const struct process_view *mysql_server_of(const struct snapshot *snapshot);

#endif
