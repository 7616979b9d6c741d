/*
 * test_cases.c - real reports, each with the verdict that would have helped.
 *
 * Two kinds of case, found by their files: a tree of /proc, /sys and cgroups with a
 * findings.expected in it, read as the live system would be; and a capture NAME.json in
 * fixtures/cases with NAME.expected beside it. See verdict.h for the language.
 */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "facts/collect.h"
#include "findings_check.h"
#include "record/capture_file.h"
#include "snapshot_check.h"
#include "verdict.h"

enum { PATH_BYTES = 512, FILE_BYTES = 1 << 20, LEAST_TREES = 8, LEAST_CAPTURES = 10 };

/* The text of a file, or NULL when it is not there. */
static const char *read_text(const char *path, struct buffer *buffer)
{
    FILE *file = fopen(path, "re");
    char *room;
    size_t bytes;

    if (file == NULL) {
        return NULL;
    }
    buffer_reset(buffer);
    room = buffer_reserve(buffer, FILE_BYTES);
    assert_non_null(room);
    bytes = fread(room, 1, FILE_BYTES, file);
    assert_int_equal(fclose(file), 0);
    assert_true(bytes < FILE_BYTES);
    buffer_commit(buffer, bytes);
    return buffer_text(buffer);
}

/* No line of a fix for a pod is for a unit, a compose file or my.cnf. */
static void assert_of_pod(const char *name, const char *fix)
{
    static const char *const foreign[] = {"compose", "mem_limit",
        "MemoryMax=", "MemoryHigh=", "MemorySwapMax=", "LimitNOFILE=", "systemctl",
        "[Service]", "my.cnf"};

    for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
        if (strstr(fix, foreign[i]) != NULL) {
            fail_msg("%s: '%s' for a pod: %s", name, foreign[i], fix);
        }
    }
}

/* The same target in a pod. */
static void judge_as_pod(const char *name, struct facts *facts)
{
    static char uid[] = "1-2";
    struct snapshot snapshot;
    struct finding_list list;

    for (size_t i = 0; i < facts->cgroup_count; i++) {
        facts->cgroups[i].pod_uid = uid;
    }
    assert_int_equal(snapshot_build(facts, &snapshot), 0);
    assert_int_equal(findings_run(&snapshot, &list), 0);
    for (size_t i = 0; i < list.count && facts->cgroup_count > 0; i++) {
        if (list.items[i].fix != NULL) {
            assert_of_pod(name, list.items[i].fix);
        }
    }
    finding_list_release(&list);
    snapshot_release(&snapshot);
}

static void judge(const char *name, struct facts *facts, const char *expected)
{
    struct snapshot snapshot;
    struct finding_list list;
    struct error error;
    const char *problem;

    error_reset(&error);
    assert_int_equal(snapshot_build(facts, &snapshot), 0);
    assert_int_equal(findings_run(&snapshot, &list), 0);
    problem = snapshot_check(&snapshot);
    problem = problem != NULL ? problem : findings_check(&list);
    if (problem != NULL) {
        fail_msg("%s: %s", name, problem);
    }
    if (verdict_check(expected, &snapshot, &list, &error) != 0) {
        fail_msg("%s: %s", name, error.text);
    }
    finding_list_release(&list);
    snapshot_release(&snapshot);
    judge_as_pod(name, facts);
}

/* "# target NAME" in the first line of the expectation says what to explain. */
static void target_of(const char *expected, char *target)
{
    static const char key[] = "# target ";
    size_t bytes;

    assert_true(strncmp(expected, key, sizeof(key) - 1) == 0);
    expected += sizeof(key) - 1;
    bytes = strcspn(expected, "\n");
    assert_true(bytes > 0 && bytes < PATH_BYTES);
    memcpy(target, expected, bytes);
    target[bytes] = '\0';
}

static void judge_tree(const char *name, const char *expected)
{
    char path[PATH_BYTES];
    char target[PATH_BYTES];
    struct facts_root root;
    struct facts facts;
    struct error error;

    error_reset(&error);
    target_of(expected, target);
    (void)snprintf(path, sizeof(path), "%s/%s", STRATA_FIXTURES, name);
    if (facts_root_open(&root, path, &error) != 0 ||
        facts_collect(&root, target, COLLECT_EXPLAIN, &facts, &error) != 0) {
        fail_msg("%s: %s", name, error.text);
    }
    facts_root_close(&root);
    judge(name, &facts, expected);
    region_release(&facts.region);
}

static void trees_get_their_verdicts(void **state)
{
    DIR *folder = opendir(STRATA_FIXTURES);
    struct buffer buffer;
    int judged = 0;

    (void)state;
    assert_non_null(folder);
    buffer_init(&buffer);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        char path[PATH_BYTES];
        const char *expected;

        (void)snprintf(path, sizeof(path), "%s/%s/findings.expected", STRATA_FIXTURES,
            entry->d_name);
        expected = read_text(path, &buffer);
        if (expected != NULL) {
            judge_tree(entry->d_name, expected);
            judged++;
        }
    }
    assert_int_equal(closedir(folder), 0);
    buffer_release(&buffer);
    assert_true(judged >= LEAST_TREES);
}

static void judge_capture(const char *file, struct buffer *buffer)
{
    char path[PATH_BYTES];
    const size_t stem = strlen(file) - strlen(".json");
    struct facts facts;
    struct error error;
    const char *expected;

    error_reset(&error);
    (void)snprintf(path, sizeof(path), "%s/cases/%s", STRATA_FIXTURES, file);
    if (capture_load(path, &facts, &error) != 0) {
        fail_msg("%s", error.text);
    }
    (void)snprintf(
        path, sizeof(path), "%s/cases/%.*s.expected", STRATA_FIXTURES, (int)stem, file);
    expected = read_text(path, buffer);
    if (expected == NULL) {
        fail_msg("%s has no verdict beside it", file);
    }
    judge(file, &facts, expected);
    region_release(&facts.region);
}

static void captures_get_their_verdicts(void **state)
{
    DIR *folder = opendir(STRATA_FIXTURES "/cases");
    struct buffer buffer;
    int judged = 0;

    (void)state;
    assert_non_null(folder);
    buffer_init(&buffer);
    for (struct dirent *entry = readdir(folder); entry != NULL; entry = readdir(folder)) {
        const char *end = strstr(entry->d_name, ".json");

        if (end != NULL && end[strlen(".json")] == '\0') {
            judge_capture(entry->d_name, &buffer);
            judged++;
        }
    }
    assert_int_equal(closedir(folder), 0);
    buffer_release(&buffer);
    assert_true(judged >= LEAST_CAPTURES);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trees_get_their_verdicts),
        cmocka_unit_test(captures_get_their_verdicts),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
