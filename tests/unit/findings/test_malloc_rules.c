/* test_malloc_rules.c - what an allocator keeps, and which one runs: rules/malloc.def at its edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "findings/advice.h"
#include "judged_server.h"

static void retained_speaks_from_a_tenth_on(void **state)
{
    struct judged_server *server = *state;
    struct glibc_arena *arena =
        builder_arena(&server->judged.facts, server->process, true, 200 * MIB);
    const struct finding *finding;

    arena->in_use_bytes = 120 * MIB;
    arena->free_resident_bytes = 6 * MIB;
    arena->top_resident_bytes = 4 * MIB;
    arena->trim_gain_bytes = 7 * MIB;
    arena->top_trimmable_bytes = 3 * MIB;
    judged_server_set_rss(server, 100 * MIB);
    assert_speaks(&server->judged, "glibc-retained", SEVERITY_INFO);
    finding = judged_finding(&server->judged, "glibc-retained");
    assert_predicts(finding, 7 * MIB, 7 * MIB);
    assert_int_equal(finding->confidence, CONFIDENCE_MEASURED);
    assert_int_equal(evidence_of(finding, "free_resident"), 10 * MIB);
    assert_int_equal(evidence_of(finding, "top_untrimmable"), 1 * MIB);
    assert_int_equal(finding->pid, 812);
    assert_non_null(strstr(finding->fix, "gdb -p 812 "));
    assert_null(strstr(finding->fix, "MALLOC_")); /* what lasts has findings of its own */

    judged_server_set_rss(server, 101 * MIB);
    assert_silent(&server->judged, "glibc-retained");

    arena->free_resident_bytes = arena->trim_gain_bytes = 60 * MIB;
    judged_server_set_rss(server, 320 * MIB);
    assert_speaks(&server->judged, "glibc-retained", SEVERITY_WARN);
    arena->plus_minus_bytes = 2 * MIB;
    assert_predicts(
        judged_finding(&server->judged, "glibc-retained"), 58 * MIB, 62 * MIB);
    judged_server_set_rss(server, 321 * MIB);
    assert_speaks(&server->judged, "glibc-retained", SEVERITY_INFO);
    arena->resident_state = FACT_DENIED;
    assert_silent(&server->judged, "glibc-retained");
}

static void fragmentation_speaks_of_holes_only(void **state)
{
    struct judged_server *server = *state;
    struct glibc_arena *arena =
        builder_arena(&server->judged.facts, server->process, true, 200 * MIB);
    const struct finding *finding;

    arena->free_resident_bytes = arena->trim_gain_bytes = 60 * MIB;
    judged_server_set_rss(server, 100 * MIB);
    assert_silent(&server->judged, "glibc-fragmentation"); /* not counted */
    arena->free_shared_bytes = fact_ok(10 * MIB);
    arena->free_chunks = 1000;
    arena->fast_chunks = 24;
    assert_speaks(&server->judged, "glibc-fragmentation", SEVERITY_INFO);
    finding = judged_finding(&server->judged, "glibc-fragmentation");
    assert_false(finding->predicts);
    assert_int_equal(evidence_of(finding, "free_shared"), 10 * MIB);
    assert_int_equal(evidence_of(finding, "each"), 10 * KIB);
    assert_non_null(strstr(finding->fix, "strata run -- "));
    assert_non_null(strstr(finding->fix, "LD_PRELOAD=libstrata-malloc.so"));
    assert_null(strstr(finding->fix, "MALLOC_ARENA_MAX"));
    judged_server_set_rss(server, 101 * MIB);
    assert_silent(&server->judged, "glibc-fragmentation");
    arena->free_shared_bytes = fact_ok(64 * MIB);
    judged_server_set_rss(server, 320 * MIB);
    assert_speaks(&server->judged, "glibc-fragmentation", SEVERITY_WARN);
    for (int i = 0; i < 3; i++) {
        builder_arena(&server->judged.facts, server->process, false, MIB);
    }
    finding = judged_finding(&server->judged, "glibc-fragmentation");
    assert_non_null(strstr(finding->fix, "MALLOC_ARENA_MAX=2"));
}

