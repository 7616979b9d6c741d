/* test_mysql_answer.c - recorded and hostile streams of answers into facts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/mysql_answer.h"
#include "facts/mysql_statement.h"
#include "fixture.h"

enum { FILE_BYTES = 1 << 20, REGION_BYTES = 16 << 20 };

struct answer {
    struct region region;
    struct mysql_facts mysql;
};

static void read_stream(struct answer *answer, const char *stream, bool finished)
{
    region_init(&answer->region, REGION_BYTES);
    answer->mysql = (struct mysql_facts){0};
    assert_int_equal(mysql_answer_read(stream, strlen(stream), finished, &answer->region,
                         &answer->mysql),
        0);
}

static char *read_fixture(const char *name)
{
    char path[512];
    char *text = calloc(1, FILE_BYTES);
    FILE *file;

    assert_non_null(text);
    (void)snprintf(path, sizeof(path), "%s/mysql/%s", fixture_folder(), name);
    file = fopen(path, "re");
    if (file == NULL) {
        fail_msg("cannot open '%s'", path);
    }
    assert_true(fread(text, 1, FILE_BYTES - 1, file) > 0);
    assert_int_equal(fclose(file), 0);
    return text;
}

static uint64_t value(const struct answer *answer, enum mysql_fact id)
{
    assert_int_equal(answer->mysql.values[id].state, FACT_OK);
    return answer->mysql.values[id].value;
}

static void mariadb_tells_everything(void **state)
{
    char *text = read_fixture("mariadb-10.11-churn.jsonl");
    struct answer answer;

    (void)state;
    read_stream(&answer, text, true);
    assert_int_equal(answer.mysql.state, FACT_OK);
    assert_int_equal(answer.mysql.family, MYSQL_MARIADB);
    assert_string_equal(answer.mysql.malloc_library, "system");
    assert_string_equal(answer.mysql.thread_handling, "one-thread-per-connection");
    assert_int_equal(answer.mysql.memory_state, FACT_OK);
    assert_int_equal(answer.mysql.since, MYSQL_SINCE_START);
    assert_int_equal(value(&answer, MYSQL_FACT_POOL_BYTES), 134217728);
    assert_int_equal(value(&answer, MYSQL_FACT_INSTRUMENTED_POOL), 134217728);
    assert_int_equal(value(&answer, MYSQL_FACT_INSTRUMENTS), 268);
    assert_int_equal(value(&answer, MYSQL_FACT_INSTRUMENTS_ON), 268);
    assert_int_equal(value(&answer, MYSQL_FACT_PERFORMANCE_SCHEMA), 1);
    assert_int_equal(value(&answer, MYSQL_FACT_THREAD_CACHE_SIZE), 0);
    assert_true(value(&answer, MYSQL_FACT_THREADS_CREATED) > 100);
    assert_int_equal(
        answer.mysql.values[MYSQL_FACT_CONNECTION_MEMORY].state, FACT_ABSENT);
    assert_true(answer.mysql.thread_count > 0);
    assert_true(answer.mysql.account_count > 0);
    uint64_t sum = 0;
    for (size_t i = 0; i < answer.mysql.event_count; i++) {
        sum += (uint64_t)answer.mysql.events[i].bytes;
        assert_true(
            i == 0 || answer.mysql.events[i].bytes <= answer.mysql.events[i - 1].bytes);
    }
    assert_int_equal(sum, value(&answer, MYSQL_FACT_INSTRUMENTED));
    region_release(&answer.region);
    free(text);
}

static void mysql_tells_the_same_by_its_own_names(void **state)
{
    char *text = read_fixture("mysql-9.7.jsonl");
    struct answer answer;

    (void)state;
    read_stream(&answer, text, true);
    assert_int_equal(answer.mysql.state, FACT_OK);
    assert_int_equal(answer.mysql.family, MYSQL_MYSQL);
    assert_int_equal(answer.mysql.memory_state, FACT_OK);
    assert_int_equal(answer.mysql.since, MYSQL_SINCE_START);
    assert_int_equal(value(&answer, MYSQL_FACT_INSTRUMENTS), 507);
    assert_int_equal(value(&answer, MYSQL_FACT_THREAD_CACHE_SIZE), 9);
    assert_int_equal(value(&answer, MYSQL_FACT_MAX_CONNECTIONS), 151);
    assert_int_equal(answer.mysql.values[MYSQL_FACT_MEMORY_USED].state, FACT_ABSENT);
    assert_int_equal(answer.mysql.values[MYSQL_FACT_ARIA_CACHE_BYTES].state, FACT_ABSENT);
    assert_true(value(&answer, MYSQL_FACT_CONNECTION_MEMORY) < 1 << 30);
    assert_true(value(&answer, MYSQL_FACT_TEMPTABLE_BYTES) > 0);
    assert_true(value(&answer, MYSQL_FACT_INSTRUMENTED) > 400 << 20);
    assert_true(answer.mysql.event_count > 100);
    region_release(&answer.region);
    free(text);
}

static void rows_below_zero_are_summed_apart(void **state)
{
    struct answer answer;

    (void)state;
    read_stream(&answer,
        "{\"step\":\"connect\",\"version\":\"8.4.3\"}\n"
        "{\"step\":\"variables\",\"rows\":[[\"innodb_buffer_pool_size\",\"1000\"]]}\n"
        "{\"step\":\"status\",\"rows\":[[\"Uptime\",\"5\"]]}\n"
        "{\"step\":\"instruments\",\"rows\":[[\"10\",\"9\",\"1\"]]}\n"
        "{\"step\":\"events\",\"rows\":[[\"memory/sql/a\",\"-20\",\"0\",\"-1\"],"
        "[\"memory/sql/b\",\"100\",\"120\",\"3\"]]}\n",
        true);
    assert_int_equal(answer.mysql.family, MYSQL_MYSQL);
    assert_int_equal(value(&answer, MYSQL_FACT_INSTRUMENTED), 80);
    assert_int_equal(value(&answer, MYSQL_FACT_INSTRUMENTED_NEGATIVE), 20);
    assert_int_equal(value(&answer, MYSQL_FACT_NEGATIVE_ROWS), 1);
    assert_int_equal(answer.mysql.since, MYSQL_SINCE_LATER);
    assert_string_equal(answer.mysql.events[0].name, "memory/sql/b");
    region_release(&answer.region);
}

static void assert_state(const char *stream, bool finished, uint32_t state,
    uint32_t memory_state, const char *why)
{
    struct answer answer;

    read_stream(&answer, stream, finished);
    assert_int_equal(answer.mysql.state, state);
    assert_int_equal(answer.mysql.memory_state, memory_state);
    const char *said =
        answer.mysql.state != FACT_OK ? answer.mysql.why : answer.mysql.memory_why;
    assert_non_null(said);
    if (strstr(said, why) == NULL) {
        fail_msg("'%s' does not say '%s'", said, why);
    }
    region_release(&answer.region);
}

#define CONNECTED "{\"step\":\"connect\",\"version\":\"10.11.19-MariaDB\"}\n"
#define STATUS "{\"step\":\"status\",\"rows\":[[\"Uptime\",\"5\"]]}\n"

static void every_failure_has_state_and_reason(void **state)
{
    (void)state;
    assert_state("{\"step\":\"library\",\"error\":-1,\"text\":\"package libmariadb3\"}\n",
        true, FACT_ABSENT, FACT_ABSENT, "libmariadb3");
    assert_state("{\"step\":\"connect\",\"error\":1045,\"text\":\"Access denied\"}\n",
        true, FACT_DENIED, FACT_ABSENT, "[strata]");
    assert_state("{\"step\":\"connect\",\"error\":2002,\"text\":\"Can't connect\"}\n",
        true, FACT_ABSENT, FACT_ABSENT, "Can't connect");
    assert_state("{\"step\":\"connect\",\"error\":-2,\"text\":\"another process\"}\n",
        true, FACT_ABSENT, FACT_ABSENT, "another process");
    assert_state("", false, FACT_ABSENT, FACT_ABSENT, "in time");
    assert_state("", true, FACT_MALFORMED, FACT_ABSENT, "not MySQL's");
    assert_state(CONNECTED, false, FACT_GONE, FACT_ABSENT, "stopped answering");
    assert_state(CONNECTED
        "{\"step\":\"variables\",\"error\":2013,\"text\":\"Lost connection\"}\n",
        true, FACT_GONE, FACT_ABSENT, "longer than a second");
    assert_state(CONNECTED STATUS
        "{\"step\":\"events\",\"error\":1142,\"text\":\"SELECT command denied\"}\n",
        true, FACT_OK, FACT_DENIED, "GRANT SELECT ON performance_schema.*");
    assert_state(CONNECTED STATUS
        "{\"step\":\"events\",\"error\":1969,\"text\":\"max_statement_time exceeded\"}\n",
        true, FACT_OK, FACT_ABSENT, "less busy");
    assert_state(CONNECTED
        "{\"step\":\"variables\",\"rows\":[[\"performance_schema\",\"OFF\"]]}\n" STATUS,
        true, FACT_OK, FACT_ABSENT, "performance_schema is OFF");
}

static void nonsense_is_malformed_and_stays_alone(void **state)
{
    static const char *const rows[] = {"[[\"memory/sql/a\",\"12x\",\"0\",\"1\"]]",
        "[[\"other/sql/a\",\"12\",\"0\",\"1\"]]",
        "[[\"memory/sql/a\",\"99999999999999999999\",\"0\",\"1\"]]",
        "[[\"memory/sql/a\",\"0\",\"0\",\"1\"]]", "[[\"memory/sql/a\"]]", "[[]]", "[5]",
        "[[1,2,3,4]]"};
    char stream[1024];
    struct answer answer;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        (void)snprintf(stream, sizeof(stream),
            CONNECTED STATUS "{\"step\":\"events\",\"rows\":%s}\n", rows[i]);
        read_stream(&answer, stream, true);
        assert_int_equal(answer.mysql.state, FACT_OK);
        assert_int_equal(answer.mysql.memory_state, FACT_MALFORMED);
        assert_int_equal(answer.mysql.event_count, 0);
        assert_int_equal(value(&answer, MYSQL_FACT_UPTIME), 5);
        assert_int_equal(
            answer.mysql.values[MYSQL_FACT_INSTRUMENTED].state, FACT_MALFORMED);
        region_release(&answer.region);
    }
}

static void a_value_that_is_no_number_is_malformed(void **state)
{
    struct answer answer;

    (void)state;
    read_stream(&answer,
        CONNECTED "{\"step\":\"status\",\"rows\":[[\"Connections\",\"7 or so\"],"
                  "[\"Threads_created\",\"-1\"],[\"THREADS_CACHED\",\"3\"],"
                  "[\"Memory_used\",\"18446744073709551615\"]]}\n",
        true);
    assert_int_equal(answer.mysql.values[MYSQL_FACT_CONNECTIONS].state, FACT_MALFORMED);
    assert_int_equal(answer.mysql.values[MYSQL_FACT_THREADS_CREATED].state, FACT_ABSENT);
    assert_int_equal(value(&answer, MYSQL_FACT_THREADS_CACHED), 3);
    assert_int_equal(value(&answer, MYSQL_FACT_MEMORY_USED), UINT64_C(1) << 50);
    region_release(&answer.region);
}

static void any_cut_of_a_stream_is_read(void **state)
{
    char *text = read_fixture("mariadb-10.11-churn.jsonl");
    const size_t length = strlen(text);
    /* From the end of the line with the status on, the server counts as asked. */
    const size_t whole = (size_t)(strstr(text, "{\"step\":\"instruments\"") - text);

    (void)state;
    for (size_t cut = 0; cut <= length; cut += 97) {
        struct answer answer;
        region_init(&answer.region, REGION_BYTES);
        answer.mysql = (struct mysql_facts){0};
        assert_int_equal(
            mysql_answer_read(text, cut, false, &answer.region, &answer.mysql), 0);
        assert_int_equal(answer.mysql.state == FACT_OK, cut >= whole);
        assert_true(answer.mysql.state == FACT_OK || answer.mysql.why != NULL);
        region_release(&answer.region);
    }
    free(text);
}

