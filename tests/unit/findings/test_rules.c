/* test_rules.c - every rule at the edges of its threshold, and where it must be silent. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "judged.h"

struct fixture {
    struct judged judged;
    struct process_facts *process;
    struct cgroup_facts *cgroup;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    builder_init(&fixture->judged.facts);
    fixture->process = builder_process(&fixture->judged.facts, 812, "server");
    *state = fixture;
    return 0;
}

static void assert_range(const struct finding *finding, uint64_t low, uint64_t high)
{
    assert_non_null(finding);
    assert_true(finding->predicts);
    assert_int_equal(finding->predicted_low_bytes, low);
    assert_int_equal(finding->predicted_high_bytes, high);
}

/* A mapping of size, resident with rss, that is a bss: explained, and nobody's topic. */
static struct mapping *add_data(struct fixture *fixture, uint64_t rss)
{
    struct mapping *mapping = builder_mapping(&fixture->judged.facts, fixture->process,
        UINT64_C(0x600000000000), 8 * GIB, "rw-p", "[anon:x]");

    builder_set_rss(mapping, rss);
    return mapping;
}

static void set_rss(struct fixture *fixture, uint64_t rss)
{
    if (fixture->process->mapping_count == 0) {
        add_data(fixture, rss);
    } else {
        builder_set_rss(&fixture->process->mappings[0], rss);
    }
}

static void retained_speaks_from_a_tenth_on(void **state)
{
    struct fixture *fixture = *state;
    struct glibc_arena *arena =
        builder_arena(&fixture->judged.facts, fixture->process, true, 200 * MIB);
    const struct finding *finding;

    arena->in_use_bytes = 120 * MIB;
    arena->free_resident_bytes = 6 * MIB;
    arena->top_resident_bytes = 4 * MIB;
    arena->trim_gain_bytes = 7 * MIB;
    arena->top_trimmable_bytes = 3 * MIB;
    set_rss(fixture, 100 * MIB);
    assert_speaks(&fixture->judged, "glibc-retained", SEVERITY_INFO);
    finding = judged_finding(&fixture->judged, "glibc-retained");
    assert_range(finding, 7 * MIB, 7 * MIB);
    assert_int_equal(finding->confidence, CONFIDENCE_MEASURED);
    assert_int_equal(evidence_of(finding, "free_resident"), 10 * MIB);
    assert_int_equal(evidence_of(finding, "top_untrimmable"), 1 * MIB);
    assert_int_equal(finding->pid, 812);
    assert_non_null(strstr(finding->fix, "gdb -p 812 "));
    assert_non_null(strstr(finding->fix, "MALLOC_TRIM_THRESHOLD_=131072"));

    set_rss(fixture, 101 * MIB);
    assert_silent(&fixture->judged, "glibc-retained");

    arena->free_resident_bytes = arena->trim_gain_bytes = 60 * MIB;
    set_rss(fixture, 320 * MIB);
    assert_speaks(&fixture->judged, "glibc-retained", SEVERITY_WARN);
    arena->plus_minus_bytes = 2 * MIB;
    assert_range(judged_finding(&fixture->judged, "glibc-retained"), 58 * MIB, 62 * MIB);
    set_rss(fixture, 321 * MIB);
    assert_speaks(&fixture->judged, "glibc-retained", SEVERITY_INFO);
    arena->resident_state = FACT_DENIED;
    assert_silent(&fixture->judged, "glibc-retained");
}

