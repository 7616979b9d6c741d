/* test_smaps.c - mappings: odd paths, flags, numbers, and text that contradicts itself. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts/smaps.h"
#include "fixture.h"

#define KIB UINT64_C(1024)

struct smaps_test {
    struct facts_root root;
    struct process_folder folder;
    struct region region;
    struct process_facts process;
};

static int open_odd(void **state)
{
    static struct smaps_test test;

    test = (struct smaps_test){0};
    region_init(&test.region, 16 << 20);
    fixture_open(&test.root, "odd-process");
    fixture_process(&test.root, 30176, &test.folder);
    *state = &test;
    return 0;
}

static int close_odd(void **state)
{
    struct smaps_test *test = *state;

    process_folder_close(&test->folder);
    facts_root_close(&test->root);
    region_release(&test->region);
    return 0;
}

static const struct mapping *at(const struct smaps_test *test, uint64_t start)
{
    for (size_t i = 0; i < test->process.mapping_count; i++) {
        if (test->process.mappings[i].start == start) {
            return &test->process.mappings[i];
        }
    }
    fail_msg("no mapping at %llx", (unsigned long long)start);
    return NULL;
}

static int parse(struct smaps_test *test, const char *text)
{
    char *copy = strdup(text);

    assert_non_null(copy);
    int rc = smaps_parse(copy, strlen(text), &test->region, &test->process);
    free(copy);
    return rc;
}

static void odd_paths_are_what_the_kernel_meant(void **state)
{
    struct smaps_test *test = *state;
    const struct mapping *mapping;

    assert_int_equal(smaps_read(&test->folder, true, &test->region, &test->process), 0);
    assert_int_equal(test->process.mappings_state, FACT_OK);
    assert_true(test->process.mappings_have_values);
    assert_int_equal(test->process.mapping_count, 33);

    mapping = at(test, 0x7fb5e2f80000);
    assert_string_equal(mapping->path, "/srv/fixture/d d/a b\nc");
    assert_true(mapping->deleted);
    assert_int_equal(mapping->permissions, MAPPING_READ | MAPPING_WRITE | MAPPING_SHARED);
    assert_int_equal(mapping->device_major, 0xfe);
    assert_int_equal(mapping->inode, 11173923);

    mapping = at(test, 0x7fb5e3080000);
    assert_string_equal(mapping->path, "/memfd:my memfd\nnl");
    assert_string_equal(at(test, 0x7fb5e2c80000)->path, "/dev/zero");
    assert_string_equal(at(test, 0x7fb5e2d80000)->path, "/SYSV00000000");
    assert_string_equal(at(test, 0x7fb5e0f00000)->path, "");
    assert_false(at(test, 0x7fb5e0f00000)->deleted);
    assert_string_equal(at(test, 0x7ffee3848000)->path, "[stack]");
    assert_true((at(test, 0x7ffee3848000)->flags & MAPPING_GROWSDOWN) != 0);
    assert_true(at(test, 0xffffffffff600000)->end == 0xffffffffff601000);
    assert_int_equal(at(test, 0x7fb5e34ff000)->offset_bytes, 0x17c000);
}

static void numbers_of_all_mappings_sum_to_the_resident_set(void **state)
{
    struct smaps_test *test = *state;
    uint64_t rss = 0;
    uint64_t locked = 0;
    uint64_t lazy = 0;

    assert_int_equal(smaps_read(&test->folder, true, &test->region, &test->process), 0);
    for (size_t i = 0; i < test->process.mapping_count; i++) {
        const struct mapping *mapping = &test->process.mappings[i];
        assert_int_equal(mapping->values[MAPPING_FACT_RSS].state, FACT_OK);
        rss += mapping->values[MAPPING_FACT_RSS].value;
        locked += mapping->values[MAPPING_FACT_LOCKED].value;
        lazy += mapping->values[MAPPING_FACT_LAZY_FREE].value;
    }
    assert_int_equal(rss, 21604 * KIB); /* VmRSS of the same moment */
    assert_int_equal(locked, 1024 * KIB);
    assert_int_equal(lazy, 4096 * KIB);
}

