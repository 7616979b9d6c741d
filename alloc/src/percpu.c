/*
 * The tables of the CPUs: made when a CPU first misses, kept for ever, one mapping of
 * 16 KiB each (of which the classes in use touch what they need).
 *
 * Draining takes a table from its CPU: its pointer is taken out of strata__percpu_caches,
 * and membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) restarts whatever sequence is
 * under way on that CPU (kernel/sched/membarrier.c; a preempted one restarts anyway).
 * Then nobody uses the table, until the pointer is back. Threads on that CPU go to the
 * central lists meanwhile.
 *
 * A thread whose rseq is not registered (glibc.pthread.rseq=0, a kernel without it,
 * valgrind) has a negative CPU number and always misses: correct and slower.
 */
#include "percpu.h"

#include <errno.h>
#include <linux/membarrier.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "central.h"
#include "lock.h"
#include "os.h"

#if STRATA__RSEQ
#    include <sys/rseq.h>
#    pragma weak __rseq_offset
#    pragma weak __rseq_size
#endif

#define PAGE_BYTES ((size_t)4096)
#define TABLE_BYTES ((sizeof(struct strata__cpu) + PAGE_BYTES - 1) & ~(PAGE_BYTES - 1))
#define CPU_ID_OFFSET 4 /* in struct rseq */

_Static_assert(STRATA__BLOCK_CLASSES <= STRATA__CPU_COUNTS, "a count for each class");

struct strata__cpu *strata__percpu_caches[STRATA__CPUS_MAX];
ptrdiff_t strata__percpu_rseq;

/* A table and what it held when drain looked last. */
struct owned {
    struct strata__cpu *table;
    uint64_t seen;
};

static struct {
    struct strata__lock lock;
    struct owned owned[STRATA__CPUS_MAX];
    unsigned end; /* no CPU from here on has a table */
    size_t tables;
} percpu;

void strata__percpu_start(void)
{
#if STRATA__RSEQ
    if (&__rseq_size != NULL && &__rseq_offset != NULL && __rseq_size != 0) {
        strata__percpu_rseq = __rseq_offset;
    }
#endif
}

void strata__percpu_stop(void)
{
    strata__percpu_rseq = 0;
}

/* The CPU that this thread runs on, or a number outside of the tables. */
static unsigned current_cpu(void)
{
    unsigned cpu = STRATA__CPUS_MAX;
#if STRATA__RSEQ
    if (strata__percpu_rseq != 0) {
        __asm__ volatile("movl %%fs:%c[offset](%[rseq]), %[cpu]"
                         : [cpu] "=r"(cpu)
                         : [rseq] "r"(strata__percpu_rseq), [offset] "i"(CPU_ID_OFFSET));
    }
#endif
    return cpu;
}

/* Gives this CPU its table, if it has none at all. */
static void make_table(void)
{
    unsigned cpu = current_cpu();
    if (cpu >= STRATA__CPUS_MAX ||
        __atomic_load_n(&strata__percpu_caches[cpu], __ATOMIC_ACQUIRE) != NULL) {
        return;
    }
    strata__lock_take(&percpu.lock);
    if (percpu.owned[cpu].table == NULL) {
        struct strata__cpu *table = strata__os->map(TABLE_BYTES, PAGE_BYTES);
        if (table != NULL) {
            percpu.owned[cpu].table = table;
            percpu.end = cpu >= percpu.end ? cpu + 1 : percpu.end;
            percpu.tables++;
            __atomic_store_n(&strata__percpu_caches[cpu], table, __ATOMIC_RELEASE);
        }
    }
    strata__lock_drop(&percpu.lock);
}

void *strata__percpu_refill(unsigned class)
{
    void *blocks[STRATA__BLOCK_BATCH_MAX];
    make_table();
    int keeps = current_cpu() < STRATA__CPUS_MAX;
    size_t wanted = keeps ? strata__block_classes[class].batch : 1;
    size_t got = strata__central_refill(class, blocks, wanted);
    if (got == 0) {
        return NULL;
    }
    /* The lowest address is used first. */
    while (got > 1 && strata__percpu_push(class, blocks[got - 1]) == STRATA__PUSH_DONE) {
        got--;
    }
    if (got > 1) {
        strata__central_flush(class, blocks + 1, got - 1);
    }
    return blocks[0];
}