static void fragmentation_speaks_of_holes_only(void **state)
{
    struct fixture *fixture = *state;
    struct glibc_arena *arena =
        builder_arena(&fixture->judged.facts, fixture->process, true, 200 * MIB);
    const struct finding *finding;

    arena->free_resident_bytes = arena->trim_gain_bytes = 60 * MIB;
    set_rss(fixture, 100 * MIB);
    assert_silent(&fixture->judged, "glibc-fragmentation"); /* not counted */
    arena->free_shared_bytes = fact_ok(10 * MIB);
    arena->free_chunks = 1000;
    arena->fast_chunks = 24;
    assert_speaks(&fixture->judged, "glibc-fragmentation", SEVERITY_INFO);
    finding = judged_finding(&fixture->judged, "glibc-fragmentation");
    assert_false(finding->predicts);
    assert_int_equal(evidence_of(finding, "free_shared"), 10 * MIB);
    assert_int_equal(evidence_of(finding, "each"), 10 * KIB);
    assert_non_null(strstr(finding->fix, "strata run -- "));
    assert_non_null(strstr(finding->fix, "LD_PRELOAD=libstrata-malloc.so"));
    assert_null(strstr(finding->fix, "MALLOC_ARENA_MAX"));
    set_rss(fixture, 101 * MIB);
    assert_silent(&fixture->judged, "glibc-fragmentation");
    arena->free_shared_bytes = fact_ok(64 * MIB);
    set_rss(fixture, 320 * MIB);
    assert_speaks(&fixture->judged, "glibc-fragmentation", SEVERITY_WARN);
    for (int i = 0; i < 3; i++) {
        builder_arena(&fixture->judged.facts, fixture->process, false, MIB);
    }
    finding = judged_finding(&fixture->judged, "glibc-fragmentation");
    assert_non_null(strstr(finding->fix, "MALLOC_ARENA_MAX=2"));
}

/* n arenas beside a main one that is empty; each keeps retained bytes. */
static void add_arenas(struct fixture *fixture, size_t count, uint64_t retained)
{
    builder_arena(&fixture->judged.facts, fixture->process, true, MIB);
    for (size_t i = 0; i < count; i++) {
        builder_arena(&fixture->judged.facts, fixture->process, false, 64 * MIB)
            ->free_resident_bytes = retained;
    }
}

static void arenas_speak_when_a_cap_would_help(void **state)
{
    struct fixture *fixture = *state;
    const struct finding *finding;

    fixture->process->values[PROCESS_FACT_THREADS] = fact_ok(40);
    add_arenas(fixture, 16, 16 * MIB);
    set_rss(fixture, 320 * MIB);
    assert_speaks(&fixture->judged, "glibc-arenas", SEVERITY_WARN);
    finding = judged_finding(&fixture->judged, "glibc-arenas");
    assert_int_equal(evidence_of(finding, "arenas"), 16);
    assert_int_equal(evidence_of(finding, "equal_arenas"), 16);
    assert_int_equal(evidence_of(finding, "retained"), 256 * MIB);
    /* of 256 MiB kept: sqrt(2/16), times 0.50 to 1.16 */
    assert_in_range(finding->predicted_low_bytes, 151 * MIB, 152 * MIB);
    assert_in_range(finding->predicted_high_bytes, 210 * MIB, 211 * MIB);
    assert_non_null(strstr(finding->fix, "MALLOC_ARENA_MAX=2"));

    set_rss(fixture, 1100 * MIB);
    assert_speaks(&fixture->judged, "glibc-arenas", SEVERITY_INFO);
    set_rss(fixture, 5 * GIB);
    assert_silent(&fixture->judged, "glibc-arenas");
}

/* Thresholds do nothing for holes in sixteen arenas. */
static void retained_in_many_arenas_is_cured_by_fewer(void **state)
{
    struct fixture *fixture = *state;
    const struct finding *finding;

    add_arenas(fixture, 16, 16 * MIB);
    set_rss(fixture, 320 * MIB);
    finding = judged_finding(&fixture->judged, "glibc-retained");
    assert_non_null(finding);
    assert_non_null(strstr(finding->fix, "MALLOC_ARENA_MAX=2"));
    assert_null(strstr(finding->fix, "THRESHOLD"));
}

static void arenas_are_silent_where_a_cap_is_no_advice(void **state)
{
    struct fixture *fixture = *state;

    set_rss(fixture, 320 * MIB);
    builder_arena(&fixture->judged.facts, fixture->process, true, 300 * MIB)
        ->free_resident_bytes = 200 * MIB;
    fixture->process->values[PROCESS_FACT_THREADS] = fact_ok(1);
    assert_silent(&fixture->judged, "glibc-arenas");

    for (size_t i = 0; i < 16; i++) {
        builder_arena(&fixture->judged.facts, fixture->process, false, 64 * MIB)
            ->free_resident_bytes = 16 * MIB;
    }
    fixture->process->glibc.parameters.arena_max = 2;
    assert_silent(&fixture->judged, "glibc-arenas");
    fixture->process->glibc.parameters.arena_max = 16;
    assert_non_null(judged_finding(&fixture->judged, "glibc-arenas"));
}

