/*
 * Small runs of the COMPACT layout.
 *
 * The word of a run's first page holds, above the page class, how many blocks are on the
 * run's own list and the index of the first of them. Blocks on a bin's list (heap.h)
 * count as handed out here. So the fast paths never touch a run's word: alloc pops the
 * bin's list, which was once a run's whole list, and free pushes on it; a sweep now and
 * then (compact.c) returns the lists block by block to the runs. The last block that comes
 * home frees the run.
 *
 * Runs with blocks on their own list are linked, last come first, through the first block
 * of that list: its second word holds the first pages of the neighbours, xored with the
 * secret; in blocks of 8 bytes, which have no second word, the first word holds them
 * beside the index of the next block. No memory but the free blocks themselves is needed,
 * and 4 bytes for each page.
 *
 * Invariants: free blocks on own lists + handed out = blocks of the run; a run with all
 * blocks on its list does not exist; a run is linked just when its list is not empty.
 *
 * One thread at a time, as the heap.
 */
#include "slab.h"

#include "free_list.h"
#include "os.h"

#define COUNT_BITS 9U
#define COUNT_SHIFT STRATA__CLASS_BITS
#define COUNT_MASK ((1U << COUNT_BITS) - 1)
#define HEAD_SHIFT (COUNT_SHIFT + COUNT_BITS)
#define NO_BLOCK 1023U
#define TINY_INDEX_BITS 10
#define TINY_PAGE_BITS 27

struct run {
    uint32_t first;
    uint32_t count; /* free blocks on its list */
    uint32_t head;  /* index of the first, or NO_BLOCK */
    const struct strata__page_class *class;
};

/* What the first free block of a run says. */
struct head {
    uint32_t prev; /* first pages of the neighbour runs, or 0 */
    uint32_t next;
    uint32_t next_block; /* index, or NO_BLOCK */
};

static uint32_t page_of(const struct strata_heap *heap, const void *address)
{
    return (uint32_t)(((uintptr_t)address - (uintptr_t)heap->compact.range.base) >>
                      STRATA__PAGE_BITS);
}

static char *run_start(const struct strata_heap *heap, uint32_t first)
{
    return strata__range_address(&heap->compact.range, first);
}

static struct run read_run(const struct strata_heap *heap, uint32_t first)
{
    uint32_t word = heap->compact.range.words[first];
    return (struct run){
        .first = first,
        .count = word >> COUNT_SHIFT & COUNT_MASK,
        .head = word >> HEAD_SHIFT,
        .class = &strata__page_classes[strata__slab_class(word)],
    };
}

static void write_run(struct strata_heap *heap, const struct run *run)
{
    uint32_t *word = &heap->compact.range.words[run->first];
    *word = (*word & STRATA__CLASS_MASK) | run->count << COUNT_SHIFT |
            run->head << HEAD_SHIFT;
}

static uint32_t block_bytes(const struct run *run)
{
    return strata__sizeclasses[run->class->bin].block_bytes;
}

/* The run's first block. */
static char *blocks_of(const struct strata_heap *heap, uint32_t first, unsigned bin)
{
    const struct strata__sizeclass *class = &strata__sizeclasses[bin];
    return run_start(heap, first) + strata__run_waste(class->compact_pages,
                                        class->compact_blocks, class->block_bytes);
}

static void *block_at(
    const struct strata_heap *heap, const struct run *run, uint32_t index)
{
    return blocks_of(heap, run->first, run->class->bin) +
           (size_t)index * block_bytes(run);
}

static uint32_t index_of(
    const struct strata_heap *heap, const struct run *run, const void *block)
{
    return strata__block_index(
        run->class, (uint32_t)((uintptr_t)block -
                               (uintptr_t)blocks_of(heap, run->first, run->class->bin)));
}

uint32_t strata__slab_run_of(const struct strata_heap *heap, const void *address)
{
    if (!strata__range_holds(&heap->compact.range, address)) {
        return 0;
    }
    uint32_t class =
        strata__slab_class(*strata__range_word(&heap->compact.range, address));
    if (class < STRATA__CLASS_SMALL) {
        return 0;
    }
    return page_of(heap, address) - strata__page_classes[class].back_pages;
}

/* ---- the first block of a run's list ---- */

static int is_tiny(const struct run *run)
{
    return run->class->bin == 0;
}

static void check_neighbour(
    const struct strata_heap *heap, const struct run *run, uint32_t first)
{
    const struct strata__range *range = &heap->compact.range;
    if (first != 0 &&
        (first >= range->end || (range->words[first] & STRATA__CLASS_MASK) !=
                                    (range->words[run->first] & STRATA__CLASS_MASK))) {
        strata__heap_fatal(heap, "write to a free block, or overflow into it",
            block_at(heap, run, run->head));
    }
}

