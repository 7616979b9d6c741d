/*
 * mysql_layers.c - a server's own counters, added up without counting a byte twice.
 *
 * MySQL: the sum over the memory instruments of Performance Schema, as
 * sys.memory_global_total; the buffer pool is one of them, at its full size.
 *
 * MariaDB has two accounts which overlap. Memory_used counts what goes through
 * my_malloc() and what is mapped at once: buffer pool, key buffer, Aria's page cache, two
 * log buffers, query cache, connections (mysys/my_malloc.c, update_malloc_size()). Performance
 * Schema counts those blocks of the server a second time, and InnoDB's and its own, which
 * Memory_used leaves out; it does not know mysys and Aria. Measured on 10.11: switching
 * P_S on adds 0.2 MB to Memory_used and 98 MB to its own account; each cache adds its size
 * to Memory_used, the log buffer twice. So tracked is Memory_used + P_S's own + InnoDB without
 * the pool.
 *
 * All of these count bytes as they were asked for. malloc adds 8 bytes of header and
 * rounds to 16 (glibc, malloc/malloc.c): 16 a block on the average.
 */
#include "model/mysql_layers.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "model/known.h"

enum { HEADER_BYTES = 16, ON_MIN_PERCENT = 75, LOG_BUFFERS_OF_MARIADB = 2 };

static uint64_t value_of(const struct mysql_facts *mysql, enum mysql_fact id)
{
    const struct fact *fact = &mysql->values[id];

    return fact_is_known(fact) ? number_smaller(fact->value, AMOUNTS_MAX_BYTES) : 0;
}

static uint64_t product_of(
    const struct mysql_facts *mysql, uint64_t count, enum mysql_fact unit)
{
    const uint64_t bytes = value_of(mysql, unit);

    return bytes > 0 && count > AMOUNTS_MAX_BYTES / bytes ? AMOUNTS_MAX_BYTES
                                                          : count * bytes;
}

static uint64_t blocks_of(const struct mysql_facts *mysql, enum mysql_fact used,
    enum mysql_fact unused, enum mysql_fact unit)
{
    return product_of(
        mysql, number_add(value_of(mysql, used), value_of(mysql, unused)), unit);
}

/* More than Performance Schema's own instruments, which are always on. */
static bool schema_counts(const struct mysql_facts *mysql)
{
    const uint64_t all = value_of(mysql, MYSQL_FACT_INSTRUMENTS);
    const uint64_t on = value_of(mysql, MYSQL_FACT_INSTRUMENTS_ON);

    return mysql->memory_state == FACT_OK &&
           fact_is_known(&mysql->values[MYSQL_FACT_INSTRUMENTED]) &&
           on * 100 >= all * ON_MIN_PERCENT;
}

static enum mysql_source source_of(const struct mysql_facts *mysql)
{
    const bool counter = fact_is_known(&mysql->values[MYSQL_FACT_MEMORY_USED]);

    if (mysql->state != FACT_OK) {
        return MYSQL_SOURCE_NONE;
    }
    if (counter) {
        return mysql->memory_state == FACT_OK ? MYSQL_SOURCE_BOTH : MYSQL_SOURCE_COUNTER;
    }
    /* A few instruments are still a number, with its coverage beside it. */
    return mysql->memory_state == FACT_OK &&
                   fact_is_known(&mysql->values[MYSQL_FACT_INSTRUMENTED])
               ? MYSQL_SOURCE_SCHEMA
               : MYSQL_SOURCE_NONE;
}

static bool starts_with(const char *text, const char *start)
{
    return strncmp(text, start, strlen(start)) == 0;
}

static enum part_kind kind_of(const char *event)
{
    static const struct {
        const char *start;
        enum part_kind kind;
    } kinds[] = {
        {"memory/innodb/buf_buf_pool", PART_MYSQL_POOL},
        {"memory/innodb/log_buffer", PART_MYSQL_LOG_BUFFER},
        {"memory/innodb/", PART_MYSQL_INNODB},
        {"memory/performance_schema/", PART_MYSQL_SCHEMA},
        {"memory/mysys/KEY_CACHE", PART_MYSQL_KEY_BUFFER},
    };