static void pinned_heap_names_the_block(void **state)
{
    struct fixture *fixture = *state;
    struct glibc_arena *arena =
        builder_arena(&fixture->judged.facts, fixture->process, true, 200 * MIB);

    arena->free_resident_bytes = arena->trim_gain_bytes = 100 * MIB;
    arena->pin_address = 0x1000;
    arena->pin_bytes = 48;
    arena->pinned_free_bytes = 90 * MIB;
    set_rss(fixture, 200 * MIB);
    assert_speaks(&fixture->judged, "glibc-pinned-heap", SEVERITY_WARN);
    assert_range(judged_finding(&fixture->judged, "glibc-pinned-heap"), 0, 90 * MIB);
    set_rss(fixture, 500 * MIB);
    assert_speaks(&fixture->judged, "glibc-pinned-heap", SEVERITY_INFO);
    arena->pin_address = 0;
    assert_silent(&fixture->judged, "glibc-pinned-heap");
}

static void threshold_speaks_when_it_grew_and_keeps_memory(void **state)
{
    struct fixture *fixture = *state;
    struct glibc_arena *arena =
        builder_arena(&fixture->judged.facts, fixture->process, false, 100 * MIB);
    struct glibc_parameters *parameters = &fixture->process->glibc.parameters;

    arena->top_resident_bytes = 40 * MIB;
    set_rss(fixture, 100 * MIB);
    assert_silent(&fixture->judged, "glibc-mmap-threshold");
    parameters->mmap_threshold_bytes = 20 * MIB;
    parameters->trim_threshold_bytes = 40 * MIB;
    assert_speaks(&fixture->judged, "glibc-mmap-threshold", SEVERITY_INFO);
    assert_range(judged_finding(&fixture->judged, "glibc-mmap-threshold"), 0,
        40 * MIB - 128 * KIB);
    arena->top_resident_bytes = 70 * MIB;
    assert_speaks(&fixture->judged, "glibc-mmap-threshold", SEVERITY_WARN);
    parameters->dynamic_threshold_off = true;
    assert_silent(&fixture->judged, "glibc-mmap-threshold");
}

static void opaque_allocators_are_named_once(void **state)
{
    struct fixture *fixture = *state;

    builder_allocator(&fixture->judged.facts, fixture->process, ALLOCATOR_JEMALLOC);
    set_rss(fixture, 8 * MIB);
    assert_speaks(&fixture->judged, "allocator-opaque", SEVERITY_INFO);
    builder_arena(&fixture->judged.facts, fixture->process, true, MIB);
    assert_silent(&fixture->judged, "allocator-opaque");
}

static void preload_that_failed_is_a_warning(void **state)
{
    struct fixture *fixture = *state;

    fixture->process->preload_state = FACT_OK;
    assert_silent(&fixture->judged, "preload-not-active");
    fixture->process->preload_state = FACT_MALFORMED;
    assert_speaks(&fixture->judged, "preload-not-active", SEVERITY_WARN);
}

static void lazy_free_is_counted_over_the_mappings(void **state)
{
    struct fixture *fixture = *state;
    struct mapping *mapping = add_data(fixture, 100 * MIB);

    mapping->values[MAPPING_FACT_LAZY_FREE] = fact_ok(30 * MIB);
    assert_speaks(&fixture->judged, "lazy-free", SEVERITY_INFO);
    assert_range(judged_finding(&fixture->judged, "lazy-free"), 30 * MIB, 30 * MIB);
    fixture->process->values[PROCESS_FACT_LAZY_FREE] = fact_ok(50 * MIB);
    assert_speaks(&fixture->judged, "lazy-free", SEVERITY_WARN);
    fixture->process->values[PROCESS_FACT_LAZY_FREE] = fact_ok(4 * MIB);
    assert_silent(&fixture->judged, "lazy-free");
}

