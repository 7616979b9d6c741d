/*
 * explain_json.c - one target as a document for machines.
 *
 * Fields are only ever added within a schema. The same snapshot gives the same bytes, so
 * that a capture explained twice can be compared with cmp(1).
 */
#include "present/explain_json.h"

#include "present/allocator_json.h"
#include "present/header_text.h"
#include "present/json_parts.h"
#include "present/mysql_json.h"
#include "present/since_json.h"
#include "present/zend_json.h"

enum { EXPLAIN_SCHEMA = 1, INDENT = 2 };

static void write_target(struct json_writer *json, const struct facts *facts)
{
    json_key(json, "target");
    json_object_begin(json);
    json_text(json, "kind", target_kind_names[facts->target_kind]);
    json_text(json, "name", target_name(facts));
    if (facts->process_count == 1) {
        json_signed_count(json, "pid", facts->processes[0].pid);
        json_count(json, "start_time", facts->processes[0].start_time_ticks);
    }
    json_key(json, "members");
    json_array_begin(json);
    for (size_t i = 0; i < facts->process_count; i++) {
        json_signed(json, facts->processes[i].pid);
    }
    json_array_end(json);
    json_object_end(json);
}

static void write_member(struct json_writer *json, const struct process_view *view)
{
    const struct process_facts *process = view->facts;

    json_object_begin(json);
    json_signed_count(json, "pid", process->pid);
    json_optional_text(json, "name", process->name);
    json_count(json, "start_time", process->start_time_ticks);
    json_optional_text(json, "executable", process->executable);
    json_fact_table(json, process_fact_table, process->values, PROCESS_FACT_COUNT);
    json_layers(json, view->layers);
    json_object_end(json);
}

static void write_members(struct json_writer *json, const struct snapshot *snapshot)
{
    json_key(json, "members");
    json_array_begin(json);
    for (size_t i = 0; i < snapshot->member_count; i++) {
        write_member(json, &snapshot->members[i]);
    }
    json_array_end(json);
}

static void write_cgroup(struct json_writer *json, const struct container_view *view)
{
    const struct cgroup_facts *cgroup = view->facts;

    json_key(json, "cgroup");
    if (cgroup == NULL) {
        json_nothing(json);
        return;
    }
    const struct json_number numbers[] = {
        {"usage", cgroup->values[CGROUP_FACT_USAGE]},
        {"limit", cgroup->values[CGROUP_FACT_LIMIT]},
        {"docker", view->docker},
        {"docker_19", view->docker_19},
        {"kubelet", view->kubelet},
        {"podman", view->podman},
        {"non_reclaimable", view->non_reclaimable},
        {"headroom", view->headroom},
    };
    json_object_begin(json);
    json_count(json, "version", cgroup->version);
    json_optional_text(json, "path", cgroup->path);
    json_optional_text(json, "unit", cgroup->unit);
    json_optional_text(json, "runtime", cgroup->runtime);
    json_optional_text(json, "container_id", cgroup->container_id);
    json_optional_text(json, "pod_uid", cgroup->pod_uid);
    json_numbers(json, numbers, sizeof(numbers) / sizeof(numbers[0]));
    json_fact_table(json, cgroup_fact_table, cgroup->values, CGROUP_FACT_COUNT);
    json_object_end(json);
}

static void write_evidence(struct json_writer *json, const struct finding *finding)
{
    json_key(json, "evidence");
    json_object_begin(json);
    for (size_t i = 0; i < finding->evidence_count; i++) {
        const struct evidence *evidence = &finding->evidence[i];
        json_key(json, evidence->name);
        if (evidence->unit == EVIDENCE_TEXT) {
            json_quoted(json, evidence->text);
        } else {
            json_signed(json, evidence->value);
        }
    }
    json_object_end(json);
}

/* Below zero when the change may also take memory. */
static int64_t lowest_of(const struct finding *finding)
{
    const uint64_t magnitude = finding->predicted_cost_bytes > 0
                                   ? finding->predicted_cost_bytes
                                   : finding->predicted_low_bytes;
    const int64_t bytes = magnitude > INT64_MAX ? INT64_MAX : (int64_t)magnitude;

    return finding->predicted_cost_bytes > 0 ? -bytes : bytes;
}

static void write_finding(struct json_writer *json, const struct finding *finding)
{
    json_object_begin(json);
    json_text(json, "rule", finding->rule->id);
    json_text(json, "severity", severity_names[finding->severity]);
    if (finding->pid != 0) {
        json_signed_count(json, "pid", finding->pid);
    }
    json_text(json, "summary", finding->summary);
    json_optional_text(json, "reasoning", finding->reasoning);
    write_evidence(json, finding);
    if (finding->predicts) {
        json_key(json, "predicted");
        json_object_begin(json);
        json_signed_count(json, "low", lowest_of(finding));
        json_count(json, "high", finding->predicted_high_bytes);
        json_text(json, "confidence", confidence_names[finding->confidence]);
        json_object_end(json);
    }
    json_optional_text(json, "fix", finding->fix);
    json_optional_text(json, "price", finding->rule->price);
    json_optional_text(json, "verify", finding->verify);
    json_object_end(json);
}

static void write_findings(struct json_writer *json, const struct finding_list *list)
{
    json_key(json, "findings");
    json_array_begin(json);
    for (size_t i = 0; i < list->count; i++) {
        write_finding(json, &list->items[i]);
    }
    json_array_end(json);
}

void present_explain_json(const struct snapshot *snapshot,
    const struct finding_list *list, const struct since *since, struct buffer *buffer)
{
    struct json_writer json;

    json_writer_init(&json, buffer, INDENT);
    json_object_begin(&json);
    json_count(&json, "schema", EXPLAIN_SCHEMA);
    json_taken_at(&json, snapshot->facts);
    write_target(&json, snapshot->facts);
    json_layers(&json, snapshot->layers);
    write_members(&json, snapshot);
    allocator_json(&json, snapshot->facts);
    zend_json(&json, snapshot->facts);
    mysql_json(&json, snapshot);
    write_cgroup(&json, &snapshot->container);
    if (since != NULL) {
        json_key(&json, "since");
        since_json(&json, since);
    }
    write_findings(&json, list);
    json_gaps_and_cost(&json, snapshot->facts);
    json_object_end(&json);
    buffer_append_char(buffer, '\n');
}
