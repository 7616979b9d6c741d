/*
 * zend_reads.c - reads the heaps of a busy PHP many times and checks each figure it accepts.
 *
 *   zend_reads PID COUNT
 *
 * Prints how many heaps were read whole, how many moved too fast (stale), and how many
 * contradicted themselves; exit code 1 when one that was accepted does not sum up.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/number.h"
#include "facts/memory_process.h"
#include "facts/smaps.h"
#include "facts/zend.h"

enum { PAGE_BYTES = 4096, CHUNK_BYTES = 2 << 20 };

static bool sums_up(const struct zend_heap_facts *heap)
{
    uint64_t sum = heap->small_live_bytes + heap->small_free_bytes +
                   heap->run_tail_bytes +
                   (heap->large_pages + heap->free_pages + heap->chunks) * PAGE_BYTES +
                   heap->cached_chunks * CHUNK_BYTES + heap->huge_bytes;

    return sum == heap->real_bytes && heap->used_bytes <= heap->real_bytes &&
           heap->used_bytes <= heap->peak_used_bytes &&
           heap->real_bytes <= heap->peak_real_bytes;
}

/* Counts by state; false when an accepted heap is wrong. */
static bool read_once(struct process_folder *folder, uint64_t *states)
{
    struct region region;
    struct process_facts process = {.pid = folder->pid};
    struct memory_process memory;
    bool right = true;

    region_init(&region, (size_t)64 << 20);
    if (smaps_read(folder, false, &region, &process) == 0 &&
        memory_process_open(&memory, folder) == 0) {
        (void)zend_read(&memory.memory, &region, &process);
        memory_process_close(&memory);
    }
    for (size_t i = 0; i < process.zend.heap_count; i++) {
        const struct zend_heap_facts *heap = &process.zend.heaps[i];
        states[heap->state]++;
        right = right && (heap->state != FACT_OK || sums_up(heap));
    }
    region_release(&region);
    return right;
}

int main(int argc, char **argv)
{
    struct facts_root root;
    struct process_folder folder;
    uint64_t states[FACT_STATE_COUNT] = {0};
    uint64_t pid = 0;
    uint64_t count = 0;
    bool right = true;

    if (argc != 3 || number_parse(argv[1], &pid) != 0 ||
        number_parse(argv[2], &count) != 0 || pid > INT32_MAX) {
        fprintf(stderr, "usage: zend_reads PID COUNT\n");
        return 2;
    }
    if (facts_root_open(&root, NULL, NULL) != 0 ||
        process_folder_open(&root, (int32_t)pid, &folder) != 0) {
        fprintf(stderr, "zend_reads: no process %" PRIu64 "\n", pid);
        return 4;
    }
    for (uint64_t i = 0; i < count && right; i++) {
        right = read_once(&folder, states);
    }
    printf("ok %" PRIu64 " stale %" PRIu64 " malformed %" PRIu64 "\n", states[FACT_OK],
        states[FACT_STALE], states[FACT_MALFORMED]);
    process_folder_close(&folder);
    facts_root_close(&root);
    return right ? 0 : 1;
}
