/*
 * Adds up, recounts and resets what the parts know of themselves; it owns nothing. The sum
 * is exact when no other thread calls: each part is asked under its own lock, one after
 * another.
 */
#include "front_figures.h"

#include "blockclass.h"
#include "central_figures.h"
#include "hard.h"
#include "large_books.h"
#include "limit.h"
#include "metadata.h"
#include "mixed.h"
#include "percpu.h"
#include "region.h"
#include "tags.h"
#include "units.h"

size_t strata__front_cached_blocks(unsigned class)
{
    return strata__percpu_blocks(class) + strata__hard_blocks(class);
}

void strata__front_get_stats(struct strata__front_stats *stats)
{
    struct strata__units_stats units;
    struct strata__large_stats large;
    struct strata__mixed_stats mixed;
    strata__mixed_get_stats(&mixed);
    strata__units_get_stats(&units);
    strata__large_get_stats(&large);
    *stats = (struct strata__front_stats){
        .in_use_bytes = large.large_bytes + large.huge_bytes,
        .in_use_blocks = large.large_blocks + large.huge_blocks,
        .large_bytes = large.large_bytes + large.huge_bytes,
        .large_blocks = large.large_blocks + large.huge_blocks,
        .mapped_bytes = units.mapped_bytes + large.huge_bytes,
        .metadata_bytes = strata__metadata_bytes() + strata__percpu_metadata_bytes(),
        .resident_bytes = mixed.touched_bytes + units.dirty_bytes + large.large_bytes +
                          large.tail_bytes + large.huge_bytes,
    };
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        struct strata__class_stats class;
        size_t block_bytes = strata__block_classes[i].bytes;
        size_t cached = strata__front_cached_blocks(i);
        strata__central_get_stats(i, &class);
        stats->in_use_blocks += class.out_blocks - cached;
        stats->in_use_bytes += (class.out_blocks - cached) * block_bytes;
        stats->cached_bytes += cached * block_bytes;
        stats->resident_bytes += class.touched_bytes;
    }
    stats->free_bytes = stats->resident_bytes - stats->in_use_bytes - stats->cached_bytes;
}

void strata__front_reset_peaks(void)
{
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        strata__central_reset_peak(i);
    }
    strata__large_reset_peak();
    strata__units_reset_peak();
    strata__limit_reset_peak();
    strata__tags_reset_peaks();
    strata__region_count_reset();
}

void strata__front_check(void)
{
    strata__central_check();
    strata__units_check();
}