/* The fix must fit who freed: reports C39 are about Go, C05 about jemalloc. */
static void lazy_free_advice_depends_on_the_allocator(void **state)
{
    struct fixture *fixture = *state;

    add_data(fixture, 100 * MIB);
    fixture->process->values[PROCESS_FACT_LAZY_FREE] = fact_ok(50 * MIB);
    assert_non_null(
        strstr(judged_finding(&fixture->judged, "lazy-free")->fix, "nothing to change"));
    builder_allocator(&fixture->judged.facts, fixture->process, ALLOCATOR_GO);
    assert_non_null(
        strstr(judged_finding(&fixture->judged, "lazy-free")->fix, "madvdontneed=1"));
}

static void huge_pages_warn_only_where_they_are_forced(void **state)
{
    struct fixture *fixture = *state;
    struct mapping *mapping = add_data(fixture, 200 * MIB);

    mapping->values[MAPPING_FACT_ANON_HUGE] = fact_ok(180 * MIB);
    fixture->judged.facts.host.thp_enabled = (char[]){"madvise"};
    assert_speaks(&fixture->judged, "thp-inflation", SEVERITY_INFO);
    fixture->judged.facts.host.thp_enabled = (char[]){"always"};
    assert_speaks(&fixture->judged, "thp-inflation", SEVERITY_WARN);
    assert_range(judged_finding(&fixture->judged, "thp-inflation"), 0, 180 * MIB);
    builder_allocator(&fixture->judged.facts, fixture->process, ALLOCATOR_JEMALLOC);
    assert_non_null(
        strstr(judged_finding(&fixture->judged, "thp-inflation")->fix, "thp:never"));
}

static void untouched_blocks_are_address_space(void **state)
{
    struct fixture *fixture = *state;
    struct mapping *mapping = builder_mapping(
        &fixture->judged.facts, fixture->process, 64 * MIB, 128 * MIB, "rw-p", "");
    const struct finding *finding;

    builder_set_rss(mapping, 28 * MIB);
    assert_speaks(&fixture->judged, "untouched-reservation", SEVERITY_INFO);
    finding = judged_finding(&fixture->judged, "untouched-reservation");
    assert_int_equal(evidence_of(finding, "untouched"), 100 * MIB);
    assert_false(finding->predicts);
    /* What another allocator keeps mapped is its reserve, not the program's. */
    builder_allocator(&fixture->judged.facts, fixture->process, ALLOCATOR_JEMALLOC);
    assert_silent(&fixture->judged, "untouched-reservation");
    fixture->process->allocators[0].active = false;
    assert_speaks(&fixture->judged, "untouched-reservation", SEVERITY_INFO);
    /* A heap of an arena is no reservation of the program. */
    builder_span(&fixture->judged.facts, fixture->process, SPAN_GLIBC_ARENA_HEAP,
        64 * MIB, 128 * MIB, 28 * MIB);
    assert_silent(&fixture->judged, "untouched-reservation");
}

static void stacks_are_counted_alive_and_kept(void **state)
{
    struct fixture *fixture = *state;
    const struct finding *finding;

    set_rss(fixture, 100 * MIB);
    builder_span(&fixture->judged.facts, fixture->process, SPAN_THREAD_STACK, 64 * MIB,
        8 * MIB, 3 * MIB);
    builder_span(&fixture->judged.facts, fixture->process, SPAN_CACHED_STACK, 80 * MIB,
        8 * MIB, 5 * MIB);
    assert_speaks(&fixture->judged, "thread-stacks", SEVERITY_INFO);
    finding = judged_finding(&fixture->judged, "thread-stacks");
    assert_int_equal(evidence_of(finding, "stacks_resident"), 3 * MIB);
    assert_range(finding, 0, 5 * MIB);
    assert_int_equal(evidence_of(finding, "reserved"), 16 * MIB);
    set_rss(fixture, 161 * MIB);
    assert_silent(&fixture->judged, "thread-stacks");
}

static void nofile_depends_on_a_table_of_that_size(void **state)
{
    struct fixture *fixture = *state;
    struct mapping *mapping = add_data(fixture, 300 * MIB);

    fixture->process->values[PROCESS_FACT_LIMIT_OPEN_FILES] = fact_ok(1048576);
    assert_silent(&fixture->judged, "limit-nofile");
    fixture->process->values[PROCESS_FACT_LIMIT_OPEN_FILES] = fact_ok(1073741816);
    assert_speaks(&fixture->judged, "limit-nofile", SEVERITY_CRITICAL);
    builder_set_rss(mapping, 10 * MIB);
    assert_speaks(&fixture->judged, "limit-nofile", SEVERITY_WARN);
    mapping->end = mapping->start + GIB;
    assert_speaks(&fixture->judged, "limit-nofile", SEVERITY_INFO);
}

