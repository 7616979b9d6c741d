/*
 * mysql_schema.c - Performance Schema: what it counts, since when, and what it takes itself.
 *
 * Its tables are sized at the start and never given back (manual, "The Performance Schema
 * Memory-Allocation Model"): rows for each thread, account, host, user and digest, with
 * texts of max_sql_text_length and max_digest_length in the histories. On MariaDB only its
 * own instruments are on by default, so that it costs memory and tells of nothing else.
 */
#include "findings/mysql_schema.h"

#include <inttypes.h>
#include <stdbool.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "findings/mysql.h"
#include "model/known.h"

enum {
    ON_MIN_PERCENT = 75, /* fewer memory instruments on: it counts itself at most */
    COVERAGE_MIN_PERCENT = 50,
    OWN_MIN_PERCENT = 20,
    OWN_WARN_PERCENT = 40,
    DEFAULT_TEXT_BYTES = 1024,
};

static const uint64_t own_min_bytes = 64 * FINDING_MIB;
static const uint64_t own_warn_bytes = 256 * FINDING_MIB;

enum lack { LACK_NONE, LACK_OFF, LACK_DENIED, LACK_ITSELF, LACK_LATER, LACK_COVERAGE };

static enum lack lack_of(const struct mysql_view *view)
{
    const struct mysql_facts *mysql = view->facts;
    const struct fact *schema = &mysql->values[MYSQL_FACT_PERFORMANCE_SCHEMA];
    const uint64_t all = mysql_value(mysql, MYSQL_FACT_INSTRUMENTS);
    const uint64_t on = mysql_value(mysql, MYSQL_FACT_INSTRUMENTS_ON);

    if (fact_is_known(schema) && schema->value == 0) {
        /* MariaDB counts without it; then it is missed only when that explains little. */
        return view->source == MYSQL_SOURCE_NONE ||
                       (view->in_use_known &&
                           view->coverage_percent < COVERAGE_MIN_PERCENT)
                   ? LACK_OFF
                   : LACK_NONE;
    }
    if (mysql->memory_state == FACT_DENIED) {
        return LACK_DENIED;
    }
    if (mysql->memory_state != FACT_OK) {
        return LACK_NONE;
    }
    if (all > 0 && !at_least_percent(on, all, ON_MIN_PERCENT)) {
        return LACK_ITSELF;
    }
    if (mysql->since == MYSQL_SINCE_LATER) {
        return LACK_LATER;
    }
    return view->in_use_known && view->coverage_percent < COVERAGE_MIN_PERCENT
               ? LACK_COVERAGE
               : LACK_NONE;
}

static const char *summary_of(
    struct finding_list *list, const struct mysql_view *view, enum lack lack)
{
    const struct mysql_facts *mysql = view->facts;
    const uint64_t own = view->schema_bytes;

    switch (lack) {
    case LACK_OFF:
        return view->source == MYSQL_SOURCE_NONE
                   ? "Performance Schema is off: the server cannot say what it uses"
                   : "Performance Schema is off, and the server's own counter explains "
                     "less than half of what malloc has in use";
    case LACK_DENIED:
        return "this user may not read performance_schema: what the server tracks by "
               "instrument is not known";
    case LACK_ITSELF:
        return finding_printf(list,
            "Performance Schema is on for itself only: it takes %s, and of %s %" PRIu64
            " count",
            quantity_bytes(own, false).text,
            quantity_count(
                mysql_value(mysql, MYSQL_FACT_INSTRUMENTS), "memory instrument")
                .text,
            mysql_value(mysql, MYSQL_FACT_INSTRUMENTS_ON));
    case LACK_LATER:
        return finding_printf(list,
            "the memory instruments were switched on while the server ran: %s below zero "
            "(%s in all), and what was taken before is missing",
            quantity_count(mysql_value(mysql, MYSQL_FACT_NEGATIVE_ROWS), "row").text,
            quantity_bytes(mysql_value(mysql, MYSQL_FACT_INSTRUMENTED_NEGATIVE), false)
                .text);
    case LACK_COVERAGE:
        return finding_printf(list,
            "the instruments cover %" PRIu64 " %% of the %s that malloc has in use: the "
            "rest is known to nobody",
            view->coverage_percent, quantity_bytes(view->in_use_bytes, false).text);
    case LACK_NONE:
        break;
    }
    return NULL;
}

static const char *coverage_fix(
    struct finding_list *list, const struct snapshot *snapshot, enum lack lack)
{
    static const struct fix_variable all[] = {
        {"performance_schema", "ON"}, {"performance-schema-instrument", "memory/%=ON"}};

    if (lack == LACK_DENIED) {
        return "-- as an administrator of the server\n"
               "GRANT SELECT ON performance_schema.* TO 'strata'@'localhost';";
    }
    if (lack == LACK_COVERAGE) {
        return "# what no instrument counts: libraries such as SSL, plugins, storage "
               "engines without instruments";
    }
    return fix_server_options(list, snapshot, all, 2);
}