    for (size_t i = 0; i < sizeof(kinds) / sizeof(kinds[0]); i++) {
        if (starts_with(event, kinds[i].start)) {
            return kinds[i].kind;
        }
    }
    return PART_MYSQL_OTHER;
}

/*
 * The instruments by part. A row below zero takes off its own part; what that does not hold
 * is taken from the rest first.
 */
static void add_events(const struct mysql_facts *mysql, struct amounts *tracked)
{
    static const enum part_kind givers[] = {
        PART_MYSQL_OTHER, PART_MYSQL_INNODB, PART_MYSQL_SCHEMA, PART_MYSQL_POOL};
    uint64_t negative = value_of(mysql, MYSQL_FACT_INSTRUMENTED_NEGATIVE);

    for (size_t i = 0; i < mysql->event_count; i++) {
        const struct mysql_event *event = &mysql->events[i];
        if (event->bytes > 0) {
            amounts_add(tracked, kind_of(event->name), (uint64_t)event->bytes);
        }
    }
    for (size_t i = 0; i < mysql->event_count; i++) {
        const struct mysql_event *event = &mysql->events[i];
        if (event->bytes < 0) {
            negative -= amounts_take(tracked, kind_of(event->name),
                number_smaller(negative, -(uint64_t)event->bytes));
        }
    }
    for (size_t i = 0; i < sizeof(givers) / sizeof(givers[0]); i++) {
        negative -= amounts_take(tracked, givers[i], negative);
    }
}

/* Where the log is a mapped file (11.x), its size takes the place of the buffers' size. */
static uint64_t log_buffers_of(const struct mysql_facts *mysql)
{
    return value_of(mysql, MYSQL_FACT_LOG_MAPPED) != 0
               ? 0
               : product_of(mysql, LOG_BUFFERS_OF_MARIADB, MYSQL_FACT_LOG_BUFFER_BYTES);
}

/* Memory_used by what the configuration says of the large parts; the rest is one part. */
static void add_counter(const struct mysql_facts *mysql, struct amounts *tracked)
{
    const struct {
        enum part_kind kind;
        uint64_t bytes;
    } parts[] = {
        {PART_MYSQL_POOL, value_of(mysql, MYSQL_FACT_POOL_BYTES)},
        {PART_MYSQL_KEY_BUFFER, value_of(mysql, MYSQL_FACT_KEY_BUFFER_BYTES)},
        {PART_MYSQL_ARIA_CACHE, value_of(mysql, MYSQL_FACT_ARIA_CACHE_BYTES)},
        {PART_MYSQL_LOG_BUFFER, log_buffers_of(mysql)},
        {PART_MYSQL_QUERY_CACHE, value_of(mysql, MYSQL_FACT_QUERY_CACHE_BYTES)},
    };
    uint64_t left = value_of(mysql, MYSQL_FACT_MEMORY_USED);

    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
        const uint64_t bytes = number_smaller(left, parts[i].bytes);
        amounts_add(tracked, parts[i].kind, bytes);
        left -= bytes;
    }
    amounts_add(tracked, PART_MYSQL_OTHER, left);
}

static void add_tracked(
    const struct mysql_facts *mysql, enum mysql_source source, struct amounts *tracked)
{
    struct amounts events = {.bytes = {0}};

    if (source == MYSQL_SOURCE_SCHEMA) {
        add_events(mysql, tracked);
        return;
    }
    if (source == MYSQL_SOURCE_NONE) {
        return;
    }
    add_counter(mysql, tracked);
    if (source == MYSQL_SOURCE_BOTH) {
        add_events(mysql, &events);
        amounts_add(tracked, PART_MYSQL_SCHEMA, events.bytes[PART_MYSQL_SCHEMA]);
        amounts_add(tracked, PART_MYSQL_INNODB, events.bytes[PART_MYSQL_INNODB]);
    }
}

