/*
 * Plays a trace of record.c against whatever malloc the program was started with.
 *
 * usage: malloc-replay TRACE [WAIT_SECONDS]
 *
 * Each thread of the trace has a thread here, which reads the file for itself and does its
 * own records; a record of a block waits for the one before it of that block, so what was
 * freed by another thread is freed by another thread. Blocks are written to as in shapes.c.
 * The table of blocks is mapped and made resident before the clock starts, and its size is
 * taken off the memory that is printed.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "bench_common.h"
#include "trace_format.h"

#define READ_RECORDS 1024

struct block {
    char *start;
    uint32_t bytes;
    uint16_t turn;
};

static struct {
    const char *path;
    struct trace_header header;
    struct block *blocks;
} trace;

static void *(*volatile call_malloc)(size_t) = malloc;
static void *(*volatile call_calloc)(size_t, size_t) = calloc;
static void *(*volatile call_realloc)(void *, size_t) = realloc;

static void *call_aligned(unsigned alignment_bits, size_t bytes)
{
    void *start = NULL;
    size_t alignment = (size_t)1 << alignment_bits;
    alignment = alignment < sizeof(void *) ? sizeof(void *) : alignment;
    return posix_memalign(&start, alignment, bytes) == 0 ? start : NULL;
}

static void take(struct block *block, const struct trace_record *record)
{
    size_t bytes = record->bytes;
    size_t kept = 0;
    if (record->operation == TRACE_RESIZE) {
        block->start = call_realloc(block->start, bytes);
        kept = block->bytes < bytes ? block->bytes : bytes;
    } else if (record->operation == TRACE_CALLOC) {
        block->start = call_calloc(1, bytes);
    } else {
        block->start = record->alignment_bits != 0
                           ? call_aligned(record->alignment_bits, bytes)
                           : call_malloc(bytes);
    }
    if (block->start == NULL) {
        bench_stop("no memory");
    }
    block->bytes = record->bytes;
    if (bytes > 0) {
        bench_touch(block->start, kept, bytes);
    }
}

static void play(const struct trace_record *record)
{
    struct block *block = &trace.blocks[record->block];
    while (__atomic_load_n(&block->turn, __ATOMIC_ACQUIRE) != record->turn) {
        sched_yield();
    }
    if (record->operation == TRACE_FREE) {
        free(block->start);
        block->start = NULL;
    } else {
        take(block, record);
    }
    __atomic_store_n(&block->turn, record->turn + 1, __ATOMIC_RELEASE);
}

static void *play_thread(void *argument)
{
    static __thread struct trace_record records[READ_RECORDS];
    size_t thread = (size_t)(uintptr_t)argument;
    int file = open(trace.path, O_RDONLY | O_CLOEXEC);
    off_t at = (off_t)sizeof(struct trace_header);
    for (uint64_t left = trace.header.records; left > 0;) {
        size_t count = left < READ_RECORDS ? (size_t)left : READ_RECORDS;
        ssize_t bytes = (ssize_t)(count * sizeof(*records));
        if (file < 0 || pread(file, records, (size_t)bytes, at) != bytes) {
            bench_stop("cannot read the trace");
        }
        for (size_t i = 0; i < count; i++) {
            if (records[i].block >= trace.header.blocks) {
                bench_stop("the trace is damaged");
            }
            if (records[i].thread == thread) {
                play(&records[i]);
            }
        }
        at += bytes;
        left -= count;
    }
    close(file);
    return NULL;
}

static void open_trace(void)
{
    int file = open(trace.path, O_RDONLY | O_CLOEXEC);
    if (file < 0 ||
        read(file, &trace.header, sizeof(trace.header)) != sizeof(trace.header) ||
        trace.header.magic != TRACE_MAGIC) {
        bench_stop("no trace in this file");
    }
    close(file);
    size_t bytes = (size_t)trace.header.blocks * sizeof(*trace.blocks) + BENCH_PAGE;
    trace.blocks = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
        MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    if (trace.blocks == MAP_FAILED) {
        bench_stop("no memory for the table of blocks");
    }
}

static size_t live_bytes(void)
{
    size_t bytes = 0;
    for (size_t i = 0; i < trace.header.blocks; i++) {
        bytes += trace.blocks[i].start != NULL ? trace.blocks[i].bytes : 0;
    }
    return bytes;
}

int main(int argc, char **argv)
{
    if (argc < 2) {
        bench_stop("usage: malloc-replay TRACE [WAIT_SECONDS]");
    }
    trace.path = argv[1];
    open_trace();
    pthread_t threads[TRACE_THREADS_MAX];
    size_t count = trace.header.threads < TRACE_THREADS_MAX ? trace.header.threads
                                                            : TRACE_THREADS_MAX;
    struct bench_result result;
    bench_start(&result);
    for (size_t i = 1; i < count; i++) {
        if (pthread_create(&threads[i], NULL, play_thread, (void *)(uintptr_t)i) != 0) {
            bench_stop("no thread");
        }
    }
    play_thread((void *)0);
    for (size_t i = 1; i < count; i++) {
        pthread_join(threads[i], NULL);
    }
    bench_end(&result);
    result.live_bytes = live_bytes();
    result.own_bytes = (size_t)trace.header.blocks * sizeof(*trace.blocks);
    bench_print(&result, argc > 2 ? argv[2] : NULL);
    return EXIT_SUCCESS;
}
