/*
 * schema_heaps.c - the members that a capture holds of heaps: those of glibc, of PHP (Zend) and
 * of strata's own malloc. As in schema.c a new member needs one new row, in the order of the
 * members.
 */
#include "record/schema_heaps.h"

#include "facts_types/facts.h"

#include "record/schema_rows.def"

static const struct schema_field glibc_arena_fields[] = {
    U64(glibc_arena, address),
    BOOL(glibc_arena, main),
    BOOL(glibc_arena, contiguous),
    STATE(glibc_arena, state),
    TEXT(glibc_arena, why),
    U64(glibc_arena, plus_minus_bytes),
    U64(glibc_arena, held_bytes),
    U64(glibc_arena, held_peak_bytes),
    U64(glibc_arena, in_use_bytes),
    U64(glibc_arena, in_use_chunks),
    U64(glibc_arena, free_bytes),
    U64(glibc_arena, free_chunks),
    U64(glibc_arena, fast_bytes),
    U64(glibc_arena, fast_chunks),
    U64(glibc_arena, top_bytes),
    U64(glibc_arena, overhead_bytes),
    U64(glibc_arena, largest_free_bytes),
    U64(glibc_arena, heap_count),
    U64(glibc_arena, attached_threads),
    U64(glibc_arena, cached_bytes),
    U64(glibc_arena, cached_chunks),
    STATE(glibc_arena, resident_state),
    U64(glibc_arena, resident_bytes),
    U64(glibc_arena, free_resident_bytes),
    U64(glibc_arena, trim_gain_bytes),
    U64(glibc_arena, top_resident_bytes),
    U64(glibc_arena, top_trimmable_bytes),
    FACT(glibc_arena, free_shared_bytes),
    U64(glibc_arena, pin_address),
    U64(glibc_arena, pin_bytes),
    U64(glibc_arena, pinned_free_bytes),
};
static const struct schema glibc_arena_schema = SCHEMA(glibc_arena);

static const struct schema_field glibc_parameters_fields[] = {
    STATE(glibc_parameters, state),
    U64(glibc_parameters, trim_threshold_bytes),
    U64(glibc_parameters, top_pad_bytes),
    U64(glibc_parameters, mmap_threshold_bytes),
    U64(glibc_parameters, arena_test),
    U64(glibc_parameters, arena_max),
    U64(glibc_parameters, mmapped_blocks),
    U64(glibc_parameters, mmapped_blocks_peak),
    U64(glibc_parameters, mmapped_bytes),
    U64(glibc_parameters, mmapped_peak_bytes),
    U64(glibc_parameters, sbrk_base),
    U64(glibc_parameters, tcache_bins),
    U64(glibc_parameters, tcache_max_bytes),
    U64(glibc_parameters, tcache_count),
    U64(glibc_parameters, thp_pagesize_bytes),
    BOOL(glibc_parameters, dynamic_threshold_off),
};
static const struct schema glibc_parameters_schema = SCHEMA(glibc_parameters);

static const struct schema_field glibc_facts_fields[] = {
    STATE(glibc_facts, state),
    TEXT(glibc_facts, why),
    TEXT(glibc_facts, version),
    U32(glibc_facts, layout, UINT32_MAX),
    BOOL(glibc_facts, static_binary),
    STRUCT(glibc_facts, parameters, glibc_parameters),
    ARRAY(glibc_facts, arenas, arena_count, glibc_arena, FACTS_MAX_ARENAS),
    FACT(glibc_facts, mmapped_found_bytes),
    FACT(glibc_facts, mmapped_resident_bytes),
    FACT(glibc_facts, tcaches),
    FACT(glibc_facts, tcache_bytes),
};
const struct schema glibc_facts_schema = SCHEMA(glibc_facts);

static const struct schema_field zend_bin_fields[] = {
    U64(zend_bin, block_bytes),
    U64(zend_bin, runs),
    U64(zend_bin, pages),
    U64(zend_bin, blocks),
    U64(zend_bin, free_blocks),
};
static const struct schema zend_bin_schema = SCHEMA(zend_bin);

static const struct schema_field zend_heap_facts_fields[] = {
    U64(zend_heap_facts, address),
    U64(zend_heap_facts, main_chunk),
    STATE(zend_heap_facts, state),
    TEXT(zend_heap_facts, why),
    U64(zend_heap_facts, plus_minus_bytes),
    BOOL(zend_heap_facts, custom),
    BOOL(zend_heap_facts, found_by_symbol),
    U64(zend_heap_facts, used_bytes),
    U64(zend_heap_facts, real_bytes),
    U64(zend_heap_facts, peak_used_bytes),
    U64(zend_heap_facts, peak_real_bytes),
    FACT(zend_heap_facts, limit_bytes),
    FACT(zend_heap_facts, hard_limit_bytes),
    U64(zend_heap_facts, chunks),
    U64(zend_heap_facts, peak_chunks),
    U64(zend_heap_facts, cached_chunks),
    U64(zend_heap_facts, average_chunks_thousandths),
    U64(zend_heap_facts, small_pages),
    U64(zend_heap_facts, small_live_bytes),
    U64(zend_heap_facts, small_free_bytes),
    U64(zend_heap_facts, run_tail_bytes),
    U64(zend_heap_facts, large_pages),
    U64(zend_heap_facts, large_runs),
    U64(zend_heap_facts, free_pages),
    U64(zend_heap_facts, largest_free_pages),
    U64(zend_heap_facts, huge_blocks),
    U64(zend_heap_facts, huge_bytes),
    U64(zend_heap_facts, half_chunks),
    U64(zend_heap_facts, third_chunks),
    U64(zend_heap_facts, quarter_chunks),
    STATE(zend_heap_facts, resident_state),
    U64(zend_heap_facts, resident_bytes),
    U64(zend_heap_facts, free_resident_bytes),
    U64(zend_heap_facts, cached_resident_bytes),
    U64(zend_heap_facts, huge_resident_bytes),
    STATE(zend_heap_facts, deep_state),
    TEXT(zend_heap_facts, deep_why),
    ARRAY(zend_heap_facts, bins, bin_count, zend_bin, ZEND_BIN_COUNT),
    U64(zend_heap_facts, gc_bytes),
    U64(zend_heap_facts, gc_real_bytes),
    U64(zend_heap_facts, gc_resident_bytes),
};
static const struct schema zend_heap_facts_schema = SCHEMA(zend_heap_facts);