int rule_mysql_coverage(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct process_view *view = mysql_server_of(snapshot);
    struct finding finding = {.severity = SEVERITY_INFO};
    struct mysql_view mysql;
    enum lack lack;

    if (view == NULL) {
        return 0;
    }
    mysql = mysql_view_of(view);
    lack = lack_of(&mysql);
    if (lack == LACK_NONE) {
        return 0;
    }
    finding.pid = view->facts->pid;
    finding.summary = summary_of(list, &mysql, lack);
    finding.reasoning =
        "an instrument counts from the moment it is on, so only a start with it gives "
        "whole numbers; with all of them Performance Schema takes some 70 to 100 MiB "
        "more on a small server, and a few per cent of time";
    finding_add_count_fact(&finding, "performance_schema",
        &mysql.facts->values[MYSQL_FACT_PERFORMANCE_SCHEMA]);
    finding_add_count_fact(
        &finding, "instruments", &mysql.facts->values[MYSQL_FACT_INSTRUMENTS]);
    finding_add_count_fact(
        &finding, "instruments_on", &mysql.facts->values[MYSQL_FACT_INSTRUMENTS_ON]);
    finding_add_count_fact(
        &finding, "negative_rows", &mysql.facts->values[MYSQL_FACT_NEGATIVE_ROWS]);
    finding_add_fact(
        &finding, "negative", &mysql.facts->values[MYSQL_FACT_INSTRUMENTED_NEGATIVE]);
    if (fact_is_known(&mysql.facts->values[MYSQL_FACT_SCHEMA_OWN])) {
        finding_add_bytes(&finding, "own", mysql.schema_bytes);
    }
    if (mysql.in_use_known) {
        finding_add_count(&finding, "coverage_percent", mysql.coverage_percent);
        finding_add_bytes(&finding, "in_use", mysql.in_use_bytes);
    }
    finding.fix = coverage_fix(list, snapshot, lack);
    finding.verify = finding_printf(list,
        "strata explain %s: tracked is known, and how much of in use it covers",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* Of the own memory, what longer texts than the default add at most. */
static uint64_t longest_text(const struct mysql_facts *mysql)
{
    const uint64_t sql = mysql_value(mysql, MYSQL_FACT_SQL_TEXT_BYTES);
    const uint64_t digest = mysql_value(mysql, MYSQL_FACT_DIGEST_BYTES);

    return sql > digest ? sql : digest;
}

int rule_mysql_schema_memory(const struct snapshot *snapshot, struct finding_list *list)
{
    static const struct fix_variable texts[] = {
        {"performance_schema_max_sql_text_length", "1024"},
        {"performance_schema_max_digest_length", "1024"}};
    static const struct fix_variable off[] = {{"performance_schema", "OFF"}};
    const struct process_view *view = mysql_server_of(snapshot);
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct finding finding = {.severity = SEVERITY_INFO};

    if (view == NULL) {
        return 0;
    }
    const struct mysql_facts *mysql = view->facts->mysql;
    const uint64_t own = mysql_view_of(view).schema_bytes;
    const uint64_t text = longest_text(mysql);
    const bool long_texts = text > DEFAULT_TEXT_BYTES;

    if (!finding_reaches(own, own_min_bytes, resident, OWN_MIN_PERCENT)) {
        return 0;
    }
    if (finding_reaches(own, own_warn_bytes, resident, OWN_WARN_PERCENT)) {
        finding.severity = SEVERITY_WARN;
    }
    finding.pid = view->facts->pid;
    finding.summary =
        finding_printf(list, "Performance Schema itself takes %s, %s of resident%s",
            quantity_bytes(own, false).text, quantity_percent(own, resident).text,
            long_texts ? "; texts of statements are kept longer than by default" : "");
    finding.reasoning =
        "its tables are made at the start, for as many threads, accounts and digests as "
        "may come; each kept text takes its full length. With performance_schema=OFF all "
        "of it goes, and with it what the server can say of itself";
    finding_add_bytes(&finding, "own", own);
    finding_add_percent(&finding, "share_of_resident", own, resident);
    finding_add_fact(
        &finding, "max_sql_text_length", &mysql->values[MYSQL_FACT_SQL_TEXT_BYTES]);
    finding_add_fact(
        &finding, "max_digest_length", &mysql->values[MYSQL_FACT_DIGEST_BYTES]);
    if (long_texts) {
        finding_predict(&finding, 0,
            (uint64_t)((double)own * (1.0 - (double)DEFAULT_TEXT_BYTES / (double)text)),
            CONFIDENCE_ROUGH);
        finding.fix = fix_server_options(list, snapshot, texts, 2);
    } else {
        finding_predict(&finding, own - own / 10, own, CONFIDENCE_LIKELY);
        finding.fix = fix_server_options(list, snapshot, off, 1);
    }
    finding.verify = finding_printf(list,
        "after a restart, strata explain %s: Performance Schema itself is less of what "
        "the server counts",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
