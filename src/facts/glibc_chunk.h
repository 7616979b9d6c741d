/* glibc_chunk.h - kinds of chunks, while a heap is walked. */
#ifndef STRATA_FACTS_GLIBC_CHUNK_H
#define STRATA_FACTS_GLIBC_CHUNK_H

#include "facts/glibc_walk.h"

/*
 * The size of the chunk at address, whose words chunk shows, when it may be in a list that was
 * cut: when the word where its link would be leads to a place of the arena, or is the last.
 * Zero also stands for a page that is absent.
 */
uint64_t glibc_chunk_hidden_bytes(
    const struct glibc_walk *walk, const uint8_t *chunk, uint64_t address, uint64_t size);

/*
 * Bytes of the fence posts that end a heap which is not the arena's newest, at position.at, where
 * a chunk has that size; 0: they are not there.
 */
uint64_t glibc_chunk_fence_bytes(const struct glibc_walk *walk, uint64_t size);

/* Two fence posts in the main heap: behind them lies memory that is not malloc's. */
bool glibc_chunk_is_foreign_break(const struct glibc_walk *walk, const uint8_t *chunk);

/* Remembers a chunk that has the size of a thread's cache, unless it cannot be one. */
void glibc_chunk_take_tcache(struct glibc_walk *walk, const uint8_t *chunk);

#endif
