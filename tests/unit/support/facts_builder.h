/* facts_builder.h - facts made by hand, for the tests of the pure layers. */
#ifndef STRATA_TESTS_UNIT_SUPPORT_FACTS_BUILDER_H
#define STRATA_TESTS_UNIT_SUPPORT_FACTS_BUILDER_H

#include <stdint.h>

#include "facts_types/facts.h"

#define KIB UINT64_C(1024)
#define MIB (KIB * KIB)
#define GIB (KIB * MIB)

/* A number that was read. */
struct fact fact_ok(uint64_t value);

/* One process target without members yet. Fails the test when memory is short. */
void builder_init(struct facts *facts);
void builder_release(struct facts *facts);

/*
 * The pointers below are valid until the next item of the same kind is added: the arrays
 * move when they grow.
 */
struct process_facts *builder_process(struct facts *facts, int32_t pid, const char *name);

/* permissions as in maps ("rw-p"); path ending in " (deleted)" marks a deleted file. */
struct mapping *builder_mapping(struct facts *facts, struct process_facts *process,
    uint64_t start, uint64_t size_bytes, const char *permissions, const char *path);

/* Sets Rss, Pss and, for anonymous memory, Anonymous and Private_Dirty of a mapping. */
void builder_set_rss(struct mapping *mapping, uint64_t rss_bytes);

struct span *builder_span(struct facts *facts, struct process_facts *process,
    enum span_owner owner, uint64_t start, uint64_t size_bytes, uint64_t resident_bytes);

/* Makes glibc the process's allocator (2.36) and adds an arena, all zero but held. */
struct glibc_arena *builder_arena(
    struct facts *facts, struct process_facts *process, bool main, uint64_t held_bytes);

struct allocator_facts *builder_allocator(
    struct facts *facts, struct process_facts *process, enum allocator_kind kind);

struct cgroup_facts *builder_cgroup(struct facts *facts, uint32_t version);

#endif