static struct head read_head(const struct strata_heap *heap, const struct run *run)
{
    char *block = block_at(heap, run, run->head);
    struct head head = {.next_block = NO_BLOCK};
    if (is_tiny(run)) {
        uint64_t word = strata__link_read(block) ^ heap->key;
        head.next_block = word & ((1U << TINY_INDEX_BITS) - 1);
        head.prev = word >> TINY_INDEX_BITS & ((1U << TINY_PAGE_BITS) - 1);
        head.next = (uint32_t)(word >> (TINY_INDEX_BITS + TINY_PAGE_BITS));
    } else {
        uint64_t word = strata__link_read(block + sizeof(uint64_t)) ^ heap->key;
        head.prev = (uint32_t)word;
        head.next = (uint32_t)(word >> 32);
        const void *next = strata__heap_next(heap, block);
        if (next != NULL) {
            head.next_block = index_of(heap, run, next);
        }
    }
    check_neighbour(heap, run, head.prev);
    check_neighbour(heap, run, head.next);
    return head;
}

static void write_word(void *address, uint64_t word)
{
    strata__track_open(address, sizeof(word));
    *(uint64_t *)address = word;
    strata__track_close(address, sizeof(word));
}

static void write_head(
    struct strata_heap *heap, const struct run *run, const struct head *head)
{
    char *block = block_at(heap, run, run->head);
    if (is_tiny(run)) {
        write_word(
            block, ((uint64_t)head->next << (TINY_INDEX_BITS + TINY_PAGE_BITS) |
                       (uint64_t)head->prev << TINY_INDEX_BITS | head->next_block) ^
                       heap->key);
        return;
    }
    const void *next =
        head->next_block == NO_BLOCK ? NULL : block_at(heap, run, head->next_block);
    strata__heap_link(heap, block, next);
    write_word(
        block + sizeof(uint64_t), ((uint64_t)head->next << 32 | head->prev) ^ heap->key);
}

/* Turns the first block of the list into one like the others. */
static void flatten_head(
    struct strata_heap *heap, const struct run *run, const struct head *head)
{
    if (is_tiny(run)) {
        const void *next =
            head->next_block == NO_BLOCK ? NULL : block_at(heap, run, head->next_block);
        strata__heap_link(heap, block_at(heap, run, run->head), next);
    }
}

/* ---- linked runs ---- */

static void set_neighbour(
    struct strata_heap *heap, uint32_t first, uint32_t prev, uint32_t next, int set_prev)
{
    struct run run = read_run(heap, first);
    struct head head = read_head(heap, &run);
    if (set_prev) {
        head.prev = prev;
    } else {
        head.next = next;
    }
    write_head(heap, &run, &head);
}

static void unlink_run(
    struct strata_heap *heap, const struct run *run, const struct head *head)
{
    if (head->prev != 0) {
        set_neighbour(heap, head->prev, 0, head->next, 0);
    } else {
        heap->partial_runs[run->class->bin] = head->next;
    }
    if (head->next != 0) {
        set_neighbour(heap, head->next, head->prev, 0, 1);
    }
}

/* Puts a run with its first free blocks in front of the others; the caller writes its word
 * and the head that is filled in here. */
static void link_run(struct strata_heap *heap, const struct run *run, struct head *head)
{
    uint32_t *partial = &heap->partial_runs[run->class->bin];
    head->prev = 0;
    head->next = *partial;
    if (head->next != 0) {
        set_neighbour(heap, head->next, run->first, 0, 1);
    }
    *partial = run->first;
}

/* ---- runs ---- */

void *strata__slab_take_partial(struct strata_heap *heap, unsigned bin)
{
    if (heap->partial_runs[bin] == 0) {
        return NULL;
    }
    struct run run = read_run(heap, heap->partial_runs[bin]);
    struct head head = read_head(heap, &run);
    void *block = block_at(heap, &run, run.head);
    unlink_run(heap, &run, &head);
    flatten_head(heap, &run, &head);
    strata__heap_set_first(heap, bin, strata__heap_next(heap, block));
    run.count = 0;
    run.head = NO_BLOCK;
    write_run(heap, &run);
    return block;
}

void *strata__slab_start_run(struct strata_heap *heap, unsigned bin, uint32_t first)
{
    const struct strata__sizeclass *class = &strata__sizeclasses[bin];
    uint32_t *words = &heap->compact.range.words[first];
    words[0] = class->compact_class | NO_BLOCK << HEAD_SHIFT;
    for (uint32_t page = 1; page < class->compact_pages; page++) {
        words[page] = class->compact_class + page;
    }
    return strata__heap_carve(
        heap, bin, blocks_of(heap, first, bin), class->compact_blocks);
}

