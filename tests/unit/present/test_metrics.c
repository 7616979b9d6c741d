/* test_metrics.c - the page of metrics in both formats, and what no name may do to it. */
#include <ctype.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "golden.h"
#include "present/metrics.h"
#include "present/metrics_writer.h"
#include "sample.h"

enum { TARGETS = 4, NAME_BYTES = 128, FAMILIES_MAX = 200, LINES_MAX = 4000 };

static struct sample samples[TARGETS];
static struct metrics_target targets[TARGETS];
static struct glibc_total glibc;
static struct facts host;
static const struct metrics_count errors[] = {{"gone", 3}, {"denied", 0}};
static struct metrics_page page;

static int setup(void **state)
{
    static const char *const names[TARGETS] = {
        "mariadbd", "a \"b\\c\nd\xff\x1b[2J", "php-fpm", "?"};

    (void)state;
    sample_database(&samples[0]);
    sample_denied(&samples[1]);
    sample_pool(&samples[2]);
    sample_empty(&samples[3]);
    samples[0].facts.processes[0].cgroup_index = 0;
    samples[0].facts.cgroups[0].charged_path = samples[0].facts.cgroups[0].path;
    glibc = (struct glibc_total){
        .arenas = 35, .trim_gain_bytes = 1 << 20, .top_untrimmable_bytes = 2 << 20};
    for (int i = 0; i < TARGETS; i++) {
        targets[i] =
            (struct metrics_target){.labels = {.name = names[i], .pool = "", .unit = ""},
                .members = &samples[i].facts,
                .layers = samples[i].snapshot.layers,
                .findings = &samples[i].list,
                .glibc = &glibc};
    }
    targets[0].looked = true;
    targets[0].complete = true;
    targets[0].age_seconds = 1.5;
    targets[0].labels.unit = "mariadb.service";
    targets[1].looked = true;
    targets[1].denied = true;
    targets[1].labels.pid = 4711;
    targets[2].labels.pool = "www";
    targets[0].sizing.private_bytes = (struct fact){.value = 77, .state = FACT_OK};
    targets[2].sizing.private_bytes = (struct fact){.value = 78, .state = FACT_OK};
    host = samples[0].facts;
    host.target_kind = TARGET_HOST;
    host.host.values[HOST_FACT_MEM_TOTAL] =
        (struct fact){.value = UINT64_C(24) << 30, .state = FACT_OK};
    host.host.values[HOST_FACT_PRESSURE_SOME] =
        (struct fact){.value = 1234567, .state = FACT_STALE};
    page = (struct metrics_page){.host = &host,
        .targets = targets,
        .target_count = TARGETS,
        .self = {.version = "1.2.3",
            .host_age_seconds = 0.25,
            .host_duration_seconds = 0.0125,
            .cpu_seconds = 7.5,
            .host_looks = 11,
            .looks = 12,
            .targets_seen = 99,
            .errors = errors,
            .error_count = 2}};
    return 0;
}

static void render(enum metrics_format format, struct buffer *buffer)
{
    buffer_init(buffer);
    present_metrics(&page, format, buffer);
    assert_int_equal(buffer_error(buffer), 0);
}

static void shows_every_family(void **state)
{
    struct buffer buffer;

    (void)state;
    render(METRICS_OPENMETRICS, &buffer);
    assert_golden("metrics-open.txt", &buffer);
    buffer_release(&buffer);
    render(METRICS_CLASSIC, &buffer);
    assert_golden("metrics-classic.txt", &buffer);
    buffer_release(&buffer);
}

/* ---- the grammar */

struct checker {
    char families[FAMILIES_MAX][NAME_BYTES];
    size_t family_count;
    char unit[NAME_BYTES]; /* of the family that is open */
    char type[NAME_BYTES];
    const char *lines[LINES_MAX];
    size_t sample_count;
};

static void check_metadata(struct checker *checker, const char *line)
{
    char word[NAME_BYTES];
    char name[NAME_BYTES];
    char value[NAME_BYTES];

    assert_int_equal(sscanf(line, "# %127s %127s %127s", word, name, value), 3);
    const char *last =
        checker->family_count > 0 ? checker->families[checker->family_count - 1] : "";
    if (strcmp(name, last) != 0) {
        for (size_t i = 0; i < checker->family_count; i++) {
            assert_string_not_equal(name, checker->families[i]); /* interleaved */
        }
        assert_true(checker->family_count < FAMILIES_MAX);
        memcpy(checker->families[checker->family_count++], name, sizeof(name));
        checker->unit[0] = '\0';
        checker->type[0] = '\0';
    }
    if (strcmp(word, "UNIT") == 0) {
        const size_t bytes = strlen(value);
        assert_true(strlen(name) > bytes + 1);
        assert_string_equal(name + strlen(name) - bytes, value);
    } else if (strcmp(word, "TYPE") == 0) {
        assert_true(strcmp(value, "gauge") == 0 || strcmp(value, "counter") == 0 ||
                    strcmp(value, "info") == 0);
        memcpy(checker->type, value, sizeof(value));
    } else {
        assert_string_equal(word, "HELP");
    }
}

/* Returns what stands behind the labels. */
static const char *check_labels(const char *text)
{
    while (*text != '}') {
        assert_true(islower((unsigned char)*text));
        text += strspn(text, "abcdefghijklmnopqrstuvwxyz_");
        assert_memory_equal(text, "=\"", 2);
        for (text += 2; *text != '"'; text++) {
            assert_true((unsigned char)*text >= ' ');
            if (*text == '\\') {
                text++;
                assert_non_null(strchr("\\\"n", *text));
            }
        }
        text += text[1] == ',' ? 2 : 1;
    }
    return text + 1;
}