/* Is there a block of malloc of about that size, with a mapping of its own? */
static bool is_malloc_block(const struct process_facts *process, uint64_t bytes)
{
    const uint64_t slack = bytes / 64 + (UINT64_C(1) << 20);

    for (size_t i = 0; i < process->span_count; i++) {
        const struct span *span = &process->spans[i];
        const uint64_t size = number_subtract(span->end, span->start);
        if (span->owner == SPAN_GLIBC_MMAPPED && size >= bytes &&
            number_subtract(size, bytes) <= slack) {
            return true;
        }
    }
    return false;
}

/* Of the tracked bytes: what the server maps itself, and malloc never sees. */
static uint64_t outside_of(const struct process_facts *process,
    const struct mysql_facts *mysql, const struct amounts *tracked)
{
    const uint64_t log = tracked->bytes[PART_MYSQL_LOG_BUFFER];
    /* MySQL takes all but the pool from malloc (mysys/mf_keycache.cc, log0buf.cc). */
    const bool mariadb = mysql->family == MYSQL_MARIADB;
    const struct {
        enum part_kind kind;
        uint64_t bytes; /* in one piece */
    } blocks[] = {
        {PART_MYSQL_POOL, tracked->bytes[PART_MYSQL_POOL]},
        {PART_MYSQL_KEY_BUFFER,
            blocks_of(mysql, MYSQL_FACT_KEY_BLOCKS_USED, MYSQL_FACT_KEY_BLOCKS_UNUSED,
                MYSQL_FACT_KEY_BLOCK_BYTES)},
        {PART_MYSQL_ARIA_CACHE,
            blocks_of(mysql, MYSQL_FACT_ARIA_BLOCKS_USED, MYSQL_FACT_ARIA_BLOCKS_UNUSED,
                MYSQL_FACT_ARIA_BLOCK_BYTES)},
    };
    uint64_t outside = 0;

    for (size_t i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++) {
        const uint64_t bytes =
            number_smaller(blocks[i].bytes, tracked->bytes[blocks[i].kind]);
        if (bytes > 0 && (mariadb || blocks[i].kind == PART_MYSQL_POOL) &&
            !is_malloc_block(process, bytes)) {
            outside = number_add(outside, bytes);
        }
    }
    if (mariadb && log > 0 && !is_malloc_block(process, log / LOG_BUFFERS_OF_MARIADB)) {
        outside = number_add(outside, log);
    }
    return outside;
}

struct mysql_view mysql_view_of(const struct process_view *view)
{
    const struct process_facts *process = view->facts;
    const struct mysql_facts *mysql = process->mysql_count > 0 ? process->mysql : NULL;
    const struct layer *in_use = &view->layers[LAYER_IN_USE];
    struct mysql_view out = {.facts = mysql};
    struct amounts tracked = {.bytes = {0}};

    if (mysql == NULL) {
        return out;
    }
    out.source = source_of(mysql);
    add_tracked(mysql, out.source, &tracked);
    out.tracked_bytes = amounts_total(&tracked);
    out.schema_bytes = mysql->event_count > 0 && out.source != MYSQL_SOURCE_NONE &&
                               out.source != MYSQL_SOURCE_COUNTER
                           ? tracked.bytes[PART_MYSQL_SCHEMA]
                           : value_of(mysql, MYSQL_FACT_SCHEMA_OWN);
    out.outside_bytes =
        number_smaller(outside_of(process, mysql, &tracked), out.tracked_bytes);
    out.inside_bytes = number_subtract(out.tracked_bytes, out.outside_bytes);
    if (out.source == MYSQL_SOURCE_SCHEMA || out.source == MYSQL_SOURCE_BOTH) {
        out.header_bytes = number_smaller(value_of(mysql, MYSQL_FACT_BLOCKS),
                               AMOUNTS_MAX_BYTES / HEADER_BYTES) *
                           HEADER_BYTES;
    }
    out.in_use_known = state_is_known(in_use->state) && out.source != MYSQL_SOURCE_NONE;
    if (out.in_use_known) {
        const uint64_t explained = number_add(out.inside_bytes, out.header_bytes);
        out.in_use_bytes = (uint64_t)in_use->bytes;
        out.untracked_bytes = in_use->bytes - (int64_t)explained;
        out.coverage_percent =
            out.in_use_bytes == 0 ? 0 : explained * 100 / out.in_use_bytes;
    }
    return out;
}

