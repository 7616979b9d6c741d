/*
 * mysql.c - connections, buffers and the pool, by the server's own counters.
 *
 * What a thread cache saves. A thread that ends gives its arena back to a list, the next
 * thread takes it from there (arena_get2(), malloc/arena.c), and glibc keeps the stacks of ended
 * threads; so the number of arenas and stacks follows the connections at one time, with or
 * without a cache. Left are two small effects against each other: threads that stay lie more
 * evenly on arenas, and each keeps a cache of blocks. Measured (labs/mysql-churn, 16 clients,
 * 8 pairs of runs): from -9 to +15 % of what arenas retain, +3 on the average, so the range
 * is that. It was drawn around these; not all pairs that followed lay within.
 */
#include "findings/mysql.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/arena_cap.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/glibc_total.h"
#include "model/known.h"

enum {
    CHURN_MIN_CONNECTIONS = 50,
    CHURN_MIN_PERCENT = 10, /* threads made for each 100 connections */
    CHURN_WARN_PERCENT = 50,
    CACHE_LEAST = 32, /* what is proposed at least */
    CACHE_MOST = 1024,
    SAVED_MOST_PERCENT = 15, /* of what is retained */
    TAKEN_MOST_PERCENT = 10,
    FORMULA_MIN_TIMES = 2, /* the formula beside what was measured */
    CONFIGURED_MIN_PERCENT = 60,
    CONFIGURED_FREE_PERCENT = 15,
    EMPTIED_MIN_PERCENT = 25,
};

static const uint64_t configured_min_bytes = 256 * FINDING_MIB;
static const uint64_t emptied_min_bytes = 64 * FINDING_MIB;
static const uint64_t churn_warn_bytes = 64 * FINDING_MIB;

uint64_t mysql_value(const struct mysql_facts *mysql, enum mysql_fact id)
{
    const struct fact *fact = &mysql->values[id];

    return fact_is_known(fact) ? number_smaller(fact->value, AMOUNTS_MAX_BYTES) : 0;
}

const struct process_view *mysql_server_of(const struct snapshot *snapshot)
{
    const struct process_view *found = NULL;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_view *view = &snapshot->members[i];
        if (view->facts->mysql_count == 0 || view->facts->mysql->state != FACT_OK) {
            continue;
        }
        if (found != NULL) {
            return NULL;
        }
        found = view;
    }
    return found;
}

/* The facts of the server, or NULL. */
static const struct mysql_facts *facts_of(const struct process_view *view)
{
    return view != NULL ? view->facts->mysql : NULL;
}

/* The next power of two of the most connections at one time, from 32 on. */
static uint64_t wanted_cache(const struct mysql_facts *mysql)
{
    const uint64_t most = mysql_value(mysql, MYSQL_FACT_MAX_USED_CONNECTIONS);
    uint64_t size = CACHE_LEAST;

    while (size < most && size < CACHE_MOST) {
        size *= 2;
    }
    return size;
}

/* Are threads made over and over, and would a larger cache end that? */
static bool cache_is_short(const struct mysql_facts *mysql)
{
    const uint64_t connections = mysql_value(mysql, MYSQL_FACT_CONNECTIONS);
    const uint64_t created = mysql_value(mysql, MYSQL_FACT_THREADS_CREATED);
    const uint64_t most = mysql_value(mysql, MYSQL_FACT_MAX_USED_CONNECTIONS);
    const struct fact *cache = &mysql->values[MYSQL_FACT_THREAD_CACHE_SIZE];

    return fact_is_known(cache) && cache->value < wanted_cache(mysql) &&
           connections >= CHURN_MIN_CONNECTIONS && created > 2 * most &&
           at_least_percent(created, connections, CHURN_MIN_PERCENT) &&
           (mysql->thread_handling == NULL ||
               strcmp(mysql->thread_handling, "one-thread-per-connection") == 0);
}

static const char *cache_lines(struct finding_list *list, const struct snapshot *snapshot,
    const struct mysql_facts *mysql)
{
    const char *size = finding_printf(list, "%" PRIu64, wanted_cache(mysql));
    const struct fix_variable option = {"thread_cache_size", size != NULL ? size : ""};

    return fix_server_variable(list, snapshot, &option);
}

static uint64_t percent_of(uint64_t bytes, unsigned percent)
{
    return number_smaller(bytes, AMOUNTS_MAX_BYTES) / 100 * percent;
}

