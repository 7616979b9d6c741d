/*
 * Huge blocks of the ZEND layout: one mapping each, and a node of 24 bytes in the small
 * bins of the heap itself. As in Zend MM the node counts as used, is allocated after the
 * mapping and before the block is counted, and may buy a chunk; so real can pass the limit
 * by one chunk. Nothing is cached: a free unmaps at once.
 *
 * Invariant: the sum of the nodes' sizes plus the chunks is real.
 *
 * Sources (php-src 8.1.3, Zend/zend_alloc.c): zend_mm_realloc_huge 1427, alloc_huge 1751,
 * free_huge 1824.
 *
 * One thread at a time, as the heap.
 */
#include "zend_huge.h"

#include "os.h"
#include "zend_pages.h"

/* All words are links (link.h), the size too: an overflow into a node is noticed. */
struct huge_node {
    uint64_t address;
    uint64_t bytes;
    uint64_t next;
};

static uint64_t node_read(struct strata_heap *heap, const uint64_t *word)
{
    if (!strata__link_valid(heap->key, *word)) {
        strata__heap_fatal(heap, "a node of the huge blocks was overwritten", word);
    }
    return (uint64_t)(uintptr_t)strata__link_decode(heap->key, *word);
}

static uint64_t node_word(const struct strata_heap *heap, uint64_t value)
{
    return strata__link_encode(heap->key, (void *)(uintptr_t)value);
}

/* The node of the huge block at this address, and where it is linked from. */
static struct huge_node *find_huge(
    struct strata_heap *heap, const void *block, struct huge_node **before)
{
    struct huge_node *node = heap->zend.huge;
    *before = NULL;
    while (node != NULL) {
        if (node_read(heap, &node->address) == (uint64_t)(uintptr_t)block) {
            return node;
        }
        *before = node;
        node = (struct huge_node *)(uintptr_t)node_read(heap, &node->next);
    }
    strata__heap_fatal(heap, "address which is no block of it", block);
}

void *strata__zend_huge_alloc(struct strata_heap *heap, size_t bytes, size_t alignment)
{
    if (!strata__account_fits(&heap->account, bytes)) {
        strata__zend_gc(heap);
    }
    if (!strata__heap_reserve(heap, bytes, bytes)) {
        return NULL;
    }
    void *block = strata__os->map(bytes, alignment);
    if (block == NULL && strata__zend_gc(heap) > 0) {
        block = strata__os->map(bytes, alignment);
    }
    if (block == NULL) {
        strata__account_cancel(&heap->account, bytes);
        strata__heap_fail(heap, STRATA_ERROR_SYSTEM, bytes);
        return NULL;
    }
    /* Stock adds the block to real only after the node, which may have bought a chunk on
     * the strength of the same room under the limit. */
    struct huge_node *node = strata__heap_alloc_bin(heap, strata__bin_of(sizeof(*node)));
    if (node == NULL) {
        strata__os->unmap(block, bytes);
        strata__account_cancel(&heap->account, bytes);
        heap->failure.asked_bytes = bytes;
        return NULL;
    }
    node->address = node_word(heap, (uint64_t)(uintptr_t)block);
    node->bytes = node_word(heap, bytes);
    node->next = node_word(heap, (uint64_t)(uintptr_t)heap->zend.huge);
    heap->zend.huge = node;
    heap->huge_count++;
    strata__account_commit(&heap->account, bytes);
    strata__account_use(&heap->account, bytes);
    return block;
}

void strata__zend_huge_free(struct strata_heap *heap, void *block)
{
    struct huge_node *before = NULL;
    struct huge_node *node = find_huge(heap, block, &before);
    size_t bytes = node_read(heap, &node->bytes);
    uint64_t next = node_read(heap, &node->next);
    if (before != NULL) {
        before->next = node_word(heap, next);
    } else {
        heap->zend.huge = (void *)(uintptr_t)next;
    }
    heap->huge_count--;
    strata__heap_free_bin(heap, node, strata__bin_of(sizeof(*node)));
    strata__os->unmap(block, bytes);
    strata__account_return(&heap->account, bytes);
    strata__account_unuse(&heap->account, bytes);
}

/* In place, growth included: without a move, whatever follows in the address space. */
int strata__zend_huge_resize(struct strata_heap *heap, void *block, size_t new_bytes)
{
    struct huge_node *before = NULL;
    struct huge_node *node = find_huge(heap, block, &before);
    size_t bytes = node_read(heap, &node->bytes);
    if (new_bytes < bytes) {
        strata__os->unmap((char *)block + new_bytes, bytes - new_bytes);
        strata__account_return(&heap->account, bytes - new_bytes);
        strata__account_unuse(&heap->account, bytes - new_bytes);
    } else if (new_bytes > bytes) {
        size_t more = new_bytes - bytes;
        if (!strata__account_fits(&heap->account, more)) {
            strata__zend_gc(heap);
        }
        if (!strata__heap_reserve(heap, more, more)) {
            return STRATA__RESIZE_REFUSED;
        }
        if (strata__os->extend(block, bytes, new_bytes) != 0) {
            strata__account_cancel(&heap->account, more);
            return STRATA__RESIZE_MOVE;
        }
        strata__account_commit(&heap->account, more);
        strata__account_use(&heap->account, more);
    }
    node->bytes = node_word(heap, new_bytes);
    return 0;
}

size_t strata__zend_huge_bytes(struct strata_heap *heap, const void *block)
{
    struct huge_node *before = NULL;
    struct huge_node *node = find_huge(heap, block, &before);
    return node_read(heap, &node->bytes);
}

const void *strata__zend_huge_next(
    struct strata_heap *heap, const void **cursor, size_t *bytes)
{
    const struct huge_node *node = *cursor;
    if (node == NULL) {
        return NULL;
    }
    *cursor = (const void *)(uintptr_t)node_read(heap, &node->next);
    *bytes = node_read(heap, &node->bytes);
    return (const void *)(uintptr_t)node_read(heap, &node->address);
}

void strata__zend_huge_release(struct strata_heap *heap)
{
    struct huge_node *node = heap->zend.huge;
    while (node != NULL) {
        struct huge_node *next =
            (struct huge_node *)(uintptr_t)node_read(heap, &node->next);
        strata__os->unmap((void *)(uintptr_t)node_read(heap, &node->address),
            node_read(heap, &node->bytes));
        node = next;
    }
    heap->zend.huge = NULL;
    heap->huge_count = 0;
}
