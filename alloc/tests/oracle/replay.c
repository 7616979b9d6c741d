/*
 * Translates what PHP does into what PHP asks of its allocator, and asks that of ours.
 *
 * The sizes come from PHP 8.2: a string asks for its length and 32 (header of 24 bytes and
 * terminator, rounded up to 8: Zend/zend_string.h, zend_string_safe_alloc; where another
 * rounding is in use, the lengths are chosen so that it gives the same). An array is a struct of 56 bytes and, from the first element on, a table of 16 bytes for
 * each element and 8 more, which starts at 8 elements and doubles (Zend/zend_hash.h,
 * HT_PACKED_SIZE_EX). An SplFixedArray asks for exactly 16 bytes for each element.
 *
 * The order of the requests is PHP's as well: a new value is made before the old one in
 * its place is freed, an array's table goes before its struct.
 */
#include "replay.h"

#include <errno.h>
#include <stdbool.h>
#include <strata/heap.h>

enum {
    STRING_OVERHEAD_BYTES = 32,
    ARRAY_STRUCT_BYTES = 56,
    ARRAY_FIRST_ELEMENTS = 8,
    ARRAY_HASH_BYTES = 8,
    ELEMENT_BYTES = 16,
    PAGE_SIZE_BYTES = 4096,
    FIRST_CHUNK_PAGES = 511,
};

struct string {
    void *block;
    size_t length;
};

struct array {
    void *header;
    void *table;
    size_t elements;
    size_t capacity;
};

struct fixed_array {
    void *block;
    size_t elements;
};

struct replay {
    struct strata_heap *heap;
    struct string strings[STRING_SLOTS];
    struct array arrays[ARRAY_SLOTS];
    struct fixed_array fixed[FIXED_SLOTS];
};

static size_t string_bytes(size_t length)
{
    return length + STRING_OVERHEAD_BYTES;
}

static size_t table_bytes(size_t capacity)
{
    return capacity * ELEMENT_BYTES + ARRAY_HASH_BYTES;
}

/* A new block takes the string's place; the old one goes afterwards. */
static int string_replace(struct replay *replay, struct string *string, size_t length)
{
    void *block = strata_alloc(replay->heap, string_bytes(length));
    if (block == NULL) {
        return -ENOMEM;
    }
    strata_free(replay->heap, string->block);
    *string = (struct string){.block = block, .length = length};
    return 0;
}

static int string_extend(struct replay *replay, struct string *string, size_t added)
{
    size_t length = string->length + added;
    void *block = strata_realloc(replay->heap, string->block, string_bytes(length));
    if (block == NULL) {
        return -ENOMEM;
    }
    *string = (struct string){.block = block, .length = length};
    return 0;
}

/* Room for every byte to be escaped, then cut to what was needed: nothing was escaped. */
static int string_quote(struct replay *replay, struct string *string)
{
    size_t length = string->length;
    void *wide = strata_alloc(replay->heap, string_bytes(2 * length));
    void *block = NULL;
    if (wide != NULL) {
        block = strata_realloc(replay->heap, wide, string_bytes(length));
    }
    if (block == NULL) {
        return -ENOMEM;
    }
    strata_free(replay->heap, string->block);
    string->block = block;
    return 0;
}

static void array_discard(struct replay *replay, struct array *array)
{
    strata_free(replay->heap, array->table);
    strata_free(replay->heap, array->header);
    *array = (struct array){0};
}

static int array_make(struct replay *replay, struct array *array, size_t capacity)
{
    array->header = strata_alloc(replay->heap, ARRAY_STRUCT_BYTES);
    array->table = strata_alloc(replay->heap, table_bytes(capacity));
    array->capacity = capacity;
    return array->header == NULL || array->table == NULL ? -ENOMEM : 0;
}

static int array_append(struct replay *replay, struct array *array, size_t count)
{
    if (array->header == NULL) {
        int error = array_make(replay, array, ARRAY_FIRST_ELEMENTS);
        if (error != 0) {
            return error;
        }
    }
    array->elements += count;
    while (array->capacity < array->elements) {
        array->capacity *= 2;
        void *table =
            strata_realloc(replay->heap, array->table, table_bytes(array->capacity));
        if (table == NULL) {
            return -ENOMEM;
        }
        array->table = table;
    }
    return 0;
}