static void check_sample(
    struct checker *checker, enum metrics_format format, const char *line)
{
    const char *family = checker->families[checker->family_count - 1];
    const size_t bytes = strcspn(line, "{ ");
    const char *suffix = line + strlen(family);
    const char *behind = line + bytes;
    char *end = NULL;

    assert_true(bytes >= strlen(family));
    assert_memory_equal(line, family, strlen(family));
    if (format == METRICS_CLASSIC || strcmp(checker->type, "gauge") == 0) {
        assert_int_equal(bytes, strlen(family));
    } else {
        assert_memory_equal(suffix,
            strcmp(checker->type, "info") == 0 ? "_info" : "_total",
            bytes - strlen(family));
    }
    if (*behind == '{') {
        behind = check_labels(behind + 1);
    }
    assert_int_equal(*behind, ' ');
    (void)strtod(behind + 1, &end);
    assert_true(end > behind + 1 && *end == '\0');
    for (size_t i = 0; i < checker->sample_count; i++) { /* the same series twice */
        const size_t series = (size_t)(behind - line);
        assert_false(strncmp(checker->lines[i], line, series + 1) == 0);
    }
    checker->lines[checker->sample_count++] = line;
}

static void check_page(enum metrics_format format)
{
    static struct checker checker;
    struct buffer buffer;
    bool ended = false;

    checker = (struct checker){.family_count = 0};
    render(format, &buffer);
    for (char *line = buffer.data; *line != '\0';) {
        char *end = strchr(line, '\n');
        assert_non_null(end);
        *end = '\0';
        assert_false(ended);
        if (strcmp(line, "# EOF") == 0) {
            ended = true;
        } else if (*line == '#') {
            check_metadata(&checker, line);
        } else {
            check_sample(&checker, format, line);
        }
        line = end + 1;
    }
    assert_int_equal(ended, format == METRICS_OPENMETRICS);
    assert_true(checker.sample_count > 50);
    buffer_release(&buffer);
}

static void keeps_the_grammar(void **state)
{
    (void)state;
    check_page(METRICS_OPENMETRICS);
    check_page(METRICS_CLASSIC);
}

/* ---- single promises */

static bool page_has(const char *text)
{
    struct buffer buffer;

    render(METRICS_OPENMETRICS, &buffer);
    bool has = strstr(buffer_text(&buffer), text) != NULL;
    buffer_release(&buffer);
    return has;
}

static void never_shows_what_is_not_known(void **state)
{
    (void)state;
    assert_true(page_has("strata_residual_bytes{name=\"mariadbd\""));
    samples[0].snapshot.layers[LAYER_RESIDUAL].bound = BOUND_AT_LEAST; /* some members */
    assert_false(page_has("strata_residual_bytes{name=\"mariadbd\""));
    samples[0].snapshot.layers[LAYER_RESIDUAL].bound = BOUND_NONE;
    samples[0].snapshot.layers[LAYER_RESIDUAL].state = FACT_DENIED;
    assert_false(page_has("strata_residual_bytes{name=\"mariadbd\""));
    assert_true(page_has("strata_host_mem_total_bytes 25769803776\n"));
    host.host.values[HOST_FACT_MEM_TOTAL].state = FACT_MALFORMED;
    assert_false(page_has("strata_host_mem_total_bytes"));
    page.host = NULL;
    assert_false(page_has("strata_resident_bytes"));
    assert_true(page_has("strata_build_info{version=\"1.2.3\"} 1\n"));
}

/* A sum over members of which one is not known would be too small. */
static void adds_up_whole_groups_only(void **state)
{
    static struct process_facts members[2];
    static struct facts two;

    (void)state;
    two = (struct facts){.processes = members, .process_count = 2};
    for (int i = 0; i < 2; i++) {
        members[i].cgroup_index = -1;
        members[i].values[PROCESS_FACT_VM_SWAP] =
            (struct fact){.value = 4096, .state = FACT_OK};
    }
    targets[3].members = &two;
    targets[3].labels.name = "two";
    assert_true(page_has("strata_process_vm_swap_bytes{name=\"two\"} 8192\n"));
    members[1].values[PROCESS_FACT_VM_SWAP].state = FACT_DENIED;
    assert_false(page_has("strata_process_vm_swap_bytes{name=\"two\"}"));
}

static void escapes_names(void **state)
{
    (void)state;
    assert_true(page_has("name=\"a \\\"b\\\\c?d??[2J\",pid=\"4711\""));
}

static void tells_negative_layers(void **state)
{
    (void)state;
    samples[0].snapshot.layers[LAYER_RESIDUAL].state = FACT_OK;
    samples[0].snapshot.layers[LAYER_RESIDUAL].bytes = -4096;
    assert_true(page_has(
        "strata_residual_bytes{name=\"mariadbd\",unit=\"mariadb.service\"} -4096\n"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(shows_every_family, setup),
        cmocka_unit_test_setup(keeps_the_grammar, setup),
        cmocka_unit_test_setup(never_shows_what_is_not_known, setup),
        cmocka_unit_test_setup(adds_up_whole_groups_only, setup),
        cmocka_unit_test_setup(escapes_names, setup),
        cmocka_unit_test_setup(tells_negative_layers, setup),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
