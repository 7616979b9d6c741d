/*
 * frame_table.c - open addressing over 8-byte places.
 *
 * Only pages that are mapped more than once get here, so the table grows with the distinct
 * shared frames of a pool, not with its size: 100 workers that share 200 MiB need 1 MiB.
 */
#include "facts/frame_table.h"

#include <errno.h>
#include <stdlib.h>

enum { FIRST_CAPACITY = 4096, COUNT_MAX = (1 << 24) - 1 };

#define FRAME_MAX ((UINT64_C(1) << 40) - 1)
#define HASH_FACTOR UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / golden ratio: spreads runs */
#define HASH_SHIFT 32

void frame_table_init(struct frame_table *table)
{
    *table = (struct frame_table){0};
}

void frame_table_release(struct frame_table *table)
{
    free(table->places);
    *table = (struct frame_table){0};
}

static struct frame_count *find(
    struct frame_count *places, size_t capacity, uint64_t frame)
{
    size_t at = (size_t)(frame * HASH_FACTOR >> HASH_SHIFT) & (capacity - 1);

    while (places[at].count != 0 && places[at].frame != frame) {
        at = (at + 1) & (capacity - 1);
    }
    return &places[at];
}

static int grow(struct frame_table *table)
{
    const size_t capacity = table->capacity == 0 ? FIRST_CAPACITY : table->capacity * 2;
    struct frame_count *places = calloc(capacity, sizeof(*places));

    if (places == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < table->capacity; i++) {
        if (table->places[i].count != 0) {
            *find(places, capacity, table->places[i].frame) = table->places[i];
        }
    }
    free(table->places);
    table->places = places;
    table->capacity = capacity;
    return 0;
}

int frame_table_add(struct frame_table *table, uint64_t frame)
{
    if (frame == 0 || frame > FRAME_MAX) {
        return -ERANGE;
    }
    if (table->count >= table->capacity / 2) {
        int rc = table->count >= FRAME_TABLE_MAX ? -EFBIG : grow(table);
        if (rc != 0) {
            return rc;
        }
    }
    struct frame_count *place = find(table->places, table->capacity, frame);
    if (place->count == 0) {
        place->frame = frame;
        table->count++;
    }
    if (place->count < COUNT_MAX) {
        place->count++;
    }
    return 0;
}

static int compare_frames(const void *left, const void *right)
{
    const struct frame_count *a = left;
    const struct frame_count *b = right;

    return (a->frame > b->frame) - (a->frame < b->frame);
}

size_t frame_table_sort(struct frame_table *table)
{
    size_t kept = 0;

    for (size_t i = 0; i < table->capacity; i++) {
        if (table->places[i].count != 0) {
            table->places[kept++] = table->places[i];
        }
    }
    if (kept > 0) {
        qsort(table->places, kept, sizeof(*table->places), compare_frames);
    }
    return kept;
}