static void file_pages_are_told_from_memory(void **state)
{
    struct fixture *fixture = *state;

    set_rss(fixture, 70 * MIB);
    builder_set_rss(builder_mapping(&fixture->judged.facts, fixture->process,
                        UINT64_C(0x700000000000), 64 * MIB, "r--s", "/var/lib/x.db"),
        30 * MIB);
    assert_speaks(&fixture->judged, "file-pages-look-alarming", SEVERITY_INFO);
    set_rss(fixture, 71 * MIB);
    assert_silent(&fixture->judged, "file-pages-look-alarming");
}

static void a_residual_is_a_finding_of_its_own(void **state)
{
    struct fixture *fixture = *state;
    struct mapping *mapping = builder_mapping(
        &fixture->judged.facts, fixture->process, 64 * MIB, GIB, "rw-p", "");

    builder_set_rss(mapping, 3 * MIB);
    assert_speaks(&fixture->judged, "unexplained-residual", SEVERITY_INFO);
    builder_set_rss(mapping, 64 * MIB);
    assert_speaks(&fixture->judged, "unexplained-residual", SEVERITY_WARN);
    builder_set_rss(mapping, MIB);
    assert_silent(&fixture->judged, "unexplained-residual");
}

static void swap_and_hugetlb_are_outside_resident(void **state)
{
    struct fixture *fixture = *state;

    set_rss(fixture, 100 * MIB);
    fixture->process->values[PROCESS_FACT_VM_SWAP] = fact_ok(16 * MIB);
    fixture->process->values[PROCESS_FACT_HUGETLB] = fact_ok(2 * MIB);
    assert_speaks(&fixture->judged, "swap", SEVERITY_INFO);
    assert_speaks(&fixture->judged, "hugetlb", SEVERITY_INFO);
    fixture->process->values[PROCESS_FACT_VM_SWAP] = fact_ok(34 * MIB);
    assert_speaks(&fixture->judged, "swap", SEVERITY_WARN);
    fixture->process->values[PROCESS_FACT_VM_SWAP] = fact_ok(0);
    fixture->process->values[PROCESS_FACT_HUGETLB] = fact_ok(0);
    assert_silent(&fixture->judged, "swap");
    assert_silent(&fixture->judged, "hugetlb");
}

static void set_cgroup(struct fixture *fixture, uint64_t limit, uint64_t usage,
    uint64_t file, uint64_t shmem)
{
    struct cgroup_facts *cgroup = fixture->cgroup;

    if (cgroup == NULL) {
        cgroup = fixture->cgroup = builder_cgroup(&fixture->judged.facts, 2);
        cgroup->container_id = (char[]){"0123"};
    }
    cgroup->values[CGROUP_FACT_LIMIT] = fact_ok(limit);
    cgroup->values[CGROUP_FACT_USAGE] = fact_ok(usage);
    cgroup->values[CGROUP_FACT_FILE] = fact_ok(file);
    cgroup->values[CGROUP_FACT_SHMEM] = fact_ok(shmem);
}

