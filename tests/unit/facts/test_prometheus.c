/* test_prometheus.c - answers of the API: recorded, broken, hostile. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "facts/prometheus.h"
#include "facts/web_value.h"

/* of Prometheus 2.42, shortened */
static const char recorded[] =
    "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":["
    "{\"metric\":{\"__name__\":\"strata_private_bytes\",\"instance\":\"127.0.0.1:9812\","
    "\"job\":\"strata\",\"name\":\"php-fpm8.2\",\"pool\":\"www\"},\"values\":"
    "[[1796058027,\"1015808\"],[1796058029.5,\"NaN\"],[1796058031,\"+Inf\"],"
    "[1796058033,\"2e6\"],[1796058035,\"12 bytes\"],[1796058037,\"\"]]},"
    "{\"metric\":{},\"values\":[]}]}}";

static struct region region;
static struct error error;
static struct prometheus_answer answer;

static int parse(const char *text)
{
    error_reset(&error);
    return prometheus_parse(&region, text, strlen(text), &answer, &error);
}

static int setup(void **state)
{
    (void)state;
    region_init(&region, 1 << 20);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    region_release(&region);
    return 0;
}

static void a_recorded_answer(void **state)
{
    (void)state;
    assert_int_equal(parse(recorded), 0);
    assert_int_equal(answer.count, 2);
    assert_string_equal(answer.series[0].instance, "127.0.0.1:9812");
    assert_string_equal(answer.series[0].pool, "www");
    assert_string_equal(answer.series[0].unit, "");
    assert_int_equal(answer.series[0].point_count, 2); /* what is no number is left out */
    assert_true(answer.series[0].points[0].value == 1015808);
    assert_true(answer.series[0].points[1].value == 2e6);
    assert_true(answer.series[0].points[1].at_s == 1796058033);
    assert_int_equal(answer.series[1].point_count, 0);
}

static void cut_anywhere_it_is_refused(void **state)
{
    char text[sizeof(recorded)];

    (void)state;
    for (size_t bytes = 0; bytes + 1 < sizeof(recorded); bytes++) {
        memcpy(text, recorded, bytes);
        text[bytes] = '\0';
        assert_int_equal(parse(text), -EBADMSG);
    }
}

static void what_is_no_matrix_is_refused(void **state)
{
    static const char unlisted[] =
        "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":"
        "[{\"metric\":{},\"values\":7}]}}";
    static const char *const texts[] = {"[]", "{}", "7", "<html></html>",
        "{\"status\":\"success\"}",
        "{\"status\":\"success\",\"data\":{\"resultType\":\"vector\",\"result\":[]}}",
        "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":{}}}",
        "{\"status\":\"success\",\"data\":{\"resultType\":\"matrix\",\"result\":[7]}}",
        unlisted};

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        assert_int_equal(parse(texts[i]), -EBADMSG);
    }
    assert_int_equal(
        parse("{\"status\":\"error\",\"error\":\"too many points\"}"), -EBADMSG);
    assert_non_null(strstr(error.text, "too many points"));
}

static void values_in_a_query_are_quoted(void **state)
{
    struct buffer url;

    (void)state;
    buffer_init(&url);
    web_append_value(&url, "a{b=\"c d\"}[1h]&x=\xc3\xa4~");
    assert_string_equal(
        buffer_text(&url), "a%7Bb%3D%22c%20d%22%7D%5B1h%5D%26x%3D%C3%A4~");
    buffer_release(&url);
}

static void a_url_is_shown_without_its_secret(void **state)
{
    static const struct {
        const char *url;
        const char *shown;
    } pairs[] = {
        {"ftp://u:secret@127.0.0.1:1/a@b", "ftp://***@127.0.0.1:1/a@b"},
        {"x://u:sec@ret@localhost?a@b", "x://***@localhost?a@b"},
        {"u:secret@localhost", "***@localhost"},
        {"http://localhost/a@b", "http://localhost/a@b"},
        {"", ""},
    };
    char url[2 * WEB_SHOWN_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(pairs) / sizeof(pairs[0]); i++) {
        assert_string_equal(web_shown(pairs[i].url).text, pairs[i].shown);
    }
    memset(url, 'a', sizeof(url) - 1);
    url[sizeof(url) - 1] = '\0';
    assert_int_equal(strlen(web_shown(url).text), WEB_SHOWN_BYTES - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_recorded_answer, setup, teardown),
        cmocka_unit_test_setup_teardown(cut_anywhere_it_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_no_matrix_is_refused, setup, teardown),
        cmocka_unit_test(values_in_a_query_are_quoted),
        cmocka_unit_test(a_url_is_shown_without_its_secret),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