static void without_values_maps_is_enough(void **state)
{
    struct smaps_test *test = *state;

    /* The fixture has no maps, and a kernel without smaps has no smaps. */
    assert_int_equal(
        smaps_read(&test->folder, false, &test->region, &test->process), -ENOENT);
    assert_int_equal(test->process.mappings_state, FACT_ABSENT);
}

static void a_mapping_that_merged_meanwhile_is_clipped_and_stale(void **state)
{
    struct smaps_test *test = *state;

    assert_int_equal(parse(test, "1000-3000 rw-p 00000000 00:00 0 \n"
                                 "Rss:                   8 kB\n"
                                 "2000-5000 rw-p 00001000 00:00 0 \n"
                                 "Rss:                  12 kB\n"
                                 "2000-3000 rw-p 00000000 00:00 0 \n"
                                 "Rss:                   4 kB\n"
                                 "5000-6000 rw-p 00000000 00:00 0 \n"
                                 "Rss:                   4 kB\n"),
        0);
    assert_int_equal(test->process.mapping_count, 3);
    assert_true(test->process.mappings[1].start == 0x3000);
    assert_true(test->process.mappings[1].offset_bytes == 0x2000);
    assert_int_equal(
        test->process.mappings[1].values[MAPPING_FACT_RSS].state, FACT_STALE);
    assert_int_equal(test->process.mappings[1].values[MAPPING_FACT_RSS].value, 12 * KIB);
    assert_int_equal(test->process.mappings[0].values[MAPPING_FACT_RSS].state, FACT_OK);
    assert_int_equal(test->process.mappings[2].values[MAPPING_FACT_RSS].state, FACT_OK);
}

static void keys_do_not_match_by_their_start(void **state)
{
    struct smaps_test *test = *state;

    assert_int_equal(parse(test, "1000-3000 rw-p 00000000 00:00 0 [heap]\n"
                                 "Pss:                   8 kB\n"
                                 "Pss_Dirty:            99 kB\n"
                                 "Pss_Anon:             99 kB\n"
                                 "NewKey:               99 kB\n"
                                 "Rs:                   99 kB\n"
                                 ":                     99 kB\n"
                                 "ProtectionKey:         0\n"
                                 "VmFlags: rd wr mr mw me ac nr hg xx nrx \n"),
        0);
    const struct mapping *mapping = &test->process.mappings[0];
    assert_int_equal(mapping->values[MAPPING_FACT_PSS].value, 8 * KIB);
    assert_int_equal(mapping->values[MAPPING_FACT_RSS].state, FACT_ABSENT);
    assert_int_equal(mapping->flags, MAPPING_NORESERVE | MAPPING_HUGEPAGE);
}

static void text_that_is_none_is_malformed(void **state)
{
    static const char *const wrong[] = {"Rss: 4 kB\n", "hello\n",
        "3000-1000 rw-p 00000000 00:00 0 \n", "1000-1000 rw-p 00000000 00:00 0 \n",
        "1000-2000 rw-q 00000000 00:00 0 \n", "1000-2000 wr-p 00000000 00:00 0 \n",
        "1000-2000 rw-p 00000000 00:00 \n", "1000-2000 rw-p 00000000 0000 0\n",
        "1000-2000 rw-p 00000000 00:00 0x\n", "1000-2000\n", "1000\n",
        "10000000000000000-2 rw-p 00000000 00:00 0\n",
        "1000-2000 rw-p 00000000 100000000:00 0\n"};
    struct smaps_test *test = *state;

    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++) {
        assert_int_equal(parse(test, wrong[i]), -EINVAL);
        assert_int_equal(test->process.mappings_state, FACT_MALFORMED);
    }
    assert_int_equal(parse(test, ""), 0);
    assert_int_equal(test->process.mapping_count, 0);
}

