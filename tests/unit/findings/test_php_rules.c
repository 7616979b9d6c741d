/* test_php_rules.c - the rules on PHP and FPM at their edges. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "facts_builder.h"
#include "judged.h"

enum { CHUNK = 2 << 20, PAGE = 4096 };

struct fixture {
    struct judged judged;
    struct process_facts *process;
    struct zend_heap_facts heap;
    struct fpm_pool_facts pools[2];
    struct fpm_worker_facts worker;
};

static int setup(void **state)
{
    struct fixture *fixture = calloc(1, sizeof(*fixture));

    builder_init(&fixture->judged.facts);
    fixture->process = builder_process(&fixture->judged.facts, 4711, "php-fpm8.2");
    builder_set_rss(builder_mapping(&fixture->judged.facts, fixture->process,
                        0x7f0000000000, 64 * MIB, "rw-p", ""),
        40 * MIB);
    fixture->process->title =
        region_copy_text(&fixture->judged.facts.region, "php-fpm: pool www");
    fixture->heap = (struct zend_heap_facts){
        .state = FACT_OK,
        .resident_state = FACT_OK,
        .deep_state = FACT_OK,
        .used_bytes = 1000,
        .real_bytes = CHUNK,
        .peak_real_bytes = CHUNK,
        .chunks = 1,
        .limit_bytes = {.value = 128 * MIB, .state = FACT_OK},
    };
    fixture->process->zend =
        (struct zend_facts){.state = FACT_OK, .heaps = &fixture->heap, .heap_count = 1};
    fixture->pools[0] = (struct fpm_pool_facts){.name = (char *)"www",
        .file = (char *)"/etc/php/www.conf",
        .max_children = {.value = 20, .state = FACT_OK},
        .workers = &fixture->worker,
        .worker_count = 1};
    fixture->pools[1] = fixture->pools[0];
    fixture->pools[1].name = (char *)"shop";
    fixture->pools[1].worker_count = 0;
    fixture->worker = (struct fpm_worker_facts){.pid = 4711, .state = (char *)"Idle"};
    *state = fixture;
    return 0;
}

static void the_limit_is_compared_with_real_and_not_with_used(void **state)
{
    struct fixture *fixture = *state;
    struct zend_heap_facts *heap = &fixture->heap;

    /* the seed's case: 16 MB, refused at real 14,696,448 with 2,657,576 to spare by used */
    heap->limit_bytes.value = 16777216;
    heap->used_bytes = 14119640;
    heap->real_bytes = heap->peak_real_bytes = 14696448;
    const struct finding *finding = judged_finding(&fixture->judged, "php-near-limit");
    assert_non_null(finding);
    assert_int_equal(finding->severity, SEVERITY_CRITICAL);
    assert_int_equal(evidence_of(finding, "headroom_used"), 2657576);
    assert_int_equal(evidence_of(finding, "headroom_real"), 16777216 - 14696448);
    /* one byte more of limit than the next chunk needs: tight, and not yet refused */
    heap->limit_bytes.value = heap->real_bytes + CHUNK;
    assert_speaks(&fixture->judged, "php-near-limit", SEVERITY_WARN);
    heap->limit_bytes.value = heap->real_bytes + CHUNK - 1;
    assert_speaks(&fixture->judged, "php-near-limit", SEVERITY_CRITICAL);
    heap->limit_bytes.value = 10 * (uint64_t)heap->real_bytes;
    assert_silent(&fixture->judged, "php-near-limit");
    heap->peak_real_bytes = heap->limit_bytes.value / 100 * 95;
    assert_speaks(&fixture->judged, "php-near-limit", SEVERITY_WARN);
    heap->limit_bytes.state = FACT_ABSENT; /* memory_limit=-1 */
    assert_silent(&fixture->judged, "php-near-limit");
}

static void one_mebibyte_strings_are_a_cliff(void **state)
{
    struct fixture *fixture = *state;
    struct zend_heap_facts *heap = &fixture->heap;

    heap->half_chunks = 31;
    heap->chunks = 31;
    heap->real_bytes = 31 * (uint64_t)CHUNK;
    heap->used_bytes = 32 * MIB;
    heap->free_pages = 31 * 254;
    assert_speaks(&fixture->judged, "php-chunk-cliff", SEVERITY_WARN);
    heap->half_chunks = 3;
    assert_silent(&fixture->judged, "php-chunk-cliff");
    heap->third_chunks = 1;
    assert_speaks(&fixture->judged, "php-chunk-cliff", SEVERITY_WARN);
    heap->free_pages = heap->real_bytes / PAGE / 4 - 1;
    assert_silent(&fixture->judged, "php-chunk-cliff");
    heap->free_pages++;
    heap->state = FACT_STALE; /* then the page map is not known */
    assert_silent(&fixture->judged, "php-chunk-cliff");
}

static void idle_workers_keep_chunks(void **state)
{
    struct fixture *fixture = *state;
    struct zend_heap_facts *heap = &fixture->heap;

    heap->cached_chunks = 10;
    heap->real_bytes = 11 * (uint64_t)CHUNK;
    heap->cached_resident_bytes = 8 * MIB;
    const struct finding *finding = judged_finding(&fixture->judged, "php-idle-cache");
    assert_non_null(finding);
    assert_int_equal(finding->predicted_low_bytes, 8 * MIB);
    assert_int_equal(finding->confidence, CONFIDENCE_MEASURED);
    heap->cached_resident_bytes--;
    assert_silent(&fixture->judged, "php-idle-cache");
    heap->cached_resident_bytes++;
    heap->used_bytes = MIB; /* busy: it may need them right now */
    assert_silent(&fixture->judged, "php-idle-cache");
}

