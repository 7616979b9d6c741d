/*
 * php.c - what a Zend heap's figures mean.
 *
 * memory_limit is compared with real, and memory is bought 2 MiB at a time (Zend/zend_alloc.c:
 * "ZEND_MM_CHUNK_SIZE > heap->limit - heap->real_size"), so a request dies while used
 * is still far from the limit. Two blocks share a chunk only when their pages fit into
 * its 511; the rest of a chunk that nothing fits into is counted by real and, since it is
 * never written, not resident. Chunks kept for later requests age by requests, not by time: an idle
 * worker keeps them for ever.
 */
#include "findings/php.h"

#include <inttypes.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "model/known.h"

enum {
    NEAR_PERCENT = 80,
    PEAK_NEAR_PERCENT = 90,
    CLIFF_MIN_CHUNKS = 4,
    CLIFF_FREE_PERCENT = 25,
    KEPT_INFO_PERCENT = 10,
    KEPT_WARN_PERCENT = 30,
    NATIVE_PERCENT = 50,
    PAGE_BYTES = 4096,
};

static const uint64_t chunk_bytes = 2 * FINDING_MIB;
static const uint64_t idle_used_bytes = 256 * FINDING_KIB;
static const uint64_t kept_info_bytes = 8 * FINDING_MIB;
static const uint64_t kept_warn_bytes = 64 * FINDING_MIB;
static const uint64_t native_min_bytes = 32 * FINDING_MIB;

/* A heap of the target together with its process. */
struct heap_of {
    const struct process_facts *process;
    const struct zend_heap_facts *heap;
};

/* Calls visit for every heap with counters. */
static void each_heap(const struct snapshot *snapshot,
    void (*visit)(const struct heap_of *found, void *context), void *context)
{
    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        for (size_t j = 0; j < process->zend.heap_count; j++) {
            const struct heap_of found = {process, &process->zend.heaps[j]};
            if (state_is_known(found.heap->state) && !found.heap->custom) {
                visit(&found, context);
            }
        }
    }
}

/* ---- php-near-limit */

/* The heap with the least room left, and how many are as tight. */
struct tightest {
    struct heap_of found;
    uint64_t headroom_bytes;
    size_t tight; /* heaps with less than one chunk left */
};

static uint64_t headroom(const struct zend_heap_facts *heap)
{
    return number_subtract(heap->limit_bytes.value, heap->real_bytes);
}

static void find_tightest(const struct heap_of *found, void *context)
{
    struct tightest *tightest = context;

    if (!fact_is_known(&found->heap->limit_bytes)) {
        return;
    }
    const uint64_t room = headroom(found->heap);
    tightest->tight += room < chunk_bytes;
    if (tightest->found.heap == NULL || room < tightest->headroom_bytes) {
        tightest->found = *found;
        tightest->headroom_bytes = room;
    }
}

/* The next limit of 16 MiB steps above what was needed, with a quarter to spare. */
static uint64_t suggested_limit_mib(const struct zend_heap_facts *heap)
{
    const uint64_t step = 16;
    uint64_t need = heap->peak_real_bytes / FINDING_MIB;

    need = need + need / 4 + 1;
    return (need + step - 1) / step * step;
}