static void many_mappings_keep_their_order_and_numbers(void **state)
{
    enum { MANY = 1000 };
    struct smaps_test *test = *state;
    struct buffer text;

    buffer_init(&text);
    for (unsigned i = 0; i < MANY; i++) {
        buffer_printf(&text, "%x-%x rw-p 00000000 00:00 0 /f%u\nRss: %u kB\n",
            (i + 1) * 0x2000, (i + 1) * 0x2000 + 0x1000, i / 2, i);
    }
    assert_int_equal(parse(test, buffer_text(&text)), 0);
    buffer_release(&text);
    assert_int_equal(test->process.mapping_count, MANY);
    for (uint64_t i = 0; i < MANY; i++) {
        const struct mapping *mapping = &test->process.mappings[i];
        assert_int_equal(mapping->start, (i + 1) * 0x2000);
        assert_int_equal(mapping->values[MAPPING_FACT_RSS].value, i * KIB);
        /* A path is stored once for neighbours that share it. */
        assert_true(i % 2 == 0 || mapping->path == mapping[-1].path);
    }
}

static void what_was_read_before_a_bad_line_stays(void **state)
{
    struct smaps_test *test = *state;

    assert_int_equal(parse(test, "1000-3000 rw-p 00000000 00:00 0 [heap]\nRss: 8 kB\n"
                                 "4000-3000 rw-p 00000000 00:00 0\n"),
        -EINVAL);
    assert_int_equal(test->process.mapping_count, 1);
    assert_int_equal(test->process.mappings_state, FACT_MALFORMED);
}

static void rollup_rows_are_told_apart(void **state)
{
    char text[] = "40d6a000-7fffad6f4000 ---p 00000000 00:00 0                 [rollup]\n"
                  "Rss:               70652 kB\nPss:               35558 kB\n"
                  "Pss_Dirty:         15000 kB\nPss_Anon:           8107 kB\n"
                  "Pss_File:           4155 kB\nPss_Shmem:         23295 kB\n"
                  "Private_Dirty:      7376 kB\nAnonymous:         11544 kB\n";
    struct process_facts process = {0};

    (void)state;
    smaps_rollup_parse(text, strlen(text), &process);
    assert_int_equal(process.values[PROCESS_FACT_PSS].value, 35558 * KIB);
    assert_int_equal(process.values[PROCESS_FACT_PSS_ANON].value, 8107 * KIB);
    assert_int_equal(process.values[PROCESS_FACT_PSS_SHMEM].value, 23295 * KIB);
    assert_int_equal(process.values[PROCESS_FACT_ROLLUP_RSS].value, 70652 * KIB);
    assert_int_equal(process.values[PROCESS_FACT_VM_RSS].state, FACT_ABSENT);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            odd_paths_are_what_the_kernel_meant, open_odd, close_odd),
        cmocka_unit_test_setup_teardown(
            numbers_of_all_mappings_sum_to_the_resident_set, open_odd, close_odd),
        cmocka_unit_test_setup_teardown(
            without_values_maps_is_enough, open_odd, close_odd),
        cmocka_unit_test_setup_teardown(
            a_mapping_that_merged_meanwhile_is_clipped_and_stale, open_odd, close_odd),
        cmocka_unit_test_setup_teardown(
            keys_do_not_match_by_their_start, open_odd, close_odd),
        cmocka_unit_test_setup_teardown(
            text_that_is_none_is_malformed, open_odd, close_odd),
        cmocka_unit_test_setup_teardown(
            many_mappings_keep_their_order_and_numbers, open_odd, close_odd),
        cmocka_unit_test_setup_teardown(
            what_was_read_before_a_bad_line_stays, open_odd, close_odd),
        cmocka_unit_test(rollup_rows_are_told_apart),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