static int array_copy(struct replay *replay, struct array *to, const struct array *from)
{
    array_discard(replay, to);
    to->elements = from->elements;
    return array_make(replay, to, from->capacity);
}

static int fixed_resize(struct replay *replay, struct fixed_array *fixed, size_t elements)
{
    if (elements == fixed->elements) {
        return 0;
    }
    if (elements == 0) {
        strata_free(replay->heap, fixed->block);
        *fixed = (struct fixed_array){0};
        return 0;
    }
    void *block = strata_realloc(replay->heap, fixed->block, elements * ELEMENT_BYTES);
    if (block == NULL) {
        return -ENOMEM;
    }
    *fixed = (struct fixed_array){.block = block, .elements = elements};
    return 0;
}

/* A string added to itself has two owners for the moment: it is copied, not extended. */
static int string_concat(struct replay *replay, unsigned slot, unsigned other)
{
    struct string *string = &replay->strings[slot];
    if (slot == other) {
        return string_replace(replay, string, 2 * string->length);
    }
    return string_extend(replay, string, replay->strings[other].length);
}

/* One operation; *collected is what a gc gave back. */
static int step(
    struct replay *replay, const struct operation *operation, int64_t *collected)
{
    unsigned slot = operation->slot;
    unsigned other = operation->other;
    size_t amount = operation->amount;
    *collected = 0;
    switch (operation->kind) {
    case OPERATION_MAKE:
    case OPERATION_CUT:
        return string_replace(replay, &replay->strings[slot], amount);
    case OPERATION_DROP:
        strata_free(replay->heap, replay->strings[slot].block);
        replay->strings[slot] = (struct string){0};
        return 0;
    case OPERATION_PIECE:
        return string_extend(replay, &replay->strings[slot], piece_bytes[other]);
    case OPERATION_CONCAT:
        return string_concat(replay, slot, other);
    case OPERATION_QUOTE:
        return string_quote(replay, &replay->strings[slot]);
    case OPERATION_APPEND:
        return array_append(replay, &replay->arrays[slot], amount);
    case OPERATION_COPY:
        return array_copy(replay, &replay->arrays[slot], &replay->arrays[other]);
    case OPERATION_DISCARD:
        array_discard(replay, &replay->arrays[slot]);
        return 0;
    case OPERATION_RESIZE:
        return fixed_resize(replay, &replay->fixed[slot], amount);
    case OPERATION_GC:
        *collected = (int64_t)strata_heap_trim(replay->heap);
        return 0;
    case OPERATION_RESET:
        strata_heap_reset_peak(replay->heap);
        return 0;
    }
    return -EINVAL;
}

static struct figures read_figures(const struct replay *replay, int64_t collected)
{
    struct strata_heap_stats stats = {.struct_bytes = sizeof(stats)};
    strata_heap_get_stats(replay->heap, &stats);
    return (struct figures){.used = (int64_t)stats.used_bytes,
        .real = (int64_t)stats.real_bytes,
        .peak_used = (int64_t)stats.peak_used_bytes,
        .peak_real = (int64_t)stats.peak_real_bytes,
        .collected = collected};
}

/* The state in which engine.php starts: one chunk, which is full, and one in the cache. */
static bool fill_first_chunk(struct replay *replay)
{
    void *first = strata_alloc(replay->heap, FIRST_CHUNK_PAGES * PAGE_SIZE_BYTES);
    void *second = strata_alloc(replay->heap, PAGE_SIZE_BYTES);
    if (first == NULL || second == NULL) {
        return false;
    }
    strata_free(replay->heap, second);
    strata_heap_reset_peak(replay->heap);
    return true;
}

int replay_run(const struct operation *list, size_t count, struct figures *figures)
{
    struct strata_heap_options options = {
        .struct_bytes = sizeof(options), .layout = STRATA_LAYOUT_ZEND, .name = "oracle"};
    struct replay replay = {.heap = strata_heap_new(&options)};
    if (replay.heap == NULL) {
        return -ENOMEM;
    }
    int error = fill_first_chunk(&replay) ? 0 : -ENOMEM;
    int64_t collected = 0;
    figures[0] = read_figures(&replay, collected);
    for (size_t i = 0; i < count && error == 0; i++) {
        error = step(&replay, &list[i], &collected);
        figures[i + 1] = read_figures(&replay, collected);
    }
    strata_heap_delete(replay.heap);
    return error;
}
