/* tick_code.h - the figures of one moment as the difference to the moment before. */
#ifndef STRATA_RECORD_TICK_CODE_H
#define STRATA_RECORD_TICK_CODE_H

#include <stddef.h>
#include <stdint.h>

#include "base/buffer.h"

/* Bounds of what a file may ask for; a recorder stays far below. */
enum {
    TICK_MAX_METRICS = 512,
    TICK_MAX_SUBJECTS = 4 << 20,
    TICK_MAX_BYTES = 64 << 20,
};

/* One figure; zeroed is absent. Negative values are stored in two's complement. */
struct tick_cell {
    uint64_t value;
    uint64_t state; /* enum fact_state */
};

/*
 * A tick is a sequence of rows, one for each subject that changed, in the order of their
 * numbers. All numbers are LEB128 varints:
 *   row      subject number less that of the row before (0 before the first), never 0
 *            1 + number of changes, or 0: the subject has ended, all its cells are absent
 *   change   (metric number less that before, or metric + 1 for the first) * 2 + 1 when the
 *            state changes
 *            the new state, when it changes
 *            the difference of the values, modulo 2^64, zigzag
 * A keyframe is the difference to nothing: all cells absent.
 */
void tick_encode_row(struct buffer *buffer, uint64_t subject_gap,
    const struct tick_cell *before, const struct tick_cell *after, size_t metric_count);

/* A row that says that the subject has ended. */
void tick_encode_end(struct buffer *buffer, uint64_t subject_gap);

/* The cells of all subjects; rows are NULL for subjects without any. */
struct tick_table {
    struct tick_cell **rows;
    size_t subject_count; /* rows[0] is not used: numbers start at 1 */
    size_t metric_count;
};

/* Room for subjects numbered below subject_count. 0, -EFBIG above the bounds, -ENOMEM. */
int tick_table_init(struct tick_table *table, size_t subject_count, size_t metric_count);
void tick_table_release(struct tick_table *table);

/* All cells absent, as before a keyframe. */
void tick_table_reset(struct tick_table *table);

/*
 * Applies a tick to table. The data are not trusted: 0, -ENOMEM, or -EINVAL when they are
 * no tick for a table of this size; then rows before the damage are applied already.
 */
int tick_decode(const void *data, size_t bytes, struct tick_table *table);

#endif
