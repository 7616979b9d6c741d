/*
 * glibc_parameters.c - struct malloc_par by its shape.
 *
 * mp_ lies in the data of libc, apart from main_arena, and every field of it can be changed
 * by mallopt(3) or a tunable. So no single value proves it: some relations must hold
 * (sums against their maxima, the tcache's three values among each other), the rest
 * are points. Where the main heap began is known from main_arena itself and is worth
 * most. mp_ in malloc/malloc.c.
 */
#include "facts/glibc_parameters.h"

enum {
    TRIM_THRESHOLD = 0x00,
    TOP_PAD = 0x08,
    MMAP_THRESHOLD = 0x10,
    ARENA_TEST = 0x18,
    ARENA_MAX = 0x20,
    /* From n_mmaps on. */
    MMAPS_MAX = 4,
    MMAPS_PEAK = 8,
    NO_DYNAMIC_THRESHOLD = 12,
    /* From mmapped_mem and from tcache_bins on. */
    MMAPPED_PEAK = 8,
    SBRK_BASE = 16,
    TCACHE_MAX_BYTES = 8,
    TCACHE_COUNT = 16,
};

enum {
    DEFAULT_MMAPS_MAX = 65536,
    DEFAULT_TOP_PAD = 131072,
    DEFAULT_ARENA_TEST = 8,
    DEFAULT_TCACHE_BYTES = 1032,
    DEFAULT_TCACHE_BYTES_2_42 = 1040,
    DEFAULT_TCACHE_BYTES_2_43 = 1041,
    LARGEST_USER_OVER_BINS = 8,  /* 24 + 16 * (bins - 1) */
    LARGEST_CHUNK_OVER_USER = 9, /* the chunk's size word, and one more */
    LARGEST_TCACHE_COUNT = 65535,
    LARGEST_TCACHE_BYTES = 4 << 20, /* 2.42: twelve more bins, up to 4 MiB */
    LARGEST_ARENA_TEST = 1 << 20,
    BLOCK_BYTES = 4096,
};

enum {
    POINTS_HEAP_START = 4,
    POINTS_DEFAULT = 1,
    POINTS_MMAPS_MAX = 2,
    POINTS_ENOUGH = 4
};

/*
 * do_set_tcache_max(): the bins are those that hold max_bytes, 16 bytes apart from 24. The
 * limit is of user memory up to 2.41, of the chunk in 2.42, one more than that in 2.43.
 */
static bool is_tcache_consistent(uint64_t bins, uint64_t max_bytes, uint64_t count)
{
    const uint64_t user = bins * GLIBC_CHUNK_ALIGN + LARGEST_USER_OVER_BINS;

    if (bins == 0 || bins > GLIBC_TCACHE_MAXIMUM_BINS || count > LARGEST_TCACHE_COUNT) {
        return false;
    }
    if (bins == GLIBC_TCACHE_SMALL_BINS && max_bytes > user) {
        return max_bytes <= LARGEST_TCACHE_BYTES;
    }
    return max_bytes <= user + LARGEST_CHUNK_OVER_USER &&
           max_bytes + GLIBC_CHUNK_ALIGN >= user;
}

static bool is_tcache_default(uint64_t max_bytes)
{
    return max_bytes == DEFAULT_TCACHE_BYTES || max_bytes == DEFAULT_TCACHE_BYTES_2_42 ||
           max_bytes == DEFAULT_TCACHE_BYTES_2_43;
}