int rule_mysql_thread_cache(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct process_view *view = mysql_server_of(snapshot);
    const struct mysql_facts *mysql = facts_of(view);
    struct finding finding = {.severity = SEVERITY_INFO};
    struct arena_cap_estimate estimate;

    if (mysql == NULL || !cache_is_short(mysql)) {
        return 0;
    }
    estimate = arena_cap_estimate_of(&view->facts->glibc, 1);
    const uint64_t created = mysql_value(mysql, MYSQL_FACT_THREADS_CREATED);
    const uint64_t connections = mysql_value(mysql, MYSQL_FACT_CONNECTIONS);

    finding.pid = view->facts->pid;
    if (at_least_percent(created, connections, CHURN_WARN_PERCENT) &&
        estimate.retained_bytes >= churn_warn_bytes) {
        finding.severity = SEVERITY_WARN;
    }
    finding.summary = finding_printf(list,
        "%s %s made for %s, of which at most %" PRIu64
        " were open at one time: each starts cold, and leaves holes in malloc's arenas",
        quantity_count(created, "thread").text, quantity_form(created, "was", "were"),
        quantity_count(connections, "connection").text,
        mysql_value(mysql, MYSQL_FACT_MAX_USED_CONNECTIONS));
    finding.reasoning =
        "with a cache as large as the connections at one time the same threads serve "
        "them all, and none is made any more. On memory the effect is small, and may go "
        "either way: arenas and stacks of ended threads are used again, with or without "
        "a cache; what saves memory is the arena cap (glibc-arenas)";
    finding_add_count(&finding, "threads_created", created);
    finding_add_count(&finding, "connections", connections);
    finding_add_percent(&finding, "threads_per_connection", created, connections);
    finding_add_count_fact(&finding, "max_used_connections",
        &mysql->values[MYSQL_FACT_MAX_USED_CONNECTIONS]);
    finding_add_count_fact(
        &finding, "thread_cache_size", &mysql->values[MYSQL_FACT_THREAD_CACHE_SIZE]);
    finding_add_bytes(&finding, "retained", estimate.retained_bytes);
    if (estimate.retained_bytes > 0) {
        finding_predict(&finding, 0,
            percent_of(estimate.retained_bytes, SAVED_MOST_PERCENT), CONFIDENCE_ROUGH);
        finding.predicted_cost_bytes =
            percent_of(estimate.retained_bytes, TAKEN_MOST_PERCENT);
    }
    finding.fix = cache_lines(list, snapshot, mysql);
    finding.verify =
        "SHOW GLOBAL STATUS LIKE 'Threads_created': it stands still once the "
        "server is warm, while Connections grows";
    return finding_push(list, &finding);
}

/* What the formula of tuning scripts gives for one connection. */
static uint64_t formula_bytes(const struct mysql_facts *mysql)
{
    static const enum mysql_fact buffers[] = {MYSQL_FACT_SORT_BUFFER_BYTES,
        MYSQL_FACT_JOIN_BUFFER_BYTES, MYSQL_FACT_READ_BUFFER_BYTES,
        MYSQL_FACT_READ_RANDOM_BUFFER_BYTES, MYSQL_FACT_THREAD_STACK_BYTES,
        MYSQL_FACT_BINLOG_CACHE_BYTES};
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof(buffers) / sizeof(buffers[0]); i++) {
        sum = number_add(sum, mysql_value(mysql, buffers[i]));
    }
    return sum;
}

static uint64_t times(uint64_t count, uint64_t bytes)
{
    return bytes > 0 && count > AMOUNTS_MAX_BYTES / bytes ? AMOUNTS_MAX_BYTES
                                                          : count * bytes;
}

/* The caches that all connections share. */
static uint64_t shared_bytes(const struct mysql_facts *mysql)
{
    static const enum mysql_fact caches[] = {MYSQL_FACT_POOL_BYTES,
        MYSQL_FACT_KEY_BUFFER_BYTES, MYSQL_FACT_ARIA_CACHE_BYTES,
        MYSQL_FACT_LOG_BUFFER_BYTES, MYSQL_FACT_QUERY_CACHE_BYTES};
    uint64_t sum = 0;

    for (size_t i = 0; i < sizeof(caches) / sizeof(caches[0]); i++) {
        sum = number_add(sum, mysql_value(mysql, caches[i]));
    }
    return sum;
}

