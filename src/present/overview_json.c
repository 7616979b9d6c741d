/*
 * overview_json.c - one object for each row of the overview; docs/json.md.
 *
 * Rows carry the layers as plain numbers, without parts and sources: whoever wants those
 * explains the row. What was not read stands under missing, as everywhere.
 */
#include "present/overview_json.h"

#include "present/header_text.h"
#include "present/json_parts.h"
#include "present/overview_table.h"

enum { OVERVIEW_SCHEMA = 1, INDENT = 2 };

static void write_findings(struct json_writer *json, const struct finding_list *list)
{
    json_key(json, "findings");
    json_array_begin(json);
    for (size_t i = 0; i < list->count; i++) {
        json_object_begin(json);
        json_text(json, "rule", list->items[i].rule->id);
        json_text(json, "severity", severity_names[list->items[i].severity]);
        json_text(json, "summary", list->items[i].summary);
        json_object_end(json);
    }
    json_array_end(json);
}

static const char *const bill_names[] = {
    [BILL_OWN] = "own", [BILL_SHARED] = "shared", [BILL_HOST] = "host"};

static const char *const bound_names[] = {
    [BOUND_AT_MOST] = "at_most", [BOUND_AT_LEAST] = "at_least"};

static void write_row(
    struct json_writer *json, const struct overview *overview, size_t index)
{
    const struct overview_row *row = &overview->rows[index];
    const struct facts *facts = row->snapshot.facts;
    const struct layer *layers = row->snapshot.layers;
    const struct json_number numbers[] = {
        json_layer_number("tracked", &layers[LAYER_TRACKED]),
        json_layer_number("in_use", &layers[LAYER_IN_USE]),
        json_layer_number("held", &layers[LAYER_HELD]),
        json_layer_number("resident", &layers[LAYER_RESIDENT]),
        json_layer_number("pss", &layers[LAYER_PSS]),
        json_layer_number("charged", &layers[LAYER_CHARGED]),
        json_layer_number("retained", &layers[LAYER_FREE_RESIDENT]),
    };

    json_object_begin(json);
    json_text(json, "kind", target_kind_names[facts->target_kind]);
    json_text(json, "name", target_name(facts));
    json_key(json, "members");
    json_array_begin(json);
    for (size_t i = 0; i < facts->process_count; i++) {
        json_signed(json, facts->processes[i].pid);
    }
    json_array_end(json);
    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
    json_optional_text(json, "resident_bound", bound_names[layers[LAYER_RESIDENT].bound]);
    json_text(json, "charged_bill", bill_names[overview_bill_of(overview, index)]);
    write_findings(json, &row->list);
    json_object_end(json);
}

static void write_host(struct json_writer *json, const struct facts *facts)
{
    json_key(json, "host");
    json_object_begin(json);
    json_optional_text(json, "kernel", facts->host.kernel);
    json_optional_text(json, "machine", facts->host.machine);
    json_optional_text(json, "hypervisor", facts->host.hypervisor);
    json_count(json, "processes", facts->process_count);
    json_fact_table(json, host_fact_table, facts->host.values, HOST_FACT_COUNT);
    json_object_end(json);
}

void present_overview_json(const struct overview *overview, struct buffer *buffer)
{
    struct json_writer json;

    json_writer_init(&json, buffer, INDENT);
    json_object_begin(&json);
    json_count(&json, "schema", OVERVIEW_SCHEMA);
    json_taken_at(&json, overview->host);
    write_host(&json, overview->host);
    json_key(&json, "rows");
    json_array_begin(&json);
    for (size_t i = 0; i < overview->count; i++) {
        write_row(&json, overview, i);
    }
    json_array_end(&json);
    json_gaps_and_cost(&json, overview->host);
    json_object_end(&json);
    buffer_append_char(buffer, '\n');
}
