/*
 * thread_stack.c - from struct pthread to the stack it belongs to.
 *
 * Its fields stackblock, stackblock_size and guardsize (nptl/descr.h) say exactly where the
 * stack lies, and tid is 0 once the kernel has cleared it at the thread's end. Their offsets
 * differ between releases (tid at 0x2d0 in 2.31 to 2.36), so they are found by content: the
 * tid is the field that matches the list of threads in most structs, the block is the triple
 * of words that encloses the struct in most of them. The first thread has no stackblock.
 */
#include "facts/thread_stack.h"

#include <errno.h>
#include <string.h>

#include "facts/span_list.h"
#include "facts/thread_descriptor.h"

enum {
    TID_OFFSET_MIN = 0x80,
    TID_OFFSET_MAX = 0x500,
    BLOCK_OFFSET_MIN = 0x200,
    BLOCK_WORDS = 3,         /* stackblock, stackblock_size, guardsize */
    BLOCK_END_MAX = 1 << 20, /* from the struct to the end of its block */
    SAMPLES_MAX = 64,        /* structs that offsets are learnt from */
};

struct thread_struct {
    uint64_t address;
    uint8_t content[THREAD_DESCRIPTOR_BYTES];
};

struct stack_block {
    uint64_t start;
    uint64_t bytes;
    uint64_t guard_bytes;
};

struct offsets {
    size_t tid; /* 0: no field matched a thread */
    size_t block;
};

/* How many samples speak for each offset, in words of 4 or 8 bytes. */
struct votes {
    uint16_t tid[TID_OFFSET_MAX / sizeof(int32_t)];
    uint16_t block[THREAD_DESCRIPTOR_BYTES / sizeof(uint64_t)];
};

static bool read_struct(
    struct memory *memory, uint64_t address, struct thread_struct *thread)
{
    thread->address = address;
    return memory_read_present(
               memory, address, thread->content, sizeof(thread->content)) == 0;
}

static int32_t tid_at(const struct thread_struct *thread, size_t offset)
{
    int32_t tid;

    memcpy(&tid, thread->content + offset, sizeof(tid));
    return tid;
}

static bool block_at(const struct memory *memory, const struct thread_struct *thread,
    size_t offset, struct stack_block *block)
{
    const uint64_t struct_end = thread->address + THREAD_DESCRIPTOR_BYTES;

    memcpy(block, thread->content + offset, sizeof(*block));
    return block->start != 0 && block->start % memory->page_bytes == 0 &&
           block->start < thread->address && block->bytes <= UINT64_MAX - block->start &&
           block->start + block->bytes >= struct_end &&
           block->start + block->bytes - struct_end < BLOCK_END_MAX &&
           block->guard_bytes % memory->page_bytes == 0 &&
           block->guard_bytes < thread->address - block->start;
}

static void vote(const struct memory *memory, const struct thread_list *threads,
    const struct thread_struct *thread, struct votes *votes)
{
    struct stack_block block;

    for (size_t at = TID_OFFSET_MIN; at < TID_OFFSET_MAX; at += sizeof(int32_t)) {
        const int32_t tid = tid_at(thread, at);
        if (tid > 0 && thread_list_find(threads, tid) != NULL) {
            votes->tid[at / sizeof(int32_t)]++;
        }
    }
    for (size_t at = BLOCK_OFFSET_MIN;
         at + BLOCK_WORDS * sizeof(uint64_t) <= THREAD_DESCRIPTOR_BYTES;
         at += sizeof(uint64_t)) {
        if (block_at(memory, thread, at, &block)) {
            votes->block[at / sizeof(uint64_t)]++;
        }
    }
}

/* The lowest index with the most votes; 0 when there are none. */
static size_t winner(const uint16_t *votes, size_t count)
{
    size_t best = 0;

    for (size_t i = 1; i < count; i++) {
        if (votes[i] > votes[best]) {
            best = i;
        }
    }
    return best;
}

static struct offsets learn_offsets(struct memory *memory,
    const struct thread_list *threads, const struct thread_descriptors *descriptors)
{
    struct votes votes = {0};
    struct thread_struct thread;
    const size_t step = descriptors->count / SAMPLES_MAX + 1;

    for (size_t i = 0; i < descriptors->count; i += step) {
        if (read_struct(memory, descriptors->addresses[i], &thread)) {
            vote(memory, threads, &thread, &votes);
        }
    }
    return (struct offsets){
        .tid =
            winner(votes.tid, sizeof(votes.tid) / sizeof(votes.tid[0])) * sizeof(int32_t),
        .block = winner(votes.block, sizeof(votes.block) / sizeof(votes.block[0])) *
                 sizeof(uint64_t)};
}

static int add_stack(struct memory *memory, const struct thread_list *threads,
    struct region *region, struct process_facts *process, const struct span *found)
{
    struct span span = *found;
    const int32_t own_id = (int32_t)span.index;

    span.owner = own_id > 0 ? SPAN_THREAD_STACK : SPAN_CACHED_STACK;
    span.index = 0;
    if (own_id > 0) {
        const struct thread_ids *ids = thread_list_find(threads, own_id);
        /* A thread that started after the list was read has only its own number. */
        span.index = (uint32_t)(ids != NULL ? ids->id : own_id);
    }
    int rc = span_list_add(memory, region, process, &span);
    return rc == -ENOMEM ? rc : 0;
}

int thread_stack_find(struct memory *memory, const struct thread_list *threads,
    struct region *region, struct process_facts *process)
{
    struct thread_descriptors descriptors;
    struct thread_struct thread;
    struct stack_block block;
    int rc = thread_descriptors_find(memory, process, region, &descriptors);

    const struct offsets offsets = learn_offsets(memory, threads, &descriptors);
    if (offsets.block == 0 || offsets.tid == 0) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < descriptors.count; i++) {
        if (read_struct(memory, descriptors.addresses[i], &thread) &&
            block_at(memory, &thread, offsets.block, &block)) {
            const struct span span = {.start = block.start + block.guard_bytes,
                .end = block.start + block.bytes,
                .index = (uint32_t)tid_at(&thread, offsets.tid)};
            rc = add_stack(memory, threads, region, process, &span);
        }
    }
    return rc;
}

int thread_stack_read(struct process_folder *folder, struct memory *memory,
    struct region *region, struct process_facts *process)
{
    const bool namespaced =
        process->namespace_pid != 0 && process->namespace_pid != process->pid;
    struct thread_list threads;
    int rc = thread_list_read(folder, namespaced, region, &threads);

    if (rc != 0) {
        return rc == -ESRCH || rc == -ENOMEM ? rc : 0;
    }
    return thread_stack_find(memory, &threads, region, process);
}