static void arenas_speak_when_a_cap_would_help(void **state)
{
    struct judged_server *server = *state;
    const struct finding *finding;

    server->process->values[PROCESS_FACT_THREADS] = fact_ok(40);
    judged_server_add_arenas(server, 16, 16 * MIB);
    judged_server_set_rss(server, 320 * MIB);
    assert_speaks(&server->judged, "glibc-arenas", SEVERITY_WARN);
    finding = judged_finding(&server->judged, "glibc-arenas");
    assert_int_equal(evidence_of(finding, "arenas"), 16);
    assert_int_equal(evidence_of(finding, "equal_arenas"), 16);
    assert_int_equal(evidence_of(finding, "retained"), 256 * MIB);
    /* of 256 MiB kept: sqrt(2/16), times 0.50 to 1.16 */
    assert_in_range(finding->predicted_low_bytes, 151 * MIB, 152 * MIB);
    assert_in_range(finding->predicted_high_bytes, 210 * MIB, 211 * MIB);
    assert_non_null(strstr(finding->fix, "MALLOC_ARENA_MAX=2"));

    judged_server_set_rss(server, 1100 * MIB);
    assert_speaks(&server->judged, "glibc-arenas", SEVERITY_INFO);
    judged_server_set_rss(server, 5 * GIB);
    assert_silent(&server->judged, "glibc-arenas");
}

static void arenas_are_silent_where_a_cap_is_no_advice(void **state)
{
    struct judged_server *server = *state;

    judged_server_set_rss(server, 320 * MIB);
    builder_arena(&server->judged.facts, server->process, true, 300 * MIB)
        ->free_resident_bytes = 200 * MIB;
    server->process->values[PROCESS_FACT_THREADS] = fact_ok(1);
    assert_silent(&server->judged, "glibc-arenas");

    for (size_t i = 0; i < 16; i++) {
        builder_arena(&server->judged.facts, server->process, false, 64 * MIB)
            ->free_resident_bytes = 16 * MIB;
    }
    server->process->glibc.parameters.arena_max = 2;
    assert_silent(&server->judged, "glibc-arenas");
    server->process->glibc.parameters.arena_max = 16;
    assert_non_null(judged_finding(&server->judged, "glibc-arenas"));
}

static void pinned_heap_names_the_block(void **state)
{
    struct judged_server *server = *state;
    struct glibc_arena *arena =
        builder_arena(&server->judged.facts, server->process, true, 200 * MIB);

    arena->free_resident_bytes = arena->trim_gain_bytes = 100 * MIB;
    arena->pin_address = 0x1000;
    arena->pin_bytes = 48;
    arena->pinned_free_bytes = 90 * MIB;
    judged_server_set_rss(server, 200 * MIB);
    assert_speaks(&server->judged, "glibc-pinned-heap", SEVERITY_WARN);
    assert_predicts(judged_finding(&server->judged, "glibc-pinned-heap"), 0, 90 * MIB);
    judged_server_set_rss(server, 500 * MIB);
    assert_speaks(&server->judged, "glibc-pinned-heap", SEVERITY_INFO);
    arena->pin_address = 0;
    assert_silent(&server->judged, "glibc-pinned-heap");
}

static void threshold_speaks_when_it_grew_and_keeps_memory(void **state)
{
    struct judged_server *server = *state;
    struct glibc_arena *arena =
        builder_arena(&server->judged.facts, server->process, false, 100 * MIB);
    struct glibc_parameters *parameters = &server->process->glibc.parameters;
    const struct finding *finding;

    arena->top_resident_bytes = 40 * MIB;
    judged_server_set_rss(server, 100 * MIB);
    assert_silent(&server->judged, "glibc-mmap-threshold");
    parameters->mmap_threshold_bytes = 20 * MIB;
    parameters->trim_threshold_bytes = 40 * MIB;
    assert_speaks(&server->judged, "glibc-mmap-threshold", SEVERITY_INFO);
    /* an end of 40 MiB; three quarters of the new 1 MiB may stay */
    finding = judged_finding(&server->judged, "glibc-mmap-threshold");
    assert_predicts(finding, 39 * MIB + 256 * KIB, 40 * MIB);
    assert_int_equal(finding->confidence, CONFIDENCE_LIKELY);
    assert_non_null(strstr(finding->fix, "MALLOC_TRIM_THRESHOLD_=1048576"));
    assert_null(strstr(finding->fix, "MALLOC_MMAP_THRESHOLD_"));
    /* and 40 MiB of holes: none to three quarters stay */
    arena->free_resident_bytes = 40 * MIB;
    finding = judged_finding(&server->judged, "glibc-mmap-threshold");
    assert_predicts(finding, 49 * MIB + 256 * KIB, 80 * MIB);
    assert_int_equal(finding->confidence, CONFIDENCE_ROUGH);
    arena->free_resident_bytes = 0;
    arena->top_resident_bytes = 70 * MIB;
    assert_speaks(&server->judged, "glibc-mmap-threshold", SEVERITY_WARN);
    judged_server_set_rss(server, 480 * MIB);
    assert_speaks(&server->judged, "glibc-mmap-threshold", SEVERITY_INFO);
    parameters->dynamic_threshold_off = true;
    assert_silent(&server->judged, "glibc-mmap-threshold");
}