/* What the machine or the container has, whichever is less. */
static uint64_t memory_there_is(const struct snapshot *snapshot)
{
    const struct fact *host = &snapshot->facts->host.values[HOST_FACT_MEM_TOTAL];
    const struct fact *limit = &snapshot->container.limit;
    uint64_t bytes = fact_is_known(host) ? host->value : 0;

    if (fact_is_known(limit) && (bytes == 0 || limit->value < bytes)) {
        bytes = limit->value;
    }
    return bytes;
}

int rule_mysql_connection_buffers(
    const struct snapshot *snapshot, struct finding_list *list)
{
    const struct process_view *view = mysql_server_of(snapshot);
    const struct mysql_facts *mysql = facts_of(view);
    struct finding finding = {.severity = SEVERITY_INFO};

    if (mysql == NULL || formula_bytes(mysql) == 0) {
        return 0;
    }
    const uint64_t each = formula_bytes(mysql);
    const uint64_t allowed = mysql_value(mysql, MYSQL_FACT_MAX_CONNECTIONS);
    const uint64_t seen = mysql_value(mysql, MYSQL_FACT_MAX_USED_CONNECTIONS);
    const uint64_t worst = number_add(shared_bytes(mysql), times(allowed, each));
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t there = memory_there_is(snapshot);
    const bool above = resident > worst;

    if (resident == 0 || (!above && (there == 0 || worst <= there ||
                                        worst / FORMULA_MIN_TIMES < resident))) {
        return 0;
    }
    finding.pid = view->facts->pid;
    finding.summary =
        above
            ? finding_printf(list,
                  "%s are resident, more than the %s that buffers for %s and all caches "
                  "could take by formula: the formula is no bound, since it knows "
                  "nothing of malloc",
                  quantity_bytes(resident, false).text, quantity_bytes(worst, false).text,
                  quantity_count(allowed, "connection").text)
            : finding_printf(list,
                  "buffers for %s would take %s by formula, more than the %s there are; "
                  "at most %s at one time, and %s are resident",
                  quantity_count(allowed, "connection").text,
                  quantity_bytes(worst, false).text, quantity_bytes(there, false).text,
                  quantity_count(seen, "connection").text,
                  quantity_bytes(resident, false).text);
    finding.reasoning =
        "sort, join and read buffers are taken as needed, several or none by a "
        "statement, and given back behind it: their sum times max_connections is neither "
        "what is used nor the most that can be. Size by what was measured at the busiest "
        "moment";
    finding_add_bytes(&finding, "formula", worst);
    finding_add_bytes(&finding, "formula_each_connection", each);
    finding_add_count(&finding, "max_connections", allowed);
    finding_add_count(&finding, "max_used_connections", seen);
    finding_add_bytes(
        &finding, "formula_for_used", number_add(shared_bytes(mysql), times(seen, each)));
    finding_add_fact(
        &finding, "peak_resident", &view->facts->values[PROCESS_FACT_VM_HWM]);
    finding_add_bytes(&finding, "resident", resident);
    finding_add_bytes(&finding, "memory", there);
    finding.fix = above ? "# nothing in the buffers to change: see the findings on malloc"
                        : "# nothing to change for memory's sake; max_connections may be "
                          "nearer to what is used";
    finding.verify = finding_printf(list,
        "strata explain %s at the busiest hour: resident, and max_used_connections",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

int rule_mysql_configuration(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct process_view *view = mysql_server_of(snapshot);
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    const uint64_t unused = target_bytes(snapshot, LAYER_FREE_RESIDENT);
    const struct fact *firm = &snapshot->container.non_reclaimable;
    const struct fact *limit = &snapshot->container.limit;
    struct finding finding = {.severity = SEVERITY_INFO};
    struct mysql_view mysql;
    uint64_t filled;

    if (view == NULL || resident < configured_min_bytes ||
        at_least_percent(unused, resident, CONFIGURED_FREE_PERCENT)) {
        return 0;
    }
    mysql = mysql_view_of(view);
    const uint64_t pages = mysql_value(mysql.facts, MYSQL_FACT_POOL_PAGES_TOTAL);
    const uint64_t blank = mysql_value(mysql.facts, MYSQL_FACT_POOL_PAGES_FREE);
    const uint64_t pool = mysql_value(mysql.facts, MYSQL_FACT_POOL_BYTES);

    filled = pages == 0
                 ? 0
                 : (uint64_t)((double)pool * (double)number_subtract(pages, blank) /
                              (double)pages);
    /* What it counts and has touched: the pool as far as it is filled, and malloc's blocks. */
    const uint64_t own = number_add(filled, mysql.inside_bytes);

    if (mysql.source == MYSQL_SOURCE_NONE || !mysql.in_use_known ||
        !at_least_percent(own, resident, CONFIGURED_MIN_PERCENT)) {
        return 0;
    }
    if (fact_is_known(limit) && fact_is_known(firm) &&
        at_least_percent(firm->value, limit->value, 90)) {
        finding.severity = SEVERITY_WARN;
    }
    finding.pid = view->facts->pid;
    finding.summary = finding_printf(list,
        "%s of the %s resident are what the server counts itself, %s of it in the buffer "
        "pool; malloc keeps only %s free: the size is configured, no allocator makes it "
        "smaller",
        quantity_bytes(own, false).text, quantity_bytes(resident, false).text,
        quantity_bytes(filled, false).text, quantity_bytes(unused, false).text);
    finding.reasoning =
        "tracked counts the pool at its full size; here it counts as far as its pages "
        "have content, and caches beside malloc do not count";
    finding_add_bytes(&finding, "tracked", mysql.tracked_bytes);
    finding_add_bytes(&finding, "tracked_and_touched", own);
    finding_add_bytes(&finding, "buffer_pool", pool);
    finding_add_bytes(&finding, "buffer_pool_filled", filled);
    finding_add_bytes(&finding, "free_resident", unused);
    finding_add_bytes(&finding, "resident", resident);
    finding.fix = finding_printf(list,
        "# only when memory is short: less cache means more reads from disk\n"
        "# SET GLOBAL innodb_buffer_pool_size = %" PRIu64 "; -- and in %s",
        pool / 2, fix_option_place(snapshot));
    finding.verify =
        finding_printf(list, "strata explain %s: tracked and resident are smaller",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}

static const char *emptied_fix(struct finding_list *list, const struct snapshot *snapshot)
{
    static const struct fix_variable keep = {
        "loose-innodb_buffer_pool_size_auto_min", "0"};
    const char *option = fix_server_options(list, snapshot, &keep, 1);

    return option == NULL
               ? NULL
               : finding_printf(list,
                     "# MariaDB 10.11.12, 11.4.6, 11.8.2 or later, and no "
                     "memory.high for the cgroup (MemoryHigh of a unit); until then\n"
                     "%s",
                     option);
}

int rule_mysql_pool_emptied(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct process_view *view = mysql_server_of(snapshot);
    const struct mysql_facts *mysql = facts_of(view);
    struct finding finding = {.severity = SEVERITY_WARN};

    if (mysql == NULL || mysql->family != MYSQL_MARIADB) {
        return 0;
    }
    const uint64_t lazy =
        sum_over_members(snapshot, PROCESS_FACT_LAZY_FREE, MAPPING_FACT_LAZY_FREE);
    const uint64_t pages = mysql_value(mysql, MYSQL_FACT_POOL_PAGES_TOTAL);
    const uint64_t blank = mysql_value(mysql, MYSQL_FACT_POOL_PAGES_FREE);

    if (lazy < emptied_min_bytes ||
        !at_least_percent(blank, pages, EMPTIED_MIN_PERCENT)) {
        return 0;
    }
    finding.pid = view->facts->pid;
    finding.summary = finding_printf(list,
        "%s of the buffer pool is without content, and %s was given up with MADV_FREE: "
        "the server empties its pool when it sees memory pressure",
        quantity_percent(blank, pages).text, quantity_bytes(lazy, false).text);
    finding.reasoning =
        "MariaDB watches /proc/pressure/memory and drops clean pages of the pool; the "
        "pages stay resident until the kernel takes them, so the limit seems as near as "
        "before while the cache is gone. From 10.11.12 on this is off by default; "
        "MemoryHigh of a unit, or a limit too near, brings it about";
    finding_add_bytes(&finding, "lazy_free", lazy);
    finding_add_count(&finding, "pool_pages", pages);
    finding_add_count(&finding, "pool_pages_free", blank);
    finding_add_text(
        &finding, "version", mysql->version != NULL ? mysql->version : "unknown");
    finding_predict(&finding, lazy, lazy, CONFIDENCE_MEASURED);
    finding.fix = emptied_fix(list, snapshot);
    finding.verify =
        "SHOW GLOBAL STATUS LIKE 'Innodb_buffer_pool_pages_free': it no longer "
        "jumps up; no 'Memory pressure event' in the error log";
    return finding_push(list, &finding);
}
