/*
 * test_cgroup_cases.c - every tree of tests/fixtures with a file cgroup.expected gives just
 * the facts that stand there.
 *
 * The file has lines "name value": pid, whose cgroup is read; version, flags (when true),
 * texts, state; competitor, a pid; and the numbers by their names in facts.def. What has no
 * line must be false, NULL or absent.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "facts/cgroup.h"
#include "facts/cgroup_tree.h"
#include "fixture.h"

enum { MAX_LINES = 64, LINE_BYTES = 1024, MAX_CASES = 128, REGION_BYTES = 8 << 20 };

struct expected {
    char lines[MAX_LINES][LINE_BYTES];
    size_t count;
};

static void read_expected(const char *name, struct expected *expected)
{
    char path[LINE_BYTES];
    char line[LINE_BYTES];

    (void)snprintf(path, sizeof(path), "%s/%s/cgroup.expected", STRATA_FIXTURES, name);
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    expected->count = 0;
    while (fgets(line, sizeof(line), file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        if (line[0] != '#' && line[0] != '\0') {
            assert_true(expected->count < MAX_LINES);
            memcpy(expected->lines[expected->count++], line, sizeof(line));
        }
    }
    (void)fclose(file);
}

/* The value of name, or NULL. */
static const char *value_of(const struct expected *expected, const char *name)
{
    size_t bytes = strlen(name);

    for (size_t i = 0; i < expected->count; i++) {
        const char *line = expected->lines[i];
        if (strncmp(line, name, bytes) == 0 && line[bytes] == ' ') {
            return line + bytes + 1;
        }
    }
    return NULL;
}

static void check_text(
    const char *name, const struct expected *expected, const char *key, const char *text)
{
    const char *should = value_of(expected, key);

    if ((text == NULL) != (should == NULL) ||
        (text != NULL && strcmp(text, should) != 0)) {
        fail_msg("%s: %s is '%s' instead of '%s'", name, key, text == NULL ? "" : text,
            should == NULL ? "" : should);
    }
}

static void check_number(
    const char *name, const struct expected *expected, const char *key, uint64_t number)
{
    char text[32];

    (void)snprintf(text, sizeof(text), "%" PRIu64, number);
    check_text(name, expected, key, number == 0 ? NULL : text);
}

static void check_values(
    const char *name, const struct expected *expected, const struct fact *values)
{
    for (size_t i = 0; i < CGROUP_FACT_COUNT; i++) {
        char text[32];
        (void)snprintf(text, sizeof(text), "%" PRIu64, values[i].value);
        check_text(name, expected, cgroup_fact_table[i].name,
            values[i].state == FACT_OK ? text : NULL);
        assert_true(values[i].state == FACT_OK || values[i].state == FACT_ABSENT);
    }
}

static void check_cgroup(
    const char *name, const struct expected *expected, const struct cgroup_facts *cgroup)
{
    check_number(name, expected, "version", cgroup->version);
    check_number(name, expected, "hybrid", cgroup->hybrid);
    check_number(name, expected, "root", cgroup->root);
    check_number(name, expected, "deleted", cgroup->deleted);
    check_number(name, expected, "namespaced", cgroup->namespaced);
    check_text(name, expected, "state", fact_state_names[cgroup->state]);
    check_text(name, expected, "path", cgroup->path);
    check_text(name, expected, "charged_path", cgroup->charged_path);
    check_text(name, expected, "limit_path", cgroup->limit_path);
    check_text(name, expected, "headroom_path", cgroup->headroom_path);
    check_text(name, expected, "runtime", cgroup->runtime);
    check_text(name, expected, "container_id", cgroup->container_id);
    check_text(name, expected, "unit", cgroup->unit);
    check_text(name, expected, "pod_uid", cgroup->pod_uid);
    check_values(name, expected, cgroup->values);
    if (cgroup->state != FACT_OK && cgroup->why == NULL) {
        fail_msg("%s: no reason is given", name);
    }
}

static int32_t read_case(
    struct cgroup_reader *reader, const char *pid, struct facts *facts)
{
    int process = openat(reader->root->proc_fd, pid, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int32_t index = -1;
    int32_t again = -1;

    assert_true(process >= 0);
    assert_int_equal(cgroup_read_process(reader, process, facts, &index), 0);
    assert_true(index >= 0);
    /* Known by then, also when it was cut off or removed. */
    assert_int_equal(cgroup_read_process(reader, process, facts, &again), 0);
    assert_int_equal(again, index);
    assert_int_equal(facts->cgroup_count, 1);
    close(process);
    return index;
}

static void check_case(const char *name)
{
    struct facts facts = {.target_cgroup = -1};
    struct expected expected;
    struct cgroup_reader reader;
    struct facts_root root;

    read_expected(name, &expected);
    assert_non_null(value_of(&expected, "pid"));
    fixture_open(&root, name);
    region_init(&facts.region, REGION_BYTES);
    assert_int_equal(cgroup_reader_init(&reader, &root, &facts.region), 0);
    facts.target_cgroup = read_case(&reader, value_of(&expected, "pid"), &facts);
    check_cgroup(name, &expected, &facts.cgroups[facts.target_cgroup]);
    assert_int_equal(cgroup_find_competitor(&reader, &facts), 0);
    check_number(name, &expected, "competitor", (uint64_t)facts.competitor_pid);
    cgroup_reader_release(&reader);
    region_release(&facts.region);
    facts_root_close(&root);
}

static int has_expectation(const struct dirent *entry)
{
    char path[LINE_BYTES];

    (void)snprintf(
        path, sizeof(path), "%s/%s/cgroup.expected", STRATA_FIXTURES, entry->d_name);
    return access(path, R_OK) == 0;
}

static void every_case_gives_its_facts(void **state)
{
    struct dirent **entries;
    int count = scandir(STRATA_FIXTURES, &entries, has_expectation, alphasort);

    (void)state;
    assert_in_range(count, 20, MAX_CASES);
    for (int i = 0; i < count; i++) {
        check_case(entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_case_gives_its_facts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
