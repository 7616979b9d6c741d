/*
 * thread_stack.c - from struct pthread to the stack it belongs to.
 *
 * Its fields stackblock, stackblock_size and guardsize (nptl/descr.h) say exactly where the
 * stack lies, and tid is 0 once the kernel has cleared it at the thread's end. Their offset
 * differs between releases, so it is found by content: the block is the triple of words that
 * encloses the struct in most of them. The first thread has no stackblock.
 */
#include "facts/thread_stack.h"

#include <errno.h>
#include <string.h>

#include "facts/span_list.h"
#include "facts/thread_descriptor.h"

enum {
    BLOCK_OFFSET_MIN = 0x40, /* behind robust_head */
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

static bool read_struct(
    struct memory *memory, uint64_t address, struct thread_struct *thread)
{
    thread->address = address;
    return memory_read_present(
               memory, address, thread->content, sizeof(thread->content)) == 0;
}

static int32_t tid_of(const struct thread_struct *thread)
{
    int32_t tid;

    memcpy(&tid, thread->content + THREAD_DESCRIPTOR_TID, sizeof(tid));
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

/* The offset at which most samples have a block, the lowest of them; 0: there is none. */
static size_t learn_block_offset(
    struct memory *memory, const struct thread_descriptors *descriptors)
{
    enum { WORDS = THREAD_DESCRIPTOR_BYTES / sizeof(uint64_t) };
    uint16_t votes[WORDS] = {0};
    struct thread_struct thread;
    struct stack_block block;
    const size_t step = descriptors->count / SAMPLES_MAX + 1;
    size_t best = 0;

    for (size_t i = 0; i < descriptors->count; i += step) {
        if (!read_struct(memory, descriptors->addresses[i], &thread)) {
            continue;
        }
        for (size_t at = BLOCK_OFFSET_MIN / sizeof(uint64_t); at + BLOCK_WORDS <= WORDS;
             at++) {
            votes[at] += block_at(memory, &thread, at * sizeof(uint64_t), &block);
        }
    }
    for (size_t at = 1; at < WORDS; at++) {
        if (votes[at] > votes[best]) {
            best = at;
        }
    }
    return best * sizeof(uint64_t);
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
    uint64_t behind = 0; /* stacks lie apart, whatever a program says of them */
    int rc = thread_descriptors_find(memory, process, region, &descriptors);

    const size_t block_offset = learn_block_offset(memory, &descriptors);
    if (block_offset == 0) {
        return rc;
    }
    for (size_t i = 0; rc == 0 && i < descriptors.count; i++) {
        if (read_struct(memory, descriptors.addresses[i], &thread) &&
            block_at(memory, &thread, block_offset, &block) && block.start >= behind) {
            const struct span span = {.start = block.start + block.guard_bytes,
                .end = block.start + block.bytes,
                .index = (uint32_t)tid_of(&thread)};
            behind = span.end;
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