void strata__percpu_flush(unsigned class, void *block)
{
    void *blocks[STRATA__BLOCK_BATCH_MAX + 1];
    size_t count = 1;
    blocks[0] = block;
    make_table();
    if (strata__percpu_push(class, block) == STRATA__PUSH_DONE) {
        return; /* into a new table */
    }
    size_t batch = strata__block_classes[class].batch;
    while (count <= batch && (blocks[count] = strata__percpu_pop(class)) != NULL) {
        count++;
    }
    strata__central_flush(class, blocks, count);
}

static uint64_t fingerprint(const struct strata__cpu *table)
{
    uint64_t hash = 1;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        hash = hash * 31 + __atomic_load_n(&table->counts[i], __ATOMIC_RELAXED);
    }
    return hash;
}

/* Restarts the sequences under way on a CPU. 0 or -errno. */
static int restart_sequences(unsigned cpu)
{
    int saved = errno;
    long failed = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ,
        MEMBARRIER_CMD_FLAG_CPU, cpu);
    if (failed != 0 && errno == EPERM) {
        (void)syscall(
            SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0);
        failed = syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ,
            MEMBARRIER_CMD_FLAG_CPU, cpu);
    }
    int result = failed == 0 ? 0 : -errno;
    errno = saved;
    return result;
}

static void empty_table(struct strata__cpu *table)
{
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        void **slots = table->slots + strata__block_classes[i].first;
        size_t left = table->counts[i];
        while (left > 0) {
            size_t count =
                left < STRATA__BLOCK_BATCH_MAX ? left : STRATA__BLOCK_BATCH_MAX;
            left -= count;
            strata__central_flush(i, slots + left, count);
        }
        table->counts[i] = 0;
    }
}

static int drain(unsigned cpu)
{
    struct strata__cpu *table = percpu.owned[cpu].table;
    __atomic_store_n(&strata__percpu_caches[cpu], NULL, __ATOMIC_SEQ_CST);
    int failed = restart_sequences(cpu);
    if (failed == 0) {
        empty_table(table);
    }
    __atomic_store_n(&strata__percpu_caches[cpu], table, __ATOMIC_RELEASE);
    return failed == 0;
}

unsigned strata__percpu_drain(int all)
{
    static const struct strata__cpu nothing;
    uint64_t empty = fingerprint(&nothing);
    unsigned drained = 0;
    strata__lock_take(&percpu.lock);
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        struct owned *owned = &percpu.owned[cpu];
        if (owned->table == NULL) {
            continue;
        }
        uint64_t seen = fingerprint(owned->table);
        if (seen != empty && (all || seen == owned->seen)) {
            drained += (unsigned)drain(cpu);
            seen = fingerprint(owned->table);
        }
        owned->seen = seen;
    }
    strata__lock_drop(&percpu.lock);
    return drained;
}

size_t strata__percpu_blocks(unsigned class)
{
    size_t blocks = 0;
    strata__lock_take(&percpu.lock);
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        const struct strata__cpu *table = percpu.owned[cpu].table;
        if (table != NULL) {
            blocks += __atomic_load_n(&table->counts[class], __ATOMIC_RELAXED);
        }
    }
    strata__lock_drop(&percpu.lock);
    return blocks;
}

size_t strata__percpu_metadata_bytes(void)
{
    strata__lock_take(&percpu.lock);
    size_t bytes = percpu.tables * TABLE_BYTES;
    strata__lock_drop(&percpu.lock);
    return bytes;
}

void strata__percpu_lock(void)
{
    strata__lock_take(&percpu.lock);
}

void strata__percpu_unlock(void)
{
    strata__lock_drop(&percpu.lock);
}

void strata__percpu_reset_lock(void)
{
    strata__lock_reset(&percpu.lock);
}
