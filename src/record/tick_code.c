/*
 * tick_code.c - encoder and decoder of ticks. Pure.
 *
 * Most figures of most processes stay the same from tick to tick, and those that move, move
 * by little: a pool of 100 idle workers costs nothing, a busy process some ten bytes.
 */
#include "record/tick_code.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "facts_types/fact.h"

enum { VARINT_BITS = 7, VARINT_MORE = 128, VARINT_BYTES = 10 };

static void append_varint(struct buffer *buffer, uint64_t value)
{
    while (value >= VARINT_MORE) {
        buffer_append_char(buffer, (char)(value | VARINT_MORE));
        value >>= VARINT_BITS;
    }
    buffer_append_char(buffer, (char)value);
}

/* Small differences of either sign become small numbers. */
static uint64_t zigzag(uint64_t difference)
{
    return (difference << 1) ^ (difference >> 63 != 0 ? UINT64_MAX : 0);
}

static uint64_t unzigzag(uint64_t code)
{
    return (code >> 1) ^ ((code & 1) != 0 ? UINT64_MAX : 0);
}

static bool differs(const struct tick_cell *a, const struct tick_cell *b)
{
    return a->value != b->value || a->state != b->state;
}

void tick_encode_row(struct buffer *buffer, uint64_t subject_gap,
    const struct tick_cell *before, const struct tick_cell *after, size_t metric_count)
{
    static const struct tick_cell absent;
    uint64_t changes = 0;
    size_t last = 0;

    for (size_t i = 0; i < metric_count; i++) {
        changes += differs(before != NULL ? &before[i] : &absent, &after[i]);
    }
    append_varint(buffer, subject_gap);
    append_varint(buffer, changes + 1);
    for (size_t i = 0; i < metric_count; i++) {
        const struct tick_cell *old = before != NULL ? &before[i] : &absent;
        if (!differs(old, &after[i])) {
            continue;
        }
        append_varint(
            buffer, ((uint64_t)(i + 1 - last) << 1) | (old->state != after[i].state));
        if (old->state != after[i].state) {
            append_varint(buffer, after[i].state);
        }
        append_varint(buffer, zigzag(after[i].value - old->value));
        last = i + 1;
    }
}

void tick_encode_end(struct buffer *buffer, uint64_t subject_gap)
{
    append_varint(buffer, subject_gap);
    append_varint(buffer, 0);
}

int tick_table_init(struct tick_table *table, size_t subject_count, size_t metric_count)
{
    *table =
        (struct tick_table){.subject_count = subject_count, .metric_count = metric_count};
    if (subject_count > TICK_MAX_SUBJECTS || metric_count > TICK_MAX_METRICS) {
        return -EFBIG;
    }
    table->rows = calloc(subject_count + 1, sizeof(struct tick_cell *));
    return table->rows == NULL ? -ENOMEM : 0;
}

void tick_table_reset(struct tick_table *table)
{
    for (size_t i = 0; table->rows != NULL && i < table->subject_count; i++) {
        free(table->rows[i]);
        table->rows[i] = NULL;
    }
}

void tick_table_release(struct tick_table *table)
{
    tick_table_reset(table);
    free(table->rows);
    *table = (struct tick_table){.rows = NULL};
}

struct code_reader {
    const unsigned char *at;
    const unsigned char *end;
};

static bool read_varint(struct code_reader *reader, uint64_t *value)
{
    uint64_t sum = 0;

    for (unsigned i = 0; i < VARINT_BYTES && reader->at < reader->end; i++) {
        const unsigned char byte = *reader->at++;
        sum |= (uint64_t)(byte & (VARINT_MORE - 1)) << (i * VARINT_BITS);
        if (byte < VARINT_MORE) {
            *value = sum;
            return true;
        }
    }
    return false;
}

static int read_change(struct code_reader *reader, struct tick_cell *cells,
    size_t metric_count, uint64_t *next)
{
    uint64_t key;
    uint64_t code;

    if (!read_varint(reader, &key) || key >> 1 == 0 || key >> 1 > metric_count - *next) {
        return -EINVAL;
    }
    struct tick_cell *cell = &cells[*next + (key >> 1) - 1];
    *next += key >> 1;
    if ((key & 1) != 0 &&
        (!read_varint(reader, &cell->state) || cell->state >= FACT_STATE_COUNT)) {
        cell->state = FACT_MALFORMED;
        return -EINVAL;
    }
    if (!read_varint(reader, &code)) {
        return -EINVAL;
    }
    cell->value += unzigzag(code);
    return 0;
}

static int read_row(struct code_reader *reader, struct tick_table *table, uint64_t *last)
{
    uint64_t gap;
    uint64_t changes;
    uint64_t next = 0;

    if (!read_varint(reader, &gap) || gap == 0 || *last >= table->subject_count ||
        gap >= table->subject_count - *last || !read_varint(reader, &changes)) {
        return -EINVAL;
    }
    *last += gap;
    struct tick_cell **row = &table->rows[*last];
    if (changes == 0) {
        free(*row);
        *row = NULL;
        return 0;
    }
    if (changes - 1 > table->metric_count) {
        return -EINVAL;
    }
    if (*row == NULL) {
        *row = calloc(table->metric_count + 1, sizeof(**row));
        if (*row == NULL) {
            return -ENOMEM;
        }
    }
    for (uint64_t i = 1; i < changes; i++) {
        int rc = read_change(reader, *row, table->metric_count, &next);
        if (rc != 0) {
            return rc;
        }
    }
    return 0;
}

int tick_decode(const void *data, size_t bytes, struct tick_table *table)
{
    struct code_reader reader = {.at = data};
    uint64_t last = 0;
    int rc = bytes > TICK_MAX_BYTES ? -EINVAL : 0;

    reader.end = bytes > 0 ? reader.at + bytes : reader.at;
    while (rc == 0 && reader.at < reader.end) {
        rc = read_row(&reader, table, &last);
    }
    return rc;
}
