/*
 * finding_writer.c - memory, evidence and comparisons for the rules.
 *
 * A failed allocation is remembered in the list, so that a rule may make all its texts
 * first and check once, in finding_push().
 */
#include "findings/finding_writer.h"

#include <errno.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include "base/bug.h"
#include "base/number.h"
#include "model/known.h"

enum { FINDINGS_MAX = 1000 };

const char *finding_printf(struct finding_list *list, const char *format, ...)
{
    va_list arguments;
    char *text = NULL;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    if (bytes >= 0) {
        text = region_alloc(&list->region, (size_t)bytes + 1);
    }
    if (text == NULL) {
        list->failed = true;
        return NULL;
    }
    va_start(arguments, format);
    (void)vsnprintf(text, (size_t)bytes + 1, format, arguments);
    va_end(arguments);
    return text;
}

static void add_evidence(struct finding *finding, const struct evidence *evidence)
{
    BUG_IF(finding->evidence_count >= FINDING_MAX_EVIDENCE);
    finding->evidence[finding->evidence_count++] = *evidence;
}

static int64_t as_signed(uint64_t value)
{
    return value < INT64_MAX ? (int64_t)value : INT64_MAX;
}

void finding_add_bytes(struct finding *finding, const char *name, uint64_t bytes)
{
    add_evidence(finding, &(struct evidence){
                              .name = name,
                              .unit = EVIDENCE_BYTES,
                              .value = as_signed(bytes),
                          });
}

void finding_add_count(struct finding *finding, const char *name, uint64_t count)
{
    add_evidence(finding, &(struct evidence){
                              .name = name,
                              .unit = EVIDENCE_COUNT_OF,
                              .value = as_signed(count),
                          });
}

void finding_add_percent(
    struct finding *finding, const char *name, uint64_t part, uint64_t whole)
{
    if (whole == 0) {
        return;
    }
    const double percent = 100.0 * ((double)part / (double)whole);

    add_evidence(
        finding, &(struct evidence){
                     .name = name,
                     .unit = EVIDENCE_PERCENT,
                     .value = percent < 1e9 ? (int64_t)(percent + 0.5) : (int64_t)1e9,
                 });
}

void finding_add_text(struct finding *finding, const char *name, const char *text)
{
    add_evidence(finding, &(struct evidence){
                              .name = name,
                              .unit = EVIDENCE_TEXT,
                              .text = text,
                          });
}

void finding_add_fact(struct finding *finding, const char *name, const struct fact *fact)
{
    if (fact_is_known(fact)) {
        finding_add_bytes(finding, name, fact->value);
    }
}

void finding_add_count_fact(
    struct finding *finding, const char *name, const struct fact *fact)
{
    if (fact_is_known(fact)) {
        finding_add_count(finding, name, fact->value);
    }
}

void finding_predict(struct finding *finding, uint64_t low_bytes, uint64_t high_bytes,
    enum confidence confidence)
{
    finding->predicts = true;
    finding->predicted_low_bytes = low_bytes < high_bytes ? low_bytes : high_bytes;
    finding->predicted_high_bytes = high_bytes;
    finding->confidence = confidence;
}

int finding_push(struct finding_list *list, const struct finding *finding)
{
    struct finding *item;

    if (list->failed) {
        return -ENOMEM;
    }
    BUG_IF(finding->summary == NULL);
    item = region_grow(
        &list->region, &list->items, list->count, FINDINGS_MAX, sizeof(*item));
    if (item == NULL) {
        return -ENOMEM;
    }
    *item = *finding;
    list->count++;
    return 0;
}

bool at_least_percent(uint64_t part, uint64_t whole, unsigned percent)
{
    return whole > 0 && (double)part * 100.0 >= (double)whole * (double)percent;
}

bool finding_reaches(
    uint64_t bytes, uint64_t least_bytes, uint64_t whole_bytes, unsigned percent)
{
    return bytes >= least_bytes && at_least_percent(bytes, whole_bytes, percent);
}

uint64_t target_bytes(const struct snapshot *snapshot, enum layer_id id)
{
    bool known;

    return layer_bytes(&snapshot->layers[id], &known);
}

int32_t target_pid(const struct snapshot *snapshot)
{
    return snapshot->member_count == 1 ? snapshot->members[0].facts->pid : 0;
}

/* A process fact of smaps_rollup, else the same key summed over the mappings. */
static uint64_t rollup_or_sum(
    const struct process_facts *process, enum process_fact rollup, enum mapping_fact key)
{
    const struct fact *fact = &process->values[rollup];
    uint64_t sum = 0;

    if (fact_is_known(fact)) {
        return fact->value;
    }
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct fact *value = &process->mappings[i].values[key];
        sum = number_add(sum, fact_is_known(value) ? value->value : 0);
    }
    return sum;
}

uint64_t sum_over_members(
    const struct snapshot *snapshot, enum process_fact rollup, enum mapping_fact key)
{
    uint64_t sum = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        sum = number_add(sum, rollup_or_sum(snapshot->members[i].facts, rollup, key));
    }
    return sum;
}