static const struct schema_field zend_facts_fields[] = {
    STATE(zend_facts, state),
    TEXT(zend_facts, why),
    TEXT(zend_facts, version),
    BOOL(zend_facts, thread_safe),
    ARRAY(zend_facts, heaps, heap_count, zend_heap_facts, ZEND_MAX_HEAPS),
};
const struct schema zend_facts_schema = SCHEMA(zend_facts);

static const struct schema_field strata_class_facts_fields[] = {
    U64(strata_class_facts, block_bytes),
    U64(strata_class_facts, slabs),
    U64(strata_class_facts, in_use_blocks),
    U64(strata_class_facts, cached_blocks),
    U64(strata_class_facts, free_blocks),
    U64(strata_class_facts, touched_bytes),
    U64(strata_class_facts, peak_blocks),
    U64(strata_class_facts, purged_bytes),
    U64(strata_class_facts, sampled_requests),
    U64(strata_class_facts, sampled_bytes),
};
static const struct schema strata_class_facts_schema = SCHEMA(strata_class_facts);

static const struct schema_field strata_thread_facts_fields[] = {
    I32(strata_thread_facts, thread_id),
    TEXT(strata_thread_facts, name),
    U64(strata_thread_facts, used_bytes),
    U64(strata_thread_facts, peak_bytes),
    U64(strata_thread_facts, ceiling_bytes),
    U64(strata_thread_facts, refused),
};
static const struct schema strata_thread_facts_schema = SCHEMA(strata_thread_facts);

static const struct schema_field strata_record_facts_fields[] = {
    U32(strata_record_facts, thread, STRATA_MAX_THREADS - 1),
    TEXT_ALWAYS(strata_record_facts, tag),
    U64(strata_record_facts, used_bytes),
    U64(strata_record_facts, used_blocks),
    U64(strata_record_facts, peak_bytes),
    U64(strata_record_facts, allocations),
};
static const struct schema strata_record_facts_schema = SCHEMA(strata_record_facts);

static const struct schema_field strata_facts_fields[] = {
    STATE(strata_facts, state),
    TEXT(strata_facts, why),
    U32(strata_facts, layout_version, UINT32_MAX),
    BOOL(strata_facts, shared),
    U64(strata_facts, plus_minus_bytes),
    U64(strata_facts, generation),
    U64(strata_facts, in_use_bytes),
    U64(strata_facts, in_use_blocks),
    U64(strata_facts, cached_bytes),
    U64(strata_facts, held_bytes),
    U64(strata_facts, free_bytes),
    U64(strata_facts, touched_bytes),
    U64(strata_facts, free_touched_bytes),
    U64(strata_facts, large_bytes),
    U64(strata_facts, large_blocks),
    U64(strata_facts, huge_bytes),
    U64(strata_facts, huge_blocks),
    U64(strata_facts, large_asked_bytes),
    U64(strata_facts, mixed_bytes),
    U64(strata_facts, mixed_touched_bytes),
    U64(strata_facts, span_free_bytes),
    U64(strata_facts, span_touched_bytes),
    U64(strata_facts, slab_tail_bytes),
    U64(strata_facts, descriptor_bytes),
    U64(strata_facts, table_bytes),
    U64(strata_facts, purged_bytes),
    U64(strata_facts, trims),
    U64(strata_facts, peak_span_bytes),
    U64(strata_facts, peak_large_bytes),
    U64(strata_facts, limit_hard_bytes),
    U64(strata_facts, limit_soft_bytes),
    U64(strata_facts, limit_charged_bytes),
    U64(strata_facts, limit_peak_bytes),
    U64(strata_facts, limit_refused),
    U64(strata_facts, limit_purges),
    BOOL(strata_facts, places_known),
    STATE(strata_facts, resident_state),
    U64(strata_facts, resident_bytes),
    U64(strata_facts, huge_resident_bytes),
    U64(strata_facts, free_resident_bytes),
    ARRAY(strata_facts, classes, class_count, strata_class_facts, STRATA_MAX_CLASSES),
    ARRAY(strata_facts, threads, thread_count, strata_thread_facts, STRATA_MAX_THREADS),
    ARRAY(strata_facts, records, record_count, strata_record_facts, STRATA_MAX_RECORDS),
};
const struct schema strata_facts_schema = SCHEMA(strata_facts);
