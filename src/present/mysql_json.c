/*
 * mysql_json.c - servers with the process they belong to, their account and their answers.
 *
 * Members of "account" are sums of the model; "facts" has the numbers as the server gave
 * them, under the names of facts.def.
 */
#include "present/mysql_json.h"

#include "model/mysql_layers.h"
#include "present/json_parts.h"

static const char *const source_names[] = {
    [MYSQL_SOURCE_NONE] = "none",
    [MYSQL_SOURCE_SCHEMA] = "performance-schema",
    [MYSQL_SOURCE_COUNTER] = "memory-used",
    [MYSQL_SOURCE_BOTH] = "memory-used-and-performance-schema",
};

static void write_account(struct json_writer *json, const struct mysql_view *mysql)
{
    json_key(json, "account");
    json_object_begin(json);
    json_text(json, "source", source_names[mysql->source]);
    if (mysql->source != MYSQL_SOURCE_NONE) {
        json_count(json, "tracked", mysql->tracked_bytes);
        json_count(json, "outside_malloc", mysql->outside_bytes);
        json_count(json, "inside_malloc", mysql->inside_bytes);
        json_count(json, "headers", mysql->header_bytes);
    }
    if (mysql->in_use_known) {
        json_count(json, "in_use", mysql->in_use_bytes);
        json_signed_count(json, "untracked", mysql->untracked_bytes);
        json_count(json, "coverage_percent", mysql->coverage_percent);
    }
    json_object_end(json);
}

static void write_events(struct json_writer *json, const struct mysql_facts *mysql)
{
    json_key(json, "events");
    json_array_begin(json);
    for (size_t i = 0; i < mysql->event_count; i++) {
        const struct mysql_event *event = &mysql->events[i];
        json_object_begin(json);
        json_text(json, "name", event->name);
        json_signed_count(json, "bytes", event->bytes);
        json_count(json, "high", event->high_bytes);
        json_signed_count(json, "blocks", event->blocks);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_owners(struct json_writer *json, const char *key,
    const struct mysql_owner *owners, size_t count)
{
    json_key(json, key);
    json_array_begin(json);
    for (size_t i = 0; i < count; i++) {
        json_object_begin(json);
        json_text(json, "name", owners[i].name);
        json_signed_count(json, "bytes", owners[i].bytes);
        json_object_end(json);
    }
    json_array_end(json);
}

static void write_server(struct json_writer *json, const struct process_view *view)
{
    const struct mysql_view mysql = mysql_view_of(view);
    const struct mysql_facts *facts = mysql.facts;

    json_object_begin(json);
    json_signed_count(json, "pid", view->facts->pid);
    json_text(json, "state", fact_state_names[facts->state]);
    json_optional_text(json, "why", facts->why);
    json_text(json, "family", mysql_family_names[facts->family]);
    json_optional_text(json, "version", facts->version);
    json_optional_text(json, "address", facts->address);
    json_optional_text(json, "malloc_library", facts->malloc_library);
    json_optional_text(json, "flush_method", facts->flush_method);
    json_optional_text(json, "thread_handling", facts->thread_handling);
    json_text(json, "memory_state", fact_state_names[facts->memory_state]);
    json_optional_text(json, "memory_why", facts->memory_why);
    json_text(json, "since", mysql_since_names[facts->since]);
    write_account(json, &mysql);
    json_fact_table(json, mysql_fact_table, facts->values, MYSQL_FACT_COUNT);
    write_events(json, facts);
    write_owners(json, "threads", facts->threads, facts->thread_count);
    write_owners(json, "accounts", facts->accounts, facts->account_count);
    json_object_end(json);
}

void mysql_json(struct json_writer *json, const struct snapshot *snapshot)
{
    json_key(json, "mysql");
    json_array_begin(json);
    for (size_t i = 0; i < snapshot->member_count; i++) {
        if (snapshot->members[i].facts->mysql_count > 0) {
            write_server(json, &snapshot->members[i]);
        }
    }
    json_array_end(json);
}
