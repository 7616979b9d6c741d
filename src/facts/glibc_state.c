/*
 * glibc_state.c - the header of an arena, struct malloc_state of malloc/malloc.c.
 *
 * Every block that an arena takes back or hands out changes its bins, its fast bins or its
 * top (blocks that a thread's tcache serves do not: they stay in use for the arena). So two
 * equal headers mean that nothing happened in between. The lock, the lists of arenas
 * and the number of threads may differ.
 */
#include "facts/glibc_state.h"

enum { FLAGS_OFFSET = 4, NONCONTIGUOUS_FLAG = 2 };

int glibc_state_read(struct glibc_reader *reader, uint64_t address, uint8_t *state)
{
    return memory_read_present(
        reader->memory, address, state, reader->layout->state.bytes);
}

uint64_t glibc_state_held(const struct glibc_reader *reader, const uint8_t *state)
{
    return glibc_word(state + reader->layout->state.system_mem);
}

bool glibc_state_locked(const uint8_t *state)
{
    return glibc_half_word(state) != 0;
}

bool glibc_state_contiguous(const uint8_t *state)
{
    return (glibc_half_word(state + FLAGS_OFFSET) & NONCONTIGUOUS_FLAG) == 0;
}

static uint32_t first_compared(const struct glibc_layout *layout)
{
    return layout->state.fast_bins != 0 ? layout->state.fast_bins : layout->state.top;
}

bool glibc_state_same(
    const struct glibc_layout *layout, const uint8_t *before, const uint8_t *after)
{
    const uint32_t first = first_compared(layout);

    return memcmp(before + first, after + first, layout->state.next - first) == 0 &&
           glibc_word(before + layout->state.system_mem) ==
               glibc_word(after + layout->state.system_mem);
}

/* FNV-1a over words. */
static uint64_t hash_words(const uint8_t *state, uint32_t from, uint32_t to)
{
    const uint64_t prime = UINT64_C(0x100000001b3);
    uint64_t hash = UINT64_C(0xcbf29ce484222325);

    for (uint32_t at = from; at < to; at += sizeof(uint64_t)) {
        hash = (hash ^ glibc_word(state + at)) * prime;
    }
    return hash;
}

uint64_t glibc_state_fingerprint(const struct glibc_layout *layout, const uint8_t *state)
{
    return hash_words(state, first_compared(layout), layout->state.next) ^
           glibc_word(state + layout->state.system_mem);
}

uint64_t glibc_state_fast_fingerprint(
    const struct glibc_layout *layout, const uint8_t *state)
{
    return hash_words(state, first_compared(layout), layout->state.top);
}
