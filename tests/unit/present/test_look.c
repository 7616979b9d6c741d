/*
 * test_look.c - a look, which leaves out what no account reads, is explained as the whole facts
 * are: the same layers, parts, findings and promises, to the byte.
 *
 * What differs is what the account says of its sources: of how many mappings Rss was added up.
 */
#include <ctype.h>
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "facts_random.h"
#include "findings/finding.h"
#include "fixture_captures.h"
#include "present/explain_json.h"
#include "record/capture_check.h"
#include "record/look.h"
#include "record/thin_facts.h"

enum { ROUNDS = 1500, LEAST_ROUNDS = 200, LARGEST_INPUT_BYTES = 8000, MANY = 51000 };

/* xorshift64*: small, and the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
    *state ^= *state >> 12;
    *state ^= *state << 25;
    *state ^= *state >> 27;
    return *state * UINT64_C(2685821657736338717);
}

/* "Rss of 12 mappings": the number becomes 'n'. */
static void hide_counts(char *text)
{
    static const char before[] = "Rss of ";

    for (char *at = strstr(text, before); at != NULL; at = strstr(at, before)) {
        at += sizeof(before) - 1;
        if (isdigit((unsigned char)*at)) {
            char *rest = at + strcspn(at, "\"");
            at[0] = 'n';
            memmove(at + 1, rest, strlen(rest) + 1);
        }
    }
}

static void explain(const struct facts *facts, struct buffer *text)
{
    struct snapshot snapshot;
    struct finding_list list;

    buffer_init(text);
    assert_int_equal(snapshot_build(facts, &snapshot), 0);
    assert_int_equal(findings_run(&snapshot, &list), 0);
    present_explain_json(&snapshot, &list, NULL, text);
    assert_int_equal(buffer_error(text), 0);
    hide_counts(text->data);
    finding_list_release(&list);
    snapshot_release(&snapshot);
}

static void assert_same_account(
    const char *name, const struct facts *facts, const struct facts *look)
{
    struct buffer whole;
    struct buffer thin;

    explain(facts, &whole);
    explain(look, &thin);
    if (strcmp(buffer_text(&whole), buffer_text(&thin)) != 0) {
        print_error("%s\n", name);
    }
    assert_string_equal(buffer_text(&whole), buffer_text(&thin));
    buffer_release(&whole);
    buffer_release(&thin);
}

static void count_left_out(
    const struct facts *facts, const struct facts *look, size_t *left_out)
{
    for (size_t i = 0; i < facts->process_count; i++) {
        *left_out += facts->processes[i].mapping_count - look->processes[i].mapping_count;
    }
}

static void look_at(const char *name, const struct facts *facts, void *context)
{
    struct buffer packed;
    struct facts again;

    (void)context;
    buffer_init(&packed);
    assert_int_equal(look_pack(facts, &packed), 0);
    assert_int_equal(look_unpack(name, &packed, &again), 0);
    assert_same_account(name, facts, &again);
    region_release(&again.region);
    buffer_release(&packed);
}

static void captures_are_explained_as_their_looks(void **state)
{
    (void)state;
    each_fixture_capture(look_at, NULL);
}

static void empty(struct mapping *mapping)
{
    for (int i = 0; i < MAPPING_FACT_COUNT; i++) {
        mapping->values[i] = (struct fact){.state = FACT_OK};
    }
}

/* Libraries have many mappings of which nothing is resident; random numbers are hardly zero. */
static void empty_some(struct process_facts *process, uint64_t *state)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        struct mapping *mapping = &process->mappings[i];
        const uint64_t chance = next_random(state) >> 32;
        if (chance % 2 == 0) {
            empty(mapping);
        }
        if (chance % 8 == 0) {
            mapping->values[chance / 8 % MAPPING_FACT_COUNT] =
                (struct fact){.value = 4096, .state = FACT_OK};
        }
    }
}

