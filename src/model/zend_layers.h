/* zend_layers.h - what PHP's memory manager adds to the layers of its process. */
#ifndef STRATA_MODEL_ZEND_LAYERS_H
#define STRATA_MODEL_ZEND_LAYERS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "model/heap_layers.h"

/* Sums over the heaps of one process, and how sure they are. */
struct zend_sums {
    size_t heaps;          /* with counters */
    size_t with_residency; /* and with pagemap */
    uint64_t plus_minus_bytes;
    bool stale;
};

/*
 * Adds the heaps of process to amounts: real to held, to the byte, and used to in use.
 * A heap with custom handlers adds nothing, since its blocks are malloc's.
 */
void zend_layers_add(const struct process_facts *process, struct heap_amounts *amounts,
    struct zend_sums *sums);

/*
 * Moves what is known to be free out of PART_ZEND_CHUNKS of an amount of resident bytes:
 * free pages and cached chunks.
 */
void zend_layers_split(const struct process_facts *process, struct amounts *resident);

/* LAYER_TRACKED of a PHP process: memory_get_usage(). 0 or -ENOMEM. */
int zend_layers_tracked(struct region *region, const struct process_facts *process,
    const struct amounts *tracked, const struct zend_sums *sums, struct layer *layer);

#endif
