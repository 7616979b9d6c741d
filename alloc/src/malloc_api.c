/*
 * strata/malloc.h in terms of the layers below. Structs are filled through a copy of the
 * caller's size, so that older callers keep working with more fields.
 */
#include "malloc_api.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>

#include "blockclass.h"
#include "central_figures.h"
#include "front.h"
#include "front_figures.h"
#include "large_books.h"
#include "tags.h"
#include "units.h"

/* All structs begin with their size as the caller knows it. 0 or EINVAL. */
static int hand_over(void *to, void *from, size_t known_bytes)
{
    size_t bytes = 0;
    if (to == NULL) {
        return EINVAL;
    }
    memcpy(&bytes, to, sizeof(bytes));
    if (bytes < sizeof(bytes)) {
        return EINVAL;
    }
    memcpy(from, &bytes, sizeof(bytes));
    memcpy(to, from, bytes < known_bytes ? bytes : known_bytes);
    return 0;
}

static size_t purged_by_classes(void)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        struct strata__class_stats class;
        strata__central_get_stats(i, &class);
        bytes += class.purged_bytes;
    }
    return bytes;
}

int strata_malloc_get_stats(struct strata_malloc_stats *stats)
{
    struct strata__front_stats front;
    struct strata__units_stats units;
    struct strata__large_stats large;
    strata__front_get_stats(&front);
    strata__units_get_stats(&units);
    strata__large_get_stats(&large);
    struct strata_malloc_stats found = {
        .in_use_bytes = front.in_use_bytes,
        .in_use_blocks = front.in_use_blocks,
        .cached_bytes = front.cached_bytes,
        .free_bytes = front.mapped_bytes - front.in_use_bytes - front.cached_bytes,
        .held_bytes = front.mapped_bytes,
        .touched_bytes = front.resident_bytes,
        .large_bytes = front.large_bytes,
        .large_blocks = front.large_blocks,
        .large_asked_bytes = large.large_asked_bytes + large.huge_asked_bytes,
        .descriptor_bytes = front.metadata_bytes,
        .purged_bytes = purged_by_classes() + units.purged_bytes + large.purged_bytes,
        .peak_span_bytes = units.peak_used_bytes,
        .peak_large_bytes = large.peak_bytes,
    };
    return hand_over(stats, &found, sizeof(found));
}

int strata_malloc_get_class(unsigned number, struct strata_malloc_class *stats)
{
    struct strata__class_stats class;
    if (number >= STRATA__BLOCK_CLASSES) {
        return EINVAL;
    }
    size_t cached = strata__front_cached_blocks(number);
    strata__central_get_stats(number, &class);
    struct strata_malloc_class found = {
        .block_bytes = strata__block_classes[number].bytes,
        .slabs = class.slabs,
        .in_use_blocks = class.out_blocks - cached,
        .cached_blocks = cached,
        .free_blocks = class.free_blocks,
        .touched_bytes = class.touched_bytes,
        .peak_blocks = class.peak_out_blocks,
        .purged_bytes = class.purged_bytes,
        .sampled_requests = class.sampled_requests,
        .sampled_bytes = class.sampled_bytes,
    };
    return hand_over(stats, &found, sizeof(found));
}

void strata_malloc_reset_peaks(void)
{
    strata__front_reset_peaks();
}

int strata_malloc_trim(void)
{
    return strata__front_trim();
}

int strata_tag_push(const char *tag)
{
    int saved = errno;
    int failed = strata__tags_push(tag);
    strata__front_use_tags();
    errno = saved;
    return failed;
}

void strata_tag_pop(void)
{
    strata__tags_pop();
}

static int get_usage(const char *tag, int of_all_threads, struct strata_tag_usage *usage)
{
    struct strata__tag_stats stats;
    int failed = strata__tags_get(tag, of_all_threads, &stats);
    if (failed != 0) {
        return failed;
    }
    struct strata_tag_usage found = {
        .used_bytes = stats.used_bytes,
        .used_blocks = stats.used_blocks,
        .peak_bytes = stats.peak_bytes,
        .allocations = stats.allocations,
    };
    return hand_over(usage, &found, sizeof(found));
}

int strata_tag_get_mine(const char *tag, struct strata_tag_usage *usage)
{
    return get_usage(tag, 0, usage);
}

int strata_tag_get_all(const char *tag, struct strata_tag_usage *usage)
{
    return get_usage(tag, 1, usage);
}

int strata_thread_set_name(const char *name)
{
    int saved = errno;
    int failed = strata__tags_set_thread_name(name);
    errno = saved;
    return failed;
}

int strata_thread_set_ceiling(size_t bytes)
{
    int saved = errno;
    int failed = strata__tags_set_ceiling(bytes);
    strata__front_use_tags();
    errno = saved;
    return failed;
}