/* A block of the class lies on the run's pages: is it this run's? */
static int is_of_run(
    const struct strata_heap *heap, const struct run *run, const void *block)
{
    return (uintptr_t)block - (uintptr_t)run_start(heap, run->first) <
           strata__sizeclasses[run->class->bin].compact_pages * STRATA__PAGE_BYTES;
}

/* Reads the run of a block that is on no list of a run. */
static struct run find_run(struct strata_heap *heap, const void *block)
{
    uint32_t first = strata__slab_run_of(heap, block);
    if (first == 0) {
        strata__heap_fatal(heap, "a free list leads out of it", block);
    }
    return read_run(heap, first);
}

static void end_run(struct strata_heap *heap, const struct run *run)
{
    const struct strata__sizeclass *class = &strata__sizeclasses[run->class->bin];
    strata__track_close(
        run_start(heap, run->first), class->compact_pages * STRATA__PAGE_BYTES);
    strata__range_give(&heap->compact.range, run->first, class->compact_pages);
}

/* Chains the first blocks of the list before *top, all those which are of the run. The
 * last of them, which is returned, keeps its link to the rest of the list: it will be the
 * run's head. */
static void *chain_blocks(
    struct strata_heap *heap, struct run *run, void *list, const void **top)
{
    uint32_t blocks = strata__sizeclasses[run->class->bin].compact_blocks;
    void *block = NULL;
    void *next = list;
    do {
        if (block != NULL) {
            strata__heap_link(heap, block, *top);
            *top = block;
        }
        block = next;
        run->count++;
        if (run->count > blocks) {
            strata__heap_fatal(heap, "a block is twice on its free list", block);
        }
        next = strata__heap_next(heap, block);
    } while (next != NULL && is_of_run(heap, run, next));
    return block;
}

/* Sends home the first blocks of the list, all those whose home is the run of the first;
 * returns the rest. The run's word and head are read and written once for all of them:
 * blocks which were freed one after another often lie beside each other. */
static void *return_blocks(struct strata_heap *heap, void *list)
{
    struct run run = find_run(heap, list);
    struct head head = {.next_block = NO_BLOCK};
    const void *top = NULL;
    int linked = run.count != 0;
    if (linked) {
        head = read_head(heap, &run);
        flatten_head(heap, &run, &head);
        top = block_at(heap, &run, run.head);
    }
    void *last = chain_blocks(heap, &run, list, &top);
    void *rest = strata__heap_next(heap, last);
    if (run.count == strata__sizeclasses[run.class->bin].compact_blocks) {
        if (linked) {
            unlink_run(heap, &run, &head);
        }
        end_run(heap, &run);
        return rest;
    }
    if (!linked) {
        link_run(heap, &run, &head);
    }
    head.next_block = top == NULL ? NO_BLOCK : index_of(heap, &run, top);
    run.head = index_of(heap, &run, last);
    write_run(heap, &run);
    write_head(heap, &run, &head);
    return rest;
}

void strata__slab_return(struct strata_heap *heap, void *list)
{
    while (list != NULL) {
        list = return_blocks(heap, list);
    }
}

/* ---- looking ---- */

uint32_t strata__slab_free_blocks(const struct strata_heap *heap, uint32_t first)
{
    return read_run(heap, first).count;
}

/* The first block of the run's list that is `wanted`, or NULL; counts the steps. */
static const void *search_list(
    struct strata_heap *heap, uint32_t first, const void *wanted, uint32_t *steps)
{
    struct run run = read_run(heap, first);
    *steps = 0;
    if (run.count == 0) {
        return NULL;
    }
    struct head head = read_head(heap, &run);
    const void *block = block_at(heap, &run, run.head);
    *steps = 1;
    if (block == wanted || head.next_block == NO_BLOCK) {
        return block == wanted ? block : NULL;
    }
    block = block_at(heap, &run, head.next_block);
    while (block != NULL && *steps <= run.count) {
        (*steps)++;
        if (block == wanted) {
            return block;
        }
        block = strata__heap_next(heap, block);
    }
    return NULL;
}

int strata__slab_holds_free(struct strata_heap *heap, const void *block, unsigned bin)
{
    (void)bin;
    uint32_t steps = 0;
    return search_list(heap, strata__slab_run_of(heap, block), block, &steps) != NULL;
}

uint32_t strata__slab_count_list(struct strata_heap *heap, uint32_t first)
{
    uint32_t steps = 0;
    search_list(heap, first, NULL, &steps);
    return steps;
}