static void any_facts_are_explained_as_their_looks(void **state)
{
    static uint8_t input[LARGEST_INPUT_BYTES];
    uint64_t random = UINT64_C(0x9e3779b97f4a7c15);
    size_t left_out = 0;
    int rounds = 0;

    (void)state;
    for (int round = 0; round < ROUNDS; round++) {
        const size_t bytes = next_random(&random) % sizeof(input);
        struct facts facts;
        struct facts thin;

        for (size_t i = 0; i < bytes; i++) {
            input[i] = (uint8_t)(next_random(&random) >> 56);
        }
        facts_random(&facts, input, bytes);
        for (size_t i = 0; i < facts.process_count; i++) {
            empty_some(&facts.processes[i], &random);
        }
        if (capture_check(&facts, NULL) == 0) {
            assert_int_equal(thin_facts(&facts, &thin), 0);
            assert_same_account("random", &facts, &thin);
            count_left_out(&facts, &thin, &left_out);
            region_release(&thin.region);
            rounds++;
        }
        region_release(&facts.region);
    }
    assert_true(rounds >= LEAST_ROUNDS);
    assert_true(left_out > 0);
}

static void next(struct facts *facts, uint64_t *at, const char *permissions,
    const char *path, uint64_t rss_bytes)
{
    struct mapping *mapping =
        builder_mapping(facts, &facts->processes[0], *at, 64 * KIB, permissions, path);

    *at = mapping->end;
    builder_set_rss(mapping, rss_bytes);
}

/*
 * A worker that has not run a library yet: its code makes its constants those of a program, its
 * data, of which no page is there, the memory behind it bss.
 */
static void what_is_not_resident_may_tell_what_is(void **state)
{
    static const char library[] = "/library.so";
    uint64_t at = 4096 * MIB;
    struct facts facts;
    struct facts thin;

    (void)state;
    builder_init(&facts);
    (void)builder_process(&facts, 812, "server");
    next(&facts, &at, "r--p", library, 0);
    next(&facts, &at, "r-xp", library, 0);
    next(&facts, &at, "r--p", library, 0);
    next(&facts, &at, "r--p", library, 8 * KIB);
    next(&facts, &at, "rw-p", library, 0);
    next(&facts, &at, "rw-p", "", 12 * KIB);
    next(&facts, &at, "---p", library, 0);
    next(&facts, &at, "rw-p", "", 64 * KIB);
    at += 64 * KIB;
    /* A span of which pages were read only, and so are in no Rss. */
    next(&facts, &at, "r--s", "/shared", 0);
    (void)builder_span(
        &facts, &facts.processes[0], SPAN_OPCACHE, at - 64 * KIB, 64 * KIB, 32 * KIB);
    assert_int_equal(thin_facts(&facts, &thin), 0);
    assert_int_equal(thin.processes[0].mapping_count, 6);
    assert_same_account("library", &facts, &thin);
    region_release(&thin.region);

    facts.processes[0].mapping_count = 1;
    facts.processes[0].span_count = 0;
    assert_int_equal(thin_facts(&facts, &thin), 0);
    assert_int_equal(thin.processes[0].mapping_count, 1);
    region_release(&thin.region);
    builder_release(&facts);
}

/* So many mappings that packing and reading them would take long. */
static void what_is_too_large_is_refused(void **state)
{
    static struct mapping mappings[MANY];
    static char no_path[] = "";
    struct process_facts process = {.pid = 1,
        .name = (char[]){"server"},
        .mappings_state = FACT_OK,
        .cgroup_index = -1};
    struct facts facts = {.schema = FACTS_SCHEMA,
        .target_name = (char[]){"server"},
        .processes = &process,
        .process_count = 1,
        .target_cgroup = -1};
    struct buffer packed;

    (void)state;
    for (size_t i = 0; i < MANY; i++) {
        mappings[i] = (struct mapping){.start = 4096 * (i + 1),
            .end = 4096 * (i + 2),
            .permissions = MAPPING_READ | (i % 2 == 0 ? MAPPING_WRITE : 0U),
            .path = no_path};
    }
    process.mappings = mappings;
    process.mapping_count = MANY;
    buffer_init(&packed);
    assert_int_equal(look_pack(&facts, &packed), -EFBIG);
    process.mapping_count = 100;
    assert_int_equal(look_pack(&facts, &packed), 0);
    buffer_release(&packed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(captures_are_explained_as_their_looks),
        cmocka_unit_test(any_facts_are_explained_as_their_looks),
        cmocka_unit_test(what_is_not_resident_may_tell_what_is),
        cmocka_unit_test(what_is_too_large_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
