/*
 * allocating.c - the allocating process: one vector of pointers, one block behind each.
 *
 * The vector grows as std::vector does (twice as large, copied, the old one freed), since
 * its blocks move glibc's mmap_threshold, and its last one is what comes back first.
 */
#include <inttypes.h>
#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base.h"
#include "parts.h"
#include "settings.h"

struct vector {
    char **blocks;
    size_t count;
    size_t capacity;
};

static void vector_push(struct vector *vector, char *block)
{
    if (vector->count == vector->capacity) {
        const size_t capacity = vector->capacity > 0 ? vector->capacity * 2 : 1;
        char **larger = malloc(capacity * sizeof(*larger));
        if (larger == NULL) {
            lab_die("no memory for pointers");
        }
        if (vector->count > 0) {
            memcpy(larger, vector->blocks, vector->count * sizeof(*larger));
        }
        free(vector->blocks);
        vector->blocks = larger;
        vector->capacity = capacity;
    }
    vector->blocks[vector->count++] = block;
}

static void fill(struct vector *vector, size_t bytes, size_t block_bytes)
{
    for (size_t i = 0; i < bytes / block_bytes; i++) {
        char *block = malloc(block_bytes);
        if (block == NULL) {
            lab_die("no memory for a block");
        }
        memset(block, 'x', block_bytes);
        vector_push(vector, block);
    }
}

/* Frees all blocks, or all but the last one, and the vector. */
static char *empty(struct vector *vector, bool keep)
{
    const size_t count = vector->count - (keep && vector->count > 0 ? 1 : 0);
    char *kept = count < vector->count ? vector->blocks[count] : NULL;

    for (size_t i = 0; i < count; i++) {
        free(vector->blocks[i]);
    }
    free(vector->blocks);
    *vector = (struct vector){.count = 0};
    return kept;
}

static void step(const char *done)
{
    char byte = 0;

    (void)dprintf(STDOUT_FILENO, "%s\n", done);
    while (byte != '\n') {
        if (read(STDIN_FILENO, &byte, 1) <= 0) {
            exit(0);
        }
    }
}

int allocating_process(int count, char **arguments)
{
    int64_t bytes = LAB_MIB, block_bytes = 1, keep = 0;
    const struct setting settings[] = {
        {"bytes", &bytes, NULL, 1, INT64_MAX, "in all"},
        {"block", &block_bytes, NULL, 1, LAB_MIB, "bytes of one"},
        {"keep", &keep, NULL, 0, 1, "the last block"},
    };
    struct vector vector = {.count = 0};

    settings_read(
        count, arguments, settings, sizeof(settings) / sizeof(settings[0]), NULL);
    step("ready");
    fill(&vector, (size_t)bytes, (size_t)block_bytes);
    step("allocated");
    char *kept = empty(&vector, keep != 0);
    step("freed");
    (void)malloc_trim(0);
    step("trimmed");
    free(kept);
    return 0;
}
