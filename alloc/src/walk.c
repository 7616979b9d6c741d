/*
 * Helpers of the two layouts' walks. Pure: a walk's state is its struct.
 *
 * Invariant: the class totals are the sums over the small runs visited so far.
 *
 * Threads: as the heap which is walked.
 */
#include "walk.h"

int strata__walk_visit(struct strata__walk *walk, enum strata_walk_kind kind,
    const void *address, size_t bytes, size_t resident_bytes)
{
    struct strata_walk_item item = {
        .struct_bytes = sizeof(item),
        .kind = kind,
        .address = address,
        .bytes = bytes,
        .resident_bytes = resident_bytes,
    };
    return walk->visitor(walk->context, &item);
}

int strata__walk_small_run(struct strata__walk *walk, unsigned bin, const void *address,
    size_t bytes, size_t live_blocks)
{
    struct strata_walk_item item = {
        .struct_bytes = sizeof(item),
        .kind = STRATA_WALK_SMALL_RUN,
        .address = address,
        .bytes = bytes,
        .block_bytes = strata__sizeclasses[bin].block_bytes,
        .blocks = bytes / strata__sizeclasses[bin].block_bytes,
        .live_blocks = live_blocks,
        .resident_bytes = bytes,
    };
    walk->runs[bin]++;
    walk->run_bytes[bin] += item.bytes;
    walk->blocks[bin] += item.blocks;
    walk->live_blocks[bin] += live_blocks;
    return walk->visitor(walk->context, &item);
}

int strata__walk_classes(struct strata__walk *walk)
{
    int result = 0;
    for (unsigned bin = 0; bin < STRATA__BINS && result == 0; bin++) {
        if (walk->runs[bin] > 0) {
            struct strata_walk_item item = {
                .struct_bytes = sizeof(item),
                .kind = STRATA_WALK_CLASS,
                .bytes = walk->run_bytes[bin],
                .block_bytes = strata__sizeclasses[bin].block_bytes,
                .blocks = walk->blocks[bin],
                .live_blocks = walk->live_blocks[bin],
                .resident_bytes = walk->run_bytes[bin],
            };
            result = walk->visitor(walk->context, &item);
        }
    }
    return result;
}