/* Where thresholds grew a cap on arenas has a wide range, and the threshold is the advice. */
static void grown_thresholds_are_the_better_change(void **state)
{
    struct judged_server *server = *state;
    struct glibc_parameters *parameters = &server->process->glibc.parameters;
    const struct finding *arenas;
    struct advice advice;

    judged_server_add_arenas(server, 16, 2 * MIB);
    for (size_t i = 1; i <= 16; i++) {
        server->process->glibc.arenas[i].top_resident_bytes = 10 * MIB;
    }
    server->process->values[PROCESS_FACT_THREADS] = fact_ok(13);
    parameters->mmap_threshold_bytes = 19 * MIB;
    parameters->trim_threshold_bytes = 38 * MIB;
    judged_server_set_rss(server, 400 * MIB);
    arenas = judged_finding(&server->judged, "glibc-arenas");
    /* kept of 32 MiB of holes: 0.30 to 1.60; of 160 of ends: 0.15 to two thresholds */
    assert_non_null(arenas);
    assert_in_range(arenas->predicted_low_bytes, 60 * MIB, 62 * MIB);
    assert_in_range(arenas->predicted_high_bytes, 158 * MIB, 159 * MIB);
    assert_int_equal(arenas->confidence, CONFIDENCE_ROUGH);
    assert_non_null(strstr(arenas->reasoning, "glibc-mmap-threshold"));
    advice_of(&server->judged.list, &advice);
    assert_int_equal(advice.count, 1);
    assert_string_equal(advice.first[0]->rule->id, "glibc-mmap-threshold");
    /* 192 retained; 24 of the holes and 12 of the ends may stay */
    assert_int_equal(advice.low_bytes, 156 * MIB);
    assert_int_equal(advice.high_bytes, 192 * MIB);
}

static void opaque_allocators_are_named_once(void **state)
{
    struct judged_server *server = *state;

    builder_allocator(&server->judged.facts, server->process, ALLOCATOR_JEMALLOC);
    judged_server_set_rss(server, 8 * MIB);
    assert_speaks(&server->judged, "allocator-opaque", SEVERITY_INFO);
    builder_arena(&server->judged.facts, server->process, true, MIB);
    assert_silent(&server->judged, "allocator-opaque");
}

static void preload_that_failed_is_a_warning(void **state)
{
    struct judged_server *server = *state;

    server->process->preload_state = FACT_OK;
    assert_silent(&server->judged, "preload-not-active");
    server->process->preload_state = FACT_MALFORMED;
    assert_speaks(&server->judged, "preload-not-active", SEVERITY_WARN);
}

int main(void)
{
#define TEST(name)                                                                       \
    cmocka_unit_test_setup_teardown(name, judged_server_setup, judged_teardown)
    const struct CMUnitTest tests[] = {
        TEST(retained_speaks_from_a_tenth_on),
        TEST(fragmentation_speaks_of_holes_only),
        TEST(arenas_speak_when_a_cap_would_help),
        TEST(arenas_are_silent_where_a_cap_is_no_advice),
        TEST(pinned_heap_names_the_block),
        TEST(threshold_speaks_when_it_grew_and_keeps_memory),
        TEST(grown_thresholds_are_the_better_change),
        TEST(opaque_allocators_are_named_once),
        TEST(preload_that_failed_is_a_warning),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
