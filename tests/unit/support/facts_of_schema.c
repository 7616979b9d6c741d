/*
 * facts_of_schema.c - fills and compares structs by the tables of record/schema.c, so that a
 * new field is tested as soon as it has a row there.
 */
#include "facts_of_schema.h"

#include <stdlib.h>
#include <string.h>

#include "base/bug.h"
#include "record/schema.h"

enum { MOST_ITEMS = 4, MOST_TEXT_BYTES = 12, REGION_BYTES = 64 << 20 };

struct source {
    unsigned state;
    struct region *region;
};

static unsigned next(struct source *source)
{
    source->state = source->state * 1664525U + 1013904223U;
    return source->state >> 8;
}

/* Every magnitude, the largest numbers included. */
static uint64_t random_number(struct source *source)
{
    uint64_t wide = (uint64_t)next(source) << 40 ^ (uint64_t)next(source) << 20 ^
                    (uint64_t)next(source);

    return next(source) % 8 == 0 ? UINT64_MAX : wide >> (next(source) % 64);
}

static char *random_text(struct source *source)
{
    char text[MOST_TEXT_BYTES];
    size_t length = next(source) % MOST_TEXT_BYTES;

    for (size_t i = 0; i < length; i++) {
        text[i] = (char)(next(source) % 255 + 1);
        if (next(source) % 4 != 0) {
            text[i] = (char)('a' + text[i] % 26);
        }
    }
    char *copy = region_copy(source->region, text, length);
    BUG_IF(copy == NULL);
    return copy;
}

static void random_fact(struct source *source, struct fact *fact)
{
    *fact = (struct fact){.state = (enum fact_state)(next(source) % FACT_STATE_COUNT)};
    if (fact->state == FACT_OK || fact->state == FACT_STALE) {
        fact->value = random_number(source);
        fact->plus_minus = next(source) % 2 == 0 ? 0 : random_number(source);
    }
}

static void fill(struct source *source, const struct schema *schema, void *data);

static void fill_array(
    struct source *source, const struct schema_field *field, char *data)
{
    size_t most = field->maximum < MOST_ITEMS ? field->maximum : MOST_ITEMS;
    size_t count = next(source) % (most + 1);
    size_t bytes = field->schema->struct_bytes;
    char *items = region_alloc(source->region, count * bytes);

    BUG_IF(items == NULL);
    for (size_t i = 0; i < count; i++) {
        fill(source, field->schema, items + i * bytes);
    }
    memcpy(data + field->offset_bytes, &items, sizeof(items));
    memcpy(data + field->count_offset_bytes, &count, sizeof(count));
}

static void fill_plain(struct source *source, const struct schema_field *field, void *at)
{
    uint64_t number = random_number(source);
    int32_t index = (int32_t)(next(source) % 3) - 1;
    char *text;

    switch (field->type) {
    case SCHEMA_BOOL:
        *(bool *)at = number % 2 == 1;
        return;
    case SCHEMA_U32:
        *(uint32_t *)at =
            (uint32_t)(field->maximum == UINT32_MAX ? number
                                                    : number % (field->maximum + 1));
        return;
    case SCHEMA_ENUM:
        *(uint32_t *)at = (uint32_t)(number % field->maximum);
        return;
    case SCHEMA_I32:
        *(int32_t *)at = (int32_t)(number & INT32_MAX);
        return;
    case SCHEMA_LETTER:
        *(char *)at = (char)('A' + number % 26);
        return;
    case SCHEMA_INDEX:
        memcpy(at, &index, sizeof(index));
        return;
    case SCHEMA_TEXT:
        text = field->required || number % 4 != 0 ? random_text(source) : NULL;
        memcpy(at, &text, sizeof(text));
        return;
    case SCHEMA_U64:
    case SCHEMA_I64:
        memcpy(at, &number, sizeof(number));
        return;
    case SCHEMA_FACT:
    case SCHEMA_FACTS:
    case SCHEMA_STRUCT:
    case SCHEMA_ARRAY:
        break;
    }
    BUG_IF(true);
}

static void fill(struct source *source, const struct schema *schema, void *data)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct schema_field *field = &schema->fields[i];
        char *at = (char *)data + field->offset_bytes;
        if (field->type == SCHEMA_ARRAY) {
            fill_array(source, field, data);
        } else if (field->type == SCHEMA_STRUCT) {
            fill(source, field->schema, at);
        } else if (field->type == SCHEMA_FACT || field->type == SCHEMA_FACTS) {
            for (size_t j = 0; j < field->bytes / sizeof(struct fact); j++) {
                random_fact(source, (struct fact *)(void *)at + j);
            }
        } else {
            fill_plain(source, field, at);
        }
    }
}