static void the_limit_is_compared_with_what_stays(void **state)
{
    struct fixture *fixture = *state;

    set_cgroup(fixture, 1000 * MIB, 700 * MIB, 0, 0);
    assert_silent(&fixture->judged, "cgroup-near-limit");
    set_cgroup(fixture, 1000 * MIB, 950 * MIB, 400 * MIB, 0);
    assert_speaks(&fixture->judged, "cgroup-near-limit", SEVERITY_INFO);
    set_cgroup(fixture, 1000 * MIB, 950 * MIB, 200 * MIB, 0);
    assert_speaks(&fixture->judged, "cgroup-near-limit", SEVERITY_WARN);
    set_cgroup(fixture, 1000 * MIB, 950 * MIB, 200 * MIB, 150 * MIB);
    assert_speaks(&fixture->judged, "cgroup-near-limit", SEVERITY_CRITICAL);
    /* Given up with MADV_FREE: anonymous, and on the list of inactive file pages. */
    set_cgroup(fixture, 1000 * MIB, 950 * MIB, 0, 0);
    fixture->cgroup->values[CGROUP_FACT_ANON] = fact_ok(940 * MIB);
    assert_speaks(&fixture->judged, "cgroup-near-limit", SEVERITY_CRITICAL);
    fixture->cgroup->values[CGROUP_FACT_INACTIVE_FILE] = fact_ok(600 * MIB);
    assert_speaks(&fixture->judged, "cgroup-near-limit", SEVERITY_INFO);
    assert_int_equal(evidence_of(judged_finding(&fixture->judged, "cgroup-near-limit"),
                         "lazily_freed"),
        600 * MIB);
    fixture->cgroup->values[CGROUP_FACT_INACTIVE_FILE] = fact_ok(0);
    /* Nobody died of page cache. */
    set_cgroup(fixture, 1000 * MIB, 100 * MIB, 0, 0);
    fixture->cgroup->values[CGROUP_FACT_EVENTS_OOM_KILL] = fact_ok(3);
    assert_speaks(&fixture->judged, "cgroup-near-limit", SEVERITY_WARN);
}

static const char *text_of(const struct finding *finding, const char *name)
{
    for (size_t i = 0; i < finding->evidence_count; i++) {
        if (strcmp(finding->evidence[i].name, name) == 0) {
            return finding->evidence[i].text;
        }
    }
    return "";
}

static void the_next_to_be_killed_may_be_a_neighbour(void **state)
{
    struct fixture *fixture = *state;

    set_cgroup(fixture, 1000 * MIB, 950 * MIB, 0, 0);
    fixture->process->values[PROCESS_FACT_OOM_SCORE] = fact_ok(700);
    assert_string_equal(text_of(judged_finding(&fixture->judged, "cgroup-near-limit"),
                            "first_to_be_killed"),
        "server (pid 812, oom_score 700)");
    fixture->judged.facts.competitor_oom_score = fact_ok(900);
    fixture->judged.facts.competitor_pid = 99;
    fixture->judged.facts.competitor_name = (char[]){"backup"};
    assert_string_equal(text_of(judged_finding(&fixture->judged, "cgroup-near-limit"),
                            "first_to_be_killed"),
        "backup (pid 99, oom_score 900)");
}

static void an_ancestor_may_be_fuller(void **state)
{
    struct fixture *fixture = *state;

    set_cgroup(fixture, 1000 * MIB, 100 * MIB, 0, 0);
    fixture->cgroup->values[CGROUP_FACT_LIMIT_EFFECTIVE] = fact_ok(500 * MIB);
    fixture->cgroup->values[CGROUP_FACT_HEADROOM] = fact_ok(20 * MIB);
    assert_speaks(&fixture->judged, "cgroup-near-limit", SEVERITY_INFO);
}

/* The text this grew from: docker stats 880 MiB, RSS 620 MiB, active page cache 210. */
static void page_cache_explains_docker_stats(void **state)
{
    struct fixture *fixture = *state;
    const struct finding *finding;

    set_rss(fixture, 620 * MIB);
    set_cgroup(fixture, 1536 * MIB, 980 * MIB, 310 * MIB, 0);
    fixture->cgroup->values[CGROUP_FACT_ANON] = fact_ok(600 * MIB);
    fixture->cgroup->values[CGROUP_FACT_INACTIVE_FILE] = fact_ok(100 * MIB);
    fixture->cgroup->values[CGROUP_FACT_ACTIVE_FILE] = fact_ok(210 * MIB);
    assert_speaks(&fixture->judged, "page-cache-in-container", SEVERITY_INFO);
    finding = judged_finding(&fixture->judged, "page-cache-in-container");
    assert_int_equal(evidence_of(finding, "docker"), 880 * MIB);
    assert_int_equal(evidence_of(finding, "podman"), 980 * MIB);
    assert_int_equal(evidence_of(finding, "non_reclaimable"), 670 * MIB);
    assert_int_equal(evidence_of(finding, "page_cache"), 310 * MIB);
    /* A login session's bill is not the server's. */
    fixture->cgroup->container_id = NULL;
    assert_silent(&fixture->judged, "page-cache-in-container");
    fixture->cgroup->unit = (char[]){"session-3.scope"};
    assert_silent(&fixture->judged, "page-cache-in-container");
    fixture->judged.facts.target_kind = TARGET_CGROUP;
    assert_speaks(&fixture->judged, "page-cache-in-container", SEVERITY_INFO);
    set_cgroup(fixture, 1536 * MIB, 980 * MIB, 90 * MIB, 0);
    assert_silent(&fixture->judged, "page-cache-in-container");
}