static uint32_t score_of(
    const struct glibc_parameter_layout *layout, const uint8_t *data, uint64_t heap_start)
{
    const uint8_t *maps = data + layout->n_mmaps;
    const uint8_t *mapped = data + layout->mmapped_mem;
    const uint8_t *tcache = data + layout->tcache_bins;
    const uint64_t start = glibc_word(mapped + SBRK_BASE);
    const uint64_t mapped_bytes = glibc_word(mapped);
    const uint64_t arena_test = glibc_word(data + ARENA_TEST);
    uint32_t score = 0;

    if (!is_tcache_consistent(glibc_word(tcache), glibc_word(tcache + TCACHE_MAX_BYTES),
            glibc_word(tcache + TCACHE_COUNT)) ||
        glibc_half_word(maps) > glibc_half_word(maps + MMAPS_PEAK) ||
        glibc_half_word(maps + NO_DYNAMIC_THRESHOLD) > 1 ||
        mapped_bytes > glibc_word(mapped + MMAPPED_PEAK) ||
        mapped_bytes % BLOCK_BYTES != 0 ||
        (mapped_bytes == 0) != (glibc_half_word(maps) == 0) ||
        arena_test > LARGEST_ARENA_TEST ||
        glibc_word(data + MMAP_THRESHOLD) > glibc_maximum_bytes) {
        return 0;
    }
    if (layout->thp_pagesize != 0 &&
        (glibc_word(data + layout->thp_pagesize) % BLOCK_BYTES != 0 ||
            glibc_word(data + layout->hp_pagesize) % BLOCK_BYTES != 0)) {
        return 0;
    }
    score += heap_start != 0 && start == heap_start ? POINTS_HEAP_START : 0;
    score +=
        glibc_half_word(maps + MMAPS_MAX) == DEFAULT_MMAPS_MAX ? POINTS_MMAPS_MAX : 0;
    score += glibc_word(data + TOP_PAD) == DEFAULT_TOP_PAD ? POINTS_DEFAULT : 0;
    score += arena_test == DEFAULT_ARENA_TEST ? POINTS_DEFAULT : 0;
    score +=
        is_tcache_default(glibc_word(tcache + TCACHE_MAX_BYTES)) ? POINTS_DEFAULT : 0;
    return score;
}

void glibc_parameters_match(const struct glibc_layout *layout, const uint8_t *data,
    uint64_t address, uint64_t heap_start, struct glibc_parameter_match *match)
{
    const struct glibc_parameter_layout *parameters = &layout->parameters;
    const uint32_t score = score_of(parameters, data, heap_start);

    if (score >= POINTS_ENOUGH && score > match->score) {
        match->address = address;
        match->score = score;
        match->layout = parameters;
    }
}

void glibc_parameters_read(
    struct glibc_reader *reader, struct glibc_parameters *parameters)
{
    const struct glibc_parameter_layout *layout = &reader->layout->parameters;
    uint8_t data[256];
    const uint8_t *maps = data + layout->n_mmaps;
    const uint8_t *mapped = data + layout->mmapped_mem;
    const uint8_t *tcache = data + layout->tcache_bins;

    *parameters = (struct glibc_parameters){.state = FACT_ABSENT};
    if (reader->parameters == 0 || memory_read_present(reader->memory, reader->parameters,
                                       data, layout->bytes) < 0) {
        return;
    }
    parameters->state = FACT_OK;
    parameters->trim_threshold_bytes = glibc_word(data + TRIM_THRESHOLD);
    parameters->top_pad_bytes = glibc_word(data + TOP_PAD);
    parameters->mmap_threshold_bytes = glibc_word(data + MMAP_THRESHOLD);
    parameters->arena_test = glibc_word(data + ARENA_TEST);
    parameters->arena_max = glibc_word(data + ARENA_MAX);
    parameters->mmapped_blocks = glibc_half_word(maps);
    parameters->mmapped_blocks_peak = glibc_half_word(maps + MMAPS_PEAK);
    parameters->dynamic_threshold_off = glibc_half_word(maps + NO_DYNAMIC_THRESHOLD) != 0;
    parameters->mmapped_bytes = glibc_word(mapped);
    parameters->mmapped_peak_bytes = glibc_word(mapped + MMAPPED_PEAK);
    parameters->sbrk_base = glibc_word(mapped + SBRK_BASE);
    parameters->tcache_bins = glibc_word(tcache);
    parameters->tcache_max_bytes = glibc_word(tcache + TCACHE_MAX_BYTES);
    parameters->tcache_count = glibc_word(tcache + TCACHE_COUNT);
    if (layout->thp_pagesize != 0) {
        parameters->thp_pagesize_bytes = glibc_word(data + layout->thp_pagesize);
    }
}