static const char *family_title(const struct mysql_facts *mysql)
{
    return mysql->family == MYSQL_MARIADB ? "MariaDB"
           : mysql->family == MYSQL_MYSQL ? "MySQL"
                                          : "the database server";
}

static const char *source_text(
    struct region *region, const struct mysql_facts *mysql, enum mysql_source source)
{
    const uint64_t on = value_of(mysql, MYSQL_FACT_INSTRUMENTS_ON);
    const uint64_t all = value_of(mysql, MYSQL_FACT_INSTRUMENTS);
    const char *version = mysql->version != NULL ? mysql->version : "of unknown version";

    switch (source) {
    case MYSQL_SOURCE_SCHEMA:
        return region_printf(region, "%s %s: Performance Schema, %" PRIu64 " of %s on%s",
            family_title(mysql), version, on,
            quantity_count(all, "memory instrument").text,
            mysql->since == MYSQL_SINCE_LATER ? ", not since the start" : "");
    case MYSQL_SOURCE_BOTH:
        return region_printf(region,
            schema_counts(mysql)
                ? "%s %s: Memory_used, and Performance Schema for itself and for InnoDB"
                : "%s %s: Memory_used, and Performance Schema for itself",
            family_title(mysql), version);
    case MYSQL_SOURCE_COUNTER:
        return region_printf(region, "%s %s: Memory_used", family_title(mysql), version);
    case MYSQL_SOURCE_NONE:
        break;
    }
    return NULL;
}

static int set_missing(struct region *region, struct process_view *view)
{
    const struct mysql_facts *mysql = view->facts->mysql;
    const bool asked = mysql->state == FACT_OK;
    const enum fact_state state =
        (enum fact_state)(asked ? mysql->memory_state : mysql->state);
    const char *why = asked ? mysql->memory_why : mysql->why;

    return layer_missing(&view->layers[LAYER_TRACKED],
        state_is_known(state) ? FACT_ABSENT : state,
        region_printf(region, "%s: %s", family_title(mysql),
            why != NULL ? why : "it says nothing about memory"));
}

int mysql_layers_build(
    struct region *region, struct process_view *view, struct amounts *tracked)
{
    const struct mysql_view mysql = mysql_view_of(view);
    struct layer *layer = &view->layers[LAYER_TRACKED];
    struct amounts amounts = {.bytes = {0}};
    int error;

    if (mysql.facts == NULL) {
        return 0;
    }
    if (mysql.source == MYSQL_SOURCE_NONE) {
        return set_missing(region, view);
    }
    add_tracked(mysql.facts, mysql.source, &amounts);
    amounts_add_all(tracked, &amounts);
    error = layer_from_amounts(
        region, &amounts, FACT_OK, source_text(region, mysql.facts, mysql.source), layer);
    if (mysql.source != MYSQL_SOURCE_COUNTER) {
        const uint64_t negative = value_of(mysql.facts, MYSQL_FACT_INSTRUMENTED_NEGATIVE);
        layer->state = negative > 0 ? FACT_STALE : FACT_OK;
        layer->plus_minus_bytes = negative;
    }
    return error;
}