static void slab_and_shmem_are_billed_too(void **state)
{
    struct fixture *fixture = *state;

    set_cgroup(fixture, 1000 * MIB, 600 * MIB, 420 * MIB, 410 * MIB);
    assert_speaks(&fixture->judged, "shmem-charged", SEVERITY_WARN);
    set_cgroup(fixture, 2000 * MIB, 600 * MIB, 420 * MIB, 410 * MIB);
    assert_speaks(&fixture->judged, "shmem-charged", SEVERITY_INFO);
    set_cgroup(fixture, 2000 * MIB, 600 * MIB, 420 * MIB, 59 * MIB);
    assert_silent(&fixture->judged, "shmem-charged");

    fixture->cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE] = fact_ok(60 * MIB);
    assert_speaks(&fixture->judged, "slab-in-container", SEVERITY_INFO);
    assert_range(judged_finding(&fixture->judged, "slab-in-container"), 0, 60 * MIB);
    fixture->cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE] = fact_ok(240 * MIB);
    assert_speaks(&fixture->judged, "slab-in-container", SEVERITY_WARN);
    fixture->cgroup->values[CGROUP_FACT_SLAB_RECLAIMABLE] = fact_ok(59 * MIB);
    assert_silent(&fixture->judged, "slab-in-container");
}

static void a_vm_matters_for_containers_only(void **state)
{
    struct fixture *fixture = *state;

    fixture->judged.facts.host.hypervisor = (char[]){"Apple Virtualization"};
    assert_silent(&fixture->judged, "measured-inside-vm");
    set_cgroup(fixture, 1000 * MIB, 1 * MIB, 0, 0);
    assert_speaks(&fixture->judged, "measured-inside-vm", SEVERITY_INFO);
}

static void a_sum_of_rss_is_compared_with_what_is_there(void **state)
{
    struct fixture *fixture = *state;
    const struct finding *finding;

    fixture->judged.facts.target_kind = TARGET_POOL;
    for (int i = 0; i < 4; i++) {
        struct process_facts *worker =
            builder_process(&fixture->judged.facts, 900 + i, "php-fpm8.2");
        worker->mappings_have_values = false;
        worker->values[PROCESS_FACT_VM_RSS] = fact_ok(50 * MIB);
        worker->values[PROCESS_FACT_PSS] = fact_ok(20 * MIB);
    }
    assert_speaks(&fixture->judged, "rss-sum-overstates", SEVERITY_WARN);
    finding = judged_finding(&fixture->judged, "rss-sum-overstates");
    assert_int_equal(evidence_of(finding, "rss_sum"), 200 * MIB);
    assert_int_equal(evidence_of(finding, "resident"), 80 * MIB);
    assert_int_equal(finding->pid, 0);
}

static void the_order_is_severity_then_bytes(void **state)
{
    struct fixture *fixture = *state;

    add_arenas(fixture, 16, 16 * MIB);
    fixture->process->values[PROCESS_FACT_THREADS] = fact_ok(40);
    fixture->process->preload_state = FACT_MALFORMED;
    set_rss(fixture, 320 * MIB);
    set_cgroup(fixture, 1000 * MIB, 950 * MIB, 0, 0);
    (void)judged_finding(&fixture->judged, "glibc-arenas");
    assert_true(fixture->judged.list.count >= 4);
    assert_string_equal(fixture->judged.list.items[0].rule->id, "cgroup-near-limit");
    assert_string_equal(fixture->judged.list.items[1].rule->id, "glibc-arenas");
    assert_string_equal(fixture->judged.list.items[2].rule->id, "glibc-retained");
    assert_string_equal(fixture->judged.list.items[3].rule->id, "preload-not-active");
}

