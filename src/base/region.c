/*
 * region.c - blocks of growing size in a list; pieces are cut off the newest one.
 *
 * Arrays grow by doubling into a fresh piece; the old piece stays until the region is
 * released, which costs at most as much again as the array itself.
 */
#include "base/region.h"

#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_BLOCK_BYTES = 1024, LARGEST_BLOCK_BYTES = 1 << 20, FIRST_ITEMS = 8 };

struct region_block {
    struct region_block *next;
    size_t capacity_bytes;
    size_t used_bytes;
    max_align_t data[];
};

void region_init(struct region *region, size_t maximum_bytes)
{
    *region = (struct region){.maximum_bytes = maximum_bytes};
}

void region_release(struct region *region)
{
    while (region->blocks != NULL) {
        struct region_block *block = region->blocks;
        region->blocks = block->next;
        free(block);
    }
    region->used_bytes = 0;
}

static struct region_block *add_block(struct region *region, size_t need_bytes)
{
    size_t capacity = FIRST_BLOCK_BYTES;
    struct region_block *block;

    if (region->blocks != NULL && region->blocks->capacity_bytes < LARGEST_BLOCK_BYTES) {
        capacity = region->blocks->capacity_bytes * 2;
    } else if (region->blocks != NULL) {
        capacity = LARGEST_BLOCK_BYTES;
    }
    if (capacity < need_bytes) {
        capacity = need_bytes;
    }
    block = malloc(sizeof(*block) + capacity);
    if (block == NULL) {
        return NULL;
    }
    block->next = region->blocks;
    block->capacity_bytes = capacity;
    block->used_bytes = 0;
    region->blocks = block;
    return block;
}

void *region_alloc(struct region *region, size_t bytes)
{
    const size_t align = sizeof(max_align_t);
    struct region_block *block = region->blocks;
    void *piece;

    if (bytes > region->maximum_bytes) {
        return NULL;
    }
    bytes = bytes == 0 ? align : (bytes + align - 1) / align * align;
    if (bytes > region->maximum_bytes - region->used_bytes) {
        return NULL;
    }
    if (block == NULL || block->capacity_bytes - block->used_bytes < bytes) {
        block = add_block(region, bytes);
        if (block == NULL) {
            return NULL;
        }
    }
    piece = (char *)block->data + block->used_bytes;
    block->used_bytes += bytes;
    region->used_bytes += bytes;
    return memset(piece, 0, bytes);
}

char *region_copy(struct region *region, const char *text, size_t bytes)
{
    char *copy = bytes == SIZE_MAX ? NULL : region_alloc(region, bytes + 1);

    if (copy != NULL) {
        memcpy(copy, text, bytes);
    }
    return copy;
}

char *region_copy_text(struct region *region, const char *text)
{
    return text == NULL ? NULL : region_copy(region, text, strlen(text));
}

char *region_printf(struct region *region, const char *format, ...)
{
    va_list arguments;
    char *text;
    int bytes;

    va_start(arguments, format);
    bytes = vsnprintf(NULL, 0, format, arguments);
    va_end(arguments);
    text = bytes < 0 ? NULL : region_alloc(region, (size_t)bytes + 1);
    if (text != NULL) {
        va_start(arguments, format);
        (void)vsnprintf(text, (size_t)bytes + 1, format, arguments);
        va_end(arguments);
    }
    return text;
}

void *region_grow(
    struct region *region, void *items, size_t count, size_t maximum, size_t item_bytes)
{
    char *data;

    if (count >= maximum) {
        return NULL;
    }
    memcpy(&data, items, sizeof(data));
    /* Full exactly at 0, 8, 16, 32, ...: then double. */
    if (count == 0 || (count >= FIRST_ITEMS && (count & (count - 1)) == 0)) {
        size_t capacity = count == 0 ? FIRST_ITEMS : count * 2;
        if (capacity > SIZE_MAX / item_bytes) {
            return NULL;
        }
        char *grown = region_alloc(region, capacity * item_bytes);
        if (grown == NULL) {
            return NULL;
        }
        if (count > 0) {
            memcpy(grown, data, count * item_bytes);
        }
        memcpy(items, &grown, sizeof(grown));
        data = grown;
    }
    return data + count * item_bytes;
}