static void a_collection_promises_what_leaves_the_process(void **state)
{
    struct fixture *fixture = *state;
    struct zend_heap_facts *heap = &fixture->heap;

    heap->real_bytes = 200 * MIB;
    heap->gc_bytes = 180 * MIB;
    heap->gc_resident_bytes = 0; /* one survivor in each chunk */
    const struct finding *finding = judged_finding(&fixture->judged, "php-collectable");
    assert_non_null(finding);
    assert_int_equal(finding->severity, SEVERITY_INFO);
    assert_int_equal(finding->predicted_high_bytes, 0);
    heap->deep_state = FACT_STALE;
    assert_silent(&fixture->judged, "php-collectable");
}

static void all_pools_share_the_memory_there_is(void **state)
{
    struct fixture *fixture = *state;
    struct fact *memory = &fixture->judged.facts.host.values[HOST_FACT_MEM_TOTAL];

    fixture->judged.facts.fpm_pools = fixture->pools;
    fixture->judged.facts.fpm_pool_count = 2;
    /* 40 workers, 128 MiB each by the live heap */
    *memory = (struct fact){.value = 40 * 128 * MIB, .state = FACT_OK};
    const struct finding *finding = judged_finding(&fixture->judged, "fpm-worst-case");
    assert_non_null(finding);
    assert_int_equal(evidence_of(finding, "max_children"), 40);
    memory->value++;
    assert_silent(&fixture->judged, "fpm-worst-case");
    /* the pool's own setting wins over the heap that was read */
    fixture->pools[1].memory_limit_bytes =
        (struct fact){.value = 256 * MIB, .state = FACT_OK};
    assert_speaks(&fixture->judged, "fpm-worst-case", SEVERITY_INFO);
    memory->state = FACT_DENIED;
    assert_silent(&fixture->judged, "fpm-worst-case");
}

static void an_opcache_size_in_a_pool_is_named(void **state)
{
    struct fixture *fixture = *state;

    fixture->judged.facts.fpm_pools = fixture->pools;
    fixture->judged.facts.fpm_pool_count = 2;
    assert_silent(&fixture->judged, "fpm-opcache-in-pool");
    fixture->pools[1].opcache_size_in_pool = true;
    const struct finding *finding =
        judged_finding(&fixture->judged, "fpm-opcache-in-pool");
    assert_non_null(finding);
    assert_non_null(strstr(finding->summary, "'shop'"));
}

static void the_status_page_is_set_beside_the_heap(void **state)
{
    struct fixture *fixture = *state;

    fixture->judged.facts.fpm_pools = fixture->pools;
    fixture->judged.facts.fpm_pool_count = 1;
    fixture->worker.last_request_memory =
        (struct fact){.value = 12582912, .state = FACT_OK};
    fixture->worker.requests = 2;
    assert_silent(&fixture->judged, "fpm-status-memory"); /* nothing was cached */
    fixture->heap.cached_chunks = 5;
    assert_speaks(&fixture->judged, "fpm-status-memory", SEVERITY_INFO);
    fixture->worker.pid = 1; /* not one of the members */
    assert_silent(&fixture->judged, "fpm-status-memory");
}

/* A fresh worker, one request of 25 chunks: FPM says 50 MiB, 12 chunks are kept of these. */
static void r_a_first_request_is_not_said_to_count_chunks_of_earlier_ones(void **state)
{
    struct fixture *fixture = *state;

    fixture->judged.facts.fpm_pools = fixture->pools;
    fixture->judged.facts.fpm_pool_count = 1;
    fixture->heap.cached_chunks = 12;
    fixture->heap.real_bytes = fixture->heap.peak_real_bytes = 13 * (uint64_t)CHUNK;
    fixture->worker.last_request_memory =
        (struct fact){.value = 25 * (uint64_t)CHUNK, .state = FACT_OK};
    fixture->worker.requests = 1;
    assert_silent(&fixture->judged, "fpm-status-memory");
    fixture->worker.requests = 0; /* not said */
    assert_silent(&fixture->judged, "fpm-status-memory");
    fixture->worker.requests = 2;
    assert_speaks(&fixture->judged, "fpm-status-memory", SEVERITY_INFO);
    const struct finding *finding = judged_finding(&fixture->judged, "fpm-status-memory");
    assert_non_null(strstr(finding->summary, "its 1 request before left may be part"));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, judged_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(the_limit_is_compared_with_real_and_not_with_used),
        TEST(one_mebibyte_strings_are_a_cliff),
        TEST(idle_workers_keep_chunks),
        TEST(a_collection_promises_what_leaves_the_process),
        TEST(all_pools_share_the_memory_there_is),
        TEST(an_opcache_size_in_a_pool_is_named),
        TEST(the_status_page_is_set_beside_the_heap),
        TEST(r_a_first_request_is_not_said_to_count_chunks_of_earlier_ones),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