/* The rules between fields, which the tables do not know. */
static void repair_process(
    struct source *source, struct process_facts *process, size_t cgroups)
{
    uint64_t at = next(source);

    process->pid = process->pid == 0 ? 1 : process->pid;
    process->cgroup_index = (int32_t)(next(source) % (cgroups + 1)) - 1;
    for (size_t i = 0; i < process->mapping_count; i++) {
        process->mappings[i].start = at + next(source) % 2;
        at = process->mappings[i].end = process->mappings[i].start + 1 + next(source);
    }
    for (size_t i = 0; i < process->span_count; i++) {
        process->spans[i].start = at + next(source) % 2;
        at = process->spans[i].end = process->spans[i].start + 1 + next(source);
        if (process->glibc.arena_count == 0) {
            process->spans[i].owner = SPAN_THREAD_STACK;
        } else {
            process->spans[i].index %= process->glibc.arena_count;
        }
    }
}

void facts_of_schema(unsigned seed, struct facts *facts)
{
    struct source source = {seed, &facts->region};

    *facts = (struct facts){0};
    region_init(&facts->region, REGION_BYTES);
    fill(&source, &facts_schema, facts);
    facts->schema = FACTS_SCHEMA;
    facts->host.page_bytes = next(&source) % 2 == 0 ? 0 : 4096U << next(&source) % 5;
    facts->target_cgroup = (int32_t)(next(&source) % (facts->cgroup_count + 1)) - 1;
    for (size_t i = 0; i < facts->process_count; i++) {
        repair_process(&source, &facts->processes[i], facts->cgroup_count);
    }
    for (size_t i = 0; i < facts->gap_count; i++) {
        facts->gaps[i].state = FACT_DENIED;
    }
}

static bool same_struct(
    const struct schema *schema, const void *a, const void *b, const char **key);

static bool same_array(
    const struct schema_field *field, const void *a, const void *b, const char **key)
{
    size_t bytes = field->schema->struct_bytes;
    size_t count_a;
    size_t count_b;
    const char *items_a = schema_items(field, a, &count_a);
    const char *items_b = schema_items(field, b, &count_b);

    for (size_t i = 0; count_a == count_b && i < count_a; i++) {
        if (!same_struct(field->schema, items_a + i * bytes, items_b + i * bytes, key)) {
            return false;
        }
    }
    return count_a == count_b;
}

static bool same_fact(const struct fact *a, const struct fact *b)
{
    return a->state == b->state && a->value == b->value && a->plus_minus == b->plus_minus;
}

static bool same_field(
    const struct schema_field *field, const void *a, const void *b, const char **key)
{
    const char *at_a = (const char *)a + field->offset_bytes;
    const char *at_b = (const char *)b + field->offset_bytes;
    const char *text_a;
    const char *text_b;

    if (field->type == SCHEMA_ARRAY) {
        return same_array(field, a, b, key);
    }
    if (field->type == SCHEMA_STRUCT) {
        return same_struct(field->schema, at_a, at_b, key);
    }
    if (field->type == SCHEMA_TEXT) {
        memcpy(&text_a, at_a, sizeof(text_a));
        memcpy(&text_b, at_b, sizeof(text_b));
        return text_a == NULL || text_b == NULL ? text_a == text_b
                                                : strcmp(text_a, text_b) == 0;
    }
    if (field->type == SCHEMA_FACT || field->type == SCHEMA_FACTS) {
        for (size_t i = 0; i < field->bytes / sizeof(struct fact); i++) {
            if (!same_fact((const struct fact *)(const void *)at_a + i,
                    (const struct fact *)(const void *)at_b + i)) {
                return false;
            }
        }
        return true;
    }
    return memcmp(at_a, at_b, field->bytes) == 0;
}

static bool same_struct(
    const struct schema *schema, const void *a, const void *b, const char **key)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        if (!same_field(&schema->fields[i], a, b, key)) {
            *key = *key == NULL ? schema->fields[i].name : *key;
            return false;
        }
    }
    return true;
}

bool facts_are_same(const struct facts *a, const struct facts *b, const char **key)
{
    *key = NULL;
    return same_struct(&facts_schema, a, b, key);
}