/* Reads only, and never the text of a statement. Is there one; does it limit time? */
static bool check_statement(
    enum mysql_step step, enum mysql_family family, size_t index, size_t *limits)
{
    struct buffer text;

    buffer_init(&text);
    const bool more = mysql_statement_text(step, family, index, &text);
    const char *said = buffer_text(&text);
    if (more) {
        assert_true(strncmp(said, "SELECT ", 7) == 0 ||
                    strncmp(said, "SHOW GLOBAL ", 12) == 0 ||
                    strncmp(said, "SET SESSION ", 12) == 0);
        assert_null(strstr(said, "INFO"));
        assert_null(strstr(said, "SQL_TEXT"));
        *limits += strstr(said, "max_statement_time") != NULL ||
                   strstr(said, "max_execution_time") != NULL;
    }
    buffer_release(&text);
    return more;
}

static void statements_only_read(void **state)
{
    (void)state;
    for (int family = MYSQL_MYSQL; family < MYSQL_FAMILY_COUNT; family++) {
        size_t limits = 0;
        for (int step = MYSQL_STEP_SESSION; step < MYSQL_STEP_COUNT; step++) {
            size_t count = 0;
            while (check_statement(
                (enum mysql_step)step, (enum mysql_family)family, count, &limits)) {
                count++;
            }
            assert_true(count > 0);
        }
        assert_int_equal(limits, 1);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(mariadb_tells_everything),
        cmocka_unit_test(mysql_tells_the_same_by_its_own_names),
        cmocka_unit_test(rows_below_zero_are_summed_apart),
        cmocka_unit_test(every_failure_has_state_and_reason),
        cmocka_unit_test(nonsense_is_malformed_and_stays_alone),
        cmocka_unit_test(a_value_that_is_no_number_is_malformed),
        cmocka_unit_test(any_cut_of_a_stream_is_read),
        cmocka_unit_test(statements_only_read),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
