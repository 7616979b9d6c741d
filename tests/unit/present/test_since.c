/* test_since.c - the block "Since" on the screen and in JSON, with each verdict. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>
#include <jansson.h>

#include "golden.h"
#include "present/since_json.h"
#include "present/since_text.h"

#define MIB INT64_C(1048576)

static const struct rule arenas = {.id = "glibc-arenas"};
static const struct rule threshold = {.id = "glibc-mmap-threshold"};
static const struct rule retained = {.id = "glibc-retained"};
static const struct rule cache = {.id = "mysql-thread-cache"};
static const struct rule lazy = {.id = "lazy-free"};
static const struct rule schema = {.id = "mysql-schema-memory"};
static const struct finding findings[] = {
    {.rule = &arenas, .confidence = CONFIDENCE_LIKELY},
    {.rule = &threshold, .confidence = CONFIDENCE_ROUGH},
    {.rule = &retained, .pid = 812},
    {.rule = &cache, .confidence = CONFIDENCE_ROUGH},
    {.rule = &schema, .confidence = CONFIDENCE_LIKELY},
    {.rule = &lazy, .confidence = CONFIDENCE_MEASURED},
};
static const struct facts before = {.taken_at_unix_ns = INT64_C(1790000000123456789)};

static struct since_promise promises[] = {
    {.finding = &findings[0],
        .verdict = SINCE_AS_PROMISED,
        .force = SINCE_IN_FORCE,
        .force_text = "at most 2 arenas",
        .together = true,
        .measure = "resident and free in malloc",
        .before_bytes = 158 * MIB,
        .now_bytes = 48 * MIB,
        .low_bytes = 90 * MIB,
        .high_bytes = 150 * MIB},
    {.finding = &findings[1],
        .verdict = SINCE_NOT_MADE,
        .force = SINCE_NOT_IN_FORCE,
        .force_text = "thresholds of malloc are not set",
        .found_now = true,
        .measure = "resident and free in malloc",
        .before_bytes = 158 * MIB,
        .now_bytes = 48 * MIB,
        .high_bytes = 30 * MIB},
    {.finding = &findings[2], .verdict = SINCE_ENDED},
    {.finding = &findings[3],
        .verdict = SINCE_LESS,
        .measure = "resident and free in malloc",
        .before_bytes = 48 * MIB,
        .now_bytes = 60 * MIB,
        .low_bytes = -8 * MIB,
        .high_bytes = 30 * MIB,
        .why = "blocks in use grew by 20.0 MiB meanwhile"},
    {.finding = &findings[4], .verdict = SINCE_UNLIKE, .high_bytes = 64 * MIB},
    {.finding = &findings[5],
        .verdict = SINCE_AS_PROMISED,
        .measure = "given up and still resident",
        .before_bytes = 90 * MIB,
        .low_bytes = 90 * MIB,
        .high_bytes = 90 * MIB},
};

static struct since since_of(bool restarted)
{
    return (struct since){.before = &before,
        .source = "bef\033[2Jore.strata",
        .restarted = restarted,
        .unlike = "up 5 min now, 2 d 3 h then",
        .layers = {{LAYER_TRACKED, 470 * MIB, 471 * MIB},
            {LAYER_IN_USE, 500 * MIB, 501 * MIB}, {LAYER_HELD, 900 * MIB, 700 * MIB},
            {LAYER_FREE_RESIDENT, 158 * MIB, 48 * MIB},
            {LAYER_RESIDENT, 1300 * MIB, 1190 * MIB}, {LAYER_RESIDUAL, -MIB, 2 * MIB}},
        .layer_count = 6,
        .promises = promises,
        .promise_count = sizeof(promises) / sizeof(promises[0])};
}

static void shows(
    const struct since *since, const struct present_style *style, const char *golden)
{
    struct buffer buffer;
    struct page page;

    buffer_init(&buffer);
    page_init(&page, style, &buffer);
    since_text(&page, since, SIZE_MAX);
    page_end_line(&page);
    assert_golden(golden, &buffer);
    buffer_release(&buffer);
}

static void shows_each_verdict(void **state)
{
    struct present_style style = {.utf8 = true, .width = 80};
    struct since since = since_of(true);

    (void)state;
    shows(&since, &style, "since.txt");
    style.unfolded = true;
    style.exact_bytes = true;
    shows(&since, &style, "since-all-bytes.txt");
}

static void shows_that_nothing_was_promised(void **state)
{
    const struct present_style style = {.width = 80};
    struct since since = since_of(false);

    (void)state;
    since.promise_count = 0;
    since.unlike = NULL;
    shows(&since, &style, "since-nothing.txt");
}

static void writes_json(void **state)
{
    const struct since since = since_of(true);
    struct json_writer json;
    struct buffer buffer;

    (void)state;
    buffer_init(&buffer);
    json_writer_init(&json, &buffer, 2);
    since_json(&json, &since);
    buffer_append_char(&buffer, '\n');
    assert_golden("since.json", &buffer);
    json_t *document = json_loads(buffer_text(&buffer), JSON_REJECT_DUPLICATES, NULL);
    assert_non_null(document);
    json_decref(document);
    buffer_release(&buffer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(shows_each_verdict),
        cmocka_unit_test(shows_that_nothing_was_promised),
        cmocka_unit_test(writes_json),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
