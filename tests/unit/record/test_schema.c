/* test_schema.c - the tables of schema.c describe every member of every struct. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_types/facts.h"
#include "record/schema.h"

enum { LARGEST_ALIGNMENT = 8 };

static void mark(unsigned char *covered, size_t struct_bytes, size_t at, size_t bytes)
{
    assert_true(at + bytes <= struct_bytes);
    for (size_t i = at; i < at + bytes; i++) {
        if (covered[i] != 0) {
            fail_msg("byte %zu is described twice", i);
        }
        covered[i] = 1;
    }
}

/*
 * A gap that padding explains ends where something aligned begins (or at the end of the
 * struct) and is smaller than that alignment. Every other gap is a forgotten member.
 */
static void check_gaps(const unsigned char *covered, size_t bytes)
{
    size_t gap = 0;

    for (size_t i = 0; i < bytes; i++) {
        if (covered[i] == 0) {
            gap++;
            continue;
        }
        if (gap >= LARGEST_ALIGNMENT || (gap > 0 && i % 4 != 0)) {
            fail_msg("the member in front of byte %zu has no row", i);
        }
        gap = 0;
    }
    if (gap >= LARGEST_ALIGNMENT) {
        fail_msg("the last member has no row");
    }
}

static void check_schema(const struct schema *schema, size_t skipped_bytes)
{
    unsigned char *covered = test_calloc(1, schema->struct_bytes);

    memset(covered, 1, skipped_bytes);
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct schema_field *field = &schema->fields[i];
        mark(covered, schema->struct_bytes, field->offset_bytes, field->bytes);
        if (field->type == SCHEMA_ARRAY) {
            mark(
                covered, schema->struct_bytes, field->count_offset_bytes, sizeof(size_t));
        }
        if (field->schema != NULL) {
            check_schema(field->schema, 0);
        }
    }
    check_gaps(covered, schema->struct_bytes);
    test_free(covered);
}

static void every_member_has_a_row(void **state)
{
    (void)state;
    /* The region stands first and is not a fact. */
    assert_int_equal(offsetof(struct facts, region), 0);
    check_schema(&facts_schema, sizeof(struct region));
}

static void check_names(const struct schema *schema)
{
    for (size_t i = 0; i < schema->field_count; i++) {
        const struct schema_field *field = &schema->fields[i];
        assert_true(strncmp(field->name, "format", sizeof("format")) != 0);
        for (size_t j = 0; j < i; j++) {
            assert_string_not_equal(field->name, schema->fields[j].name);
        }
        for (size_t j = 0; field->names != NULL && j < field->maximum; j++) {
            assert_non_null(field->names[j]);
        }
        for (size_t j = 0; field->facts != NULL && j < field->maximum; j++) {
            assert_non_null(field->facts[j].name);
        }
        if (field->schema != NULL) {
            check_names(field->schema);
        }
    }
}

static void names_are_unique_and_there(void **state)
{
    (void)state;
    check_names(&facts_schema);
}

static void a_zeroed_struct_is_default_but_for_its_index(void **state)
{
    struct facts facts = {.target_cgroup = SCHEMA_NO_INDEX};

    (void)state;
    assert_true(schema_is_default(&facts_schema, &facts));
    facts.target_cgroup = 0;
    assert_false(schema_is_default(&facts_schema, &facts));
    facts = (struct facts){.target_cgroup = SCHEMA_NO_INDEX};
    facts.host.values[HOST_FACT_COUNT - 1].state = FACT_OK;
    assert_false(schema_is_default(&facts_schema, &facts));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_member_has_a_row),
        cmocka_unit_test(names_are_unique_and_there),
        cmocka_unit_test(a_zeroed_struct_is_default_but_for_its_index),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