int rule_php_near_limit(const struct snapshot *snapshot, struct finding_list *list)
{
    struct tightest tightest = {.tight = 0};
    struct finding finding = {.severity = SEVERITY_WARN};

    each_heap(snapshot, find_tightest, &tightest);
    const struct zend_heap_facts *heap = tightest.found.heap;
    if (heap == NULL) {
        return 0;
    }
    const uint64_t limit = heap->limit_bytes.value;
    const bool refused = tightest.headroom_bytes < chunk_bytes;
    if (!refused && !at_least_percent(heap->real_bytes, limit, NEAR_PERCENT) &&
        !at_least_percent(heap->peak_real_bytes, limit, PEAK_NEAR_PERCENT)) {
        return 0;
    }
    if (refused) {
        finding.severity = SEVERITY_CRITICAL;
        finding.summary = finding_printf(list,
            "the next 2 MiB chunk is beyond memory_limit: real is %s of %s, while used "
            "shows %s to spare",
            quantity_bytes(heap->real_bytes, false).text,
            quantity_bytes(limit, false).text,
            quantity_bytes(number_subtract(limit, heap->used_bytes), false).text);
    } else {
        finding.summary = finding_printf(list,
            "memory_limit is %s and real has been at %s (now %s); used shows %s",
            quantity_bytes(limit, false).text,
            quantity_bytes(heap->peak_real_bytes, false).text,
            quantity_bytes(heap->real_bytes, false).text,
            quantity_bytes(heap->used_bytes, false).text);
    }
    finding.pid = tightest.found.process->pid;
    finding.reasoning = "memory_limit is compared with real, which grows by whole chunks "
                        "of 2 MiB, and never with memory_get_usage()";
    finding_add_bytes(&finding, "used", heap->used_bytes);
    finding_add_bytes(&finding, "real", heap->real_bytes);
    finding_add_bytes(&finding, "peak_real", heap->peak_real_bytes);
    finding_add_bytes(&finding, "limit", limit);
    finding_add_bytes(
        &finding, "headroom_used", number_subtract(limit, heap->used_bytes));
    finding_add_bytes(&finding, "headroom_real", tightest.headroom_bytes);
    finding_add_bytes(&finding, "next_chunk", chunk_bytes);
    finding_add_count(&finding, "heaps_without_room", tightest.tight);
    finding_add_fact(&finding, "hard_limit", &heap->hard_limit_bytes);
    finding.fix = finding_printf(list,
        "; in the pool's file, or php.ini without php_admin_value[]\n"
        "php_admin_value[memory_limit] = %" PRIu64 "M",
        suggested_limit_mib(heap));
    finding.verify =
        finding_printf(list, "strata explain %s: peak_real stays a chunk below limit",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* ---- php-chunk-cliff */

struct cliff {
    uint64_t half, third, quarter;
    uint64_t free_bytes, free_resident_bytes, real_bytes, used_bytes;
};

static void add_cliff(const struct heap_of *found, void *context)
{
    const struct zend_heap_facts *heap = found->heap;
    struct cliff *cliff = context;
    const uint64_t chunks = heap->half_chunks + heap->third_chunks + heap->quarter_chunks;
    const uint64_t free_bytes = heap->free_pages * PAGE_BYTES;

    if (heap->state != FACT_OK || chunks < CLIFF_MIN_CHUNKS ||
        !at_least_percent(free_bytes, heap->real_bytes, CLIFF_FREE_PERCENT)) {
        return;
    }
    cliff->half += heap->half_chunks;
    cliff->third += heap->third_chunks;
    cliff->quarter += heap->quarter_chunks;
    cliff->free_bytes = number_add(cliff->free_bytes, free_bytes);
    cliff->free_resident_bytes =
        number_add(cliff->free_resident_bytes, heap->free_resident_bytes);
    cliff->real_bytes = number_add(cliff->real_bytes, heap->real_bytes);
    cliff->used_bytes = number_add(cliff->used_bytes, heap->used_bytes);
}

int rule_php_chunk_cliff(const struct snapshot *snapshot, struct finding_list *list)
{
    struct cliff cliff = {.half = 0};
    struct finding finding = {.severity = SEVERITY_WARN, .pid = target_pid(snapshot)};

    each_heap(snapshot, add_cliff, &cliff);
    if (cliff.real_bytes == 0) {
        return 0;
    }
    const uint64_t chunks = cliff.half + cliff.third + cliff.quarter;

    finding.summary = finding_printf(list,
        "%s %s blocks of sizes that do not fill a chunk: memory_limit is charged %s for "
        "%s",
        quantity_count(chunks, "chunk").text, quantity_form(chunks, "holds", "hold"),
        quantity_bytes(cliff.real_bytes, false).text,
        quantity_bytes(cliff.used_bytes, false).text);
    finding.reasoning =
        "a chunk has 511 pages to give: of blocks of 256 pages or more (1 MiB strings) "
        "it takes one, from 171 pages two, from 128 pages three. The rest was never "
        "written and costs no RAM; it counts only against memory_limit";
    finding_add_count(&finding, "half_chunks", cliff.half);
    finding_add_count(&finding, "third_chunks", cliff.third);
    finding_add_count(&finding, "quarter_chunks", cliff.quarter);
    finding_add_bytes(&finding, "used", cliff.used_bytes);
    finding_add_bytes(&finding, "real", cliff.real_bytes);
    finding_add_bytes(&finding, "free_pages", cliff.free_bytes);
    finding_add_bytes(&finding, "free_resident", cliff.free_resident_bytes);
    finding.fix = "# read or build large values in pieces below 1,040,384 bytes\n"
                  "# (255 pages), or above 2,093,056, where PHP maps each alone;\n"
                  "# or set memory_limit by real, twice what the data weighs";
    finding.verify =
        finding_printf(list, "strata explain %s: fewer half chunks, real comes near used",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* ---- php-idle-cache */

struct kept {
    size_t workers;
    uint64_t chunks, resident_bytes, real_bytes;
};

static void add_kept(const struct heap_of *found, void *context)
{
    const struct zend_heap_facts *heap = found->heap;
    struct kept *kept = context;

    if (heap->state != FACT_OK || heap->resident_state != FACT_OK ||
        heap->used_bytes > idle_used_bytes || heap->cached_chunks == 0) {
        return;
    }
    kept->workers++;
    kept->chunks += heap->cached_chunks;
    kept->resident_bytes = number_add(kept->resident_bytes, heap->cached_resident_bytes);
    kept->real_bytes = number_add(kept->real_bytes, heap->real_bytes);
}

int rule_php_idle_cache(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct kept kept = {.workers = 0};
    struct finding finding = {.severity = SEVERITY_INFO, .pid = target_pid(snapshot)};

    each_heap(snapshot, add_kept, &kept);
    if (!finding_reaches(
            kept.resident_bytes, kept_info_bytes, resident, KEPT_INFO_PERCENT)) {
        return 0;
    }
    if (finding_reaches(
            kept.resident_bytes, kept_warn_bytes, resident, KEPT_WARN_PERCENT)) {
        finding.severity = SEVERITY_WARN;
    }
    finding.summary = finding_printf(list, "%s %s %s of chunks from earlier requests",
        quantity_count(kept.workers, "idle worker").text,
        quantity_form(kept.workers, "keeps", "keep"),
        quantity_bytes(kept.resident_bytes, false).text);
    finding.reasoning =
        "at the end of each request PHP halves the distance between what it keeps and "
        "what that request needed: the cache ages by requests, never by time, so a "
        "worker that went idle after a large request keeps its chunks";
    finding_add_count(&finding, "idle_workers", kept.workers);
    finding_add_count(&finding, "cached_chunks", kept.chunks);
    finding_add_bytes(&finding, "cached_resident", kept.resident_bytes);
    finding_add_bytes(&finding, "real", kept.real_bytes);
    finding_predict(
        &finding, kept.resident_bytes, kept.resident_bytes, CONFIDENCE_MEASURED);
    finding.fix =
        "; in the pool's file: let workers end when they idle, or after some work\n"
        "pm = ondemand\n"
        "pm.process_idle_timeout = 10s\n"
        "pm.max_requests = 500";
    finding.verify = finding_printf(
        list, "strata explain %s: cached_chunks falls to 0", fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* ---- php-collectable */

struct collectable {
    size_t heaps;
    uint64_t gc_bytes, real_bytes, resident_bytes;
};

static void add_collectable(const struct heap_of *found, void *context)
{
    const struct zend_heap_facts *heap = found->heap;
    struct collectable *sum = context;

    if (heap->state == FACT_OK && heap->deep_state == FACT_OK) {
        sum->heaps++;
        sum->gc_bytes = number_add(sum->gc_bytes, heap->gc_bytes);
        sum->real_bytes = number_add(sum->real_bytes, heap->gc_real_bytes);
        sum->resident_bytes = number_add(sum->resident_bytes, heap->gc_resident_bytes);
    }
}

int rule_php_collectable(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct collectable sum = {.heaps = 0};
    struct finding finding = {.severity = SEVERITY_INFO, .pid = target_pid(snapshot)};

    each_heap(snapshot, add_collectable, &sum);
    if (!finding_reaches(sum.gc_bytes, kept_info_bytes, resident, KEPT_INFO_PERCENT)) {
        return 0;
    }
    if (finding_reaches(
            sum.resident_bytes, kept_warn_bytes, resident, KEPT_WARN_PERCENT)) {
        finding.severity = SEVERITY_WARN;
    }
    finding.summary = finding_printf(list,
        "gc_mem_caches() would collect %s of free small blocks; %s of it leaves the "
        "process",
        quantity_bytes(sum.gc_bytes, false).text,
        quantity_bytes(sum.resident_bytes, false).text);
    finding.reasoning =
        "pages of small blocks go back to their chunk only in a collection or at the end "
        "of the request, and a chunk goes back only when all its pages are free; the "
        "collection was rehearsed on the heap's own lists";
    finding_add_bytes(&finding, "gc_gain", sum.gc_bytes);
    finding_add_bytes(&finding, "gc_real", sum.real_bytes);
    finding_add_bytes(&finding, "gc_resident", sum.resident_bytes);
    finding_predict(
        &finding, sum.resident_bytes, sum.resident_bytes, CONFIDENCE_MEASURED);
    finding.fix =
        "// after dropping a large structure, in long-running PHP\ngc_mem_caches();";
    finding.verify = finding_printf(
        list, "strata explain %s: gc_gain is near 0", fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* ---- php-native-memory */

int rule_php_native_memory(const struct snapshot *snapshot, struct finding_list *list)
{
    struct finding finding = {.severity = SEVERITY_INFO, .pid = target_pid(snapshot)};
    uint64_t native = 0;
    uint64_t real = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        if (process->zend.heap_count == 0 || !state_is_known(process->glibc.state)) {
            continue;
        }
        for (size_t j = 0; j < process->glibc.arena_count; j++) {
            native = number_add(native, process->glibc.arenas[j].in_use_bytes);
        }
        native = number_add(native, process->glibc.parameters.mmapped_bytes);
        for (size_t j = 0; j < process->zend.heap_count; j++) {
            real = number_add(real, process->zend.heaps[j].real_bytes);
        }
    }
    if (native < native_min_bytes || real == 0 ||
        !at_least_percent(native, real, NATIVE_PERCENT)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "%s are in use through malloc, outside PHP's own memory manager (real %s)",
        quantity_bytes(native, false).text, quantity_bytes(real, false).text);
    finding.reasoning =
        "extensions and their libraries (database drivers, curl, image and XML "
        "libraries) and the cycle collector's buffer allocate from malloc: "
        "memory_get_usage() and memory_limit do not see that memory";
    finding_add_bytes(&finding, "native_in_use", native);
    finding_add_bytes(&finding, "real", real);
    finding.fix = "# compare two explains some requests apart: when native_in_use grows "
                  "while real\n"
                  "# is flat, an extension keeps memory; end workers after some work "
                  "until it is found\n"
                  "pm.max_requests = 500";
    finding.verify =
        finding_printf(list, "strata explain %s: native_in_use holds still over requests",
            fix_target(list, snapshot));
    return finding_push(list, &finding);
}