static void every_row_of_the_table_is_complete(void **state)
{
    (void)state;
    for (const struct rule *rule = rule_table; rule->id != NULL; rule++) {
        assert_true((rule->run != NULL) != (rule->run_course != NULL));
        assert_non_null(rule->title);
        assert_non_null(rule->needs);
        assert_non_null(rule->threshold);
        assert_non_null(rule->evidence);
        assert_non_null(rule->fix);
        assert_non_null(rule->text);
        assert_ptr_equal(rule_find(rule->id), rule);
        assert_int_equal(
            strspn(rule->id, "abcdefghijklmnopqrstuvwxyz0123456789-"), strlen(rule->id));
    }
    assert_null(rule_find("no-such-rule"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, judged_teardown)

static void stalls_need_a_bound_and_a_wait(void **state)
{
    struct fixture *fixture = *state;
    struct fact *values;

    set_cgroup(fixture, 1000 * MIB, 390 * MIB, 0, 0);
    values = fixture->cgroup->values;
    values[CGROUP_FACT_PRESSURE_MINUTE] = fact_ok(30000000);
    assert_silent(&fixture->judged, "cgroup-stalls");
    values[CGROUP_FACT_HIGH] = fact_ok(400 * MIB);
    assert_speaks(&fixture->judged, "cgroup-stalls", SEVERITY_WARN);
    assert_non_null(
        strstr(judged_finding(&fixture->judged, "cgroup-stalls")->summary, "MemoryHigh"));
    values[CGROUP_FACT_PRESSURE_MINUTE] = fact_ok(5999999);
    assert_speaks(&fixture->judged, "cgroup-stalls", SEVERITY_INFO);
    values[CGROUP_FACT_PRESSURE_MINUTE] = fact_ok(599999);
    assert_silent(&fixture->judged, "cgroup-stalls");
    values[CGROUP_FACT_PRESSURE_MINUTE] = fact_ok(30000000);
    values[CGROUP_FACT_HIGH] = fact_ok(500 * MIB);
    assert_silent(&fixture->judged, "cgroup-stalls");
    values[CGROUP_FACT_LIMIT] = fact_ok(391 * MIB);
    assert_speaks(&fixture->judged, "cgroup-stalls", SEVERITY_WARN);
    assert_non_null(
        strstr(judged_finding(&fixture->judged, "cgroup-stalls")->summary, "MemoryMax"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            stalls_need_a_bound_and_a_wait, setup, judged_teardown),
        TEST(retained_speaks_from_a_tenth_on),
        TEST(fragmentation_speaks_of_holes_only),
        TEST(arenas_speak_when_a_cap_would_help),
        TEST(retained_in_many_arenas_is_cured_by_fewer),
        TEST(arenas_are_silent_where_a_cap_is_no_advice),
        TEST(pinned_heap_names_the_block),
        TEST(threshold_speaks_when_it_grew_and_keeps_memory),
        TEST(opaque_allocators_are_named_once),
        TEST(preload_that_failed_is_a_warning),
        TEST(lazy_free_is_counted_over_the_mappings),
        TEST(lazy_free_advice_depends_on_the_allocator),
        TEST(huge_pages_warn_only_where_they_are_forced),
        TEST(untouched_blocks_are_address_space),
        TEST(stacks_are_counted_alive_and_kept),
        TEST(nofile_depends_on_a_table_of_that_size),
        TEST(file_pages_are_told_from_memory),
        TEST(a_residual_is_a_finding_of_its_own),
        TEST(swap_and_hugetlb_are_outside_resident),
        TEST(the_limit_is_compared_with_what_stays),
        TEST(the_next_to_be_killed_may_be_a_neighbour),
        TEST(an_ancestor_may_be_fuller),
        TEST(page_cache_explains_docker_stats),
        TEST(slab_and_shmem_are_billed_too),
        TEST(a_vm_matters_for_containers_only),
        TEST(a_sum_of_rss_is_compared_with_what_is_there),
        TEST(the_order_is_severity_then_bytes),
        TEST(every_row_of_the_table_is_complete),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
