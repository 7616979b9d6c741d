/*
 * The tables of the CPUs: made when a CPU first misses, kept for ever, one mapping of
 * 24 KiB each (of which the classes in use touch what they need). The rooms in them are
 * fixed, but how much of them is used follows what is in use, look by look.
 *
 * Draining takes a table from its CPU: its pointer is taken out of the caches, and
 * membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ) restarts whatever sequence is
 * under way on that CPU (kernel/sched/membarrier.c; a preempted one restarts anyway).
 * Then nobody uses the table, until the pointer is back. Threads on that CPU go to the
 * central lists meanwhile.
 *
 * The counts of a table are in the region, which readers outside may share (region.h), and
 * which a child of fork shares with its parent until it has one of its own. So fork takes all
 * tables from their CPUs and keeps a copy of the counts, which the child goes on with; the
 * parent puts its tables back. A child that ran no handler finds its caches zeroed by
 * the kernel: it forgets the tables, and the blocks in them, and goes on with new ones.
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
#include "limit.h"
#include "lock.h"
#include "os.h"
#include "pagesize.h"
#include "publish.h"
#include "sequence_many.h"
#include "units.h"

#if STRATA__RSEQ
#    include <sys/rseq.h>
#    pragma weak __rseq_offset
#    pragma weak __rseq_size
#endif

#define TABLE_BYTES                                                                      \
    ((sizeof(struct strata__slots) + STRATA__PAGE_BYTES - 1) & ~(STRATA__PAGE_BYTES - 1))
#define CPU_ID_OFFSET 4 /* in struct rseq */
#define ROOM_SHARE 512

_Static_assert(STRATA__BLOCK_CLASSES <= STRATA_LAYOUT_CLASSES, "a count for each class");

ptrdiff_t strata__percpu_offset;
ptrdiff_t strata__percpu_rseq;
struct strata__room strata__rooms[STRATA__BLOCK_CLASSES];

/* A table and what it held when drain looked last. */
struct owned {
    struct strata__slots *table;
    uint64_t seen;
};

static struct {
    struct strata__lock lock;
    unsigned end; /* no CPU from here on has a table */
    size_t tables;
    size_t most;          /* tables that there may be; 0: one for each CPU */
    int fork_took_tables; /* from their CPUs, so that the child can have them */
    /* The last, so that few CPUs touch few pages. */
    struct owned owned[STRATA__CPUS_MAX];
} percpu;

/* The counts of a CPU, of which it is the only writer while it has its table. */
static uint16_t *counts_of(unsigned cpu)
{
    return strata__shared.region.cpus[cpu].counts;
}

static void show_tables(void)
{
    strata__shared.region.table_bytes = percpu.tables * TABLE_BYTES;
    strata__shared.region.cpus_used = percpu.end;
}

static void forget_tables(void)
{
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        percpu.owned[cpu] = (struct owned){0};
        memset(counts_of(cpu), 0, sizeof(struct strata_layout_cpu));
    }
    percpu.end = 0;
    percpu.tables = 0;
    show_tables();
}

/* Before anything is done with tables: are they still ours? Under the lock. */
static void notice_fork(void)
{
    if (!strata__region_is_orphaned()) {
        return;
    }
    if (strata__region_renew() != 0) {
        strata__percpu_stop(); /* for good: the rows are the parent's */
        percpu.end = 0;
        return;
    }
    forget_tables();
    strata__publish_all();
}

static void make_rooms(void)
{
    unsigned first = 0;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        const struct strata__block_class *class = &strata__block_classes[i];
        strata__rooms[i] =
            (struct strata__room){.first = (uint16_t)first, .capacity = class->capacity};
        first += class->most;
    }
}

void strata__percpu_start(void)
{
    make_rooms();
#if STRATA__RSEQ
    if (&__rseq_size != NULL && &__rseq_offset != NULL && __rseq_size != 0) {
        strata__percpu_offset = __rseq_offset;
        strata__percpu_rseq = __rseq_offset;
    }
#endif
}

void strata__percpu_stop(void)
{
    strata__percpu_rseq = 0;
    strata__percpu_offset = 0;
}

void strata__percpu_close_fast_path(void)
{
    if (strata__percpu_fast_offset() != 0) {
        __atomic_store_n(&strata__percpu_rseq, 0, __ATOMIC_RELAXED);
    }
}

/* The CPU that this thread runs on, or a number outside of the tables. */
static unsigned current_cpu(void)
{
    unsigned cpu = STRATA__CPUS_MAX;
#if STRATA__RSEQ
    if (strata__percpu_offset != 0) {
        __asm__ volatile(
            "movl %%fs:%c[offset](%[rseq]), %[cpu]"
            : [cpu] "=r"(cpu)
            : [rseq] "r"(strata__percpu_offset), [offset] "i"(CPU_ID_OFFSET));
    }
#endif
    return cpu;
}

/* Restarts the sequences under way on a CPU; on all with flags 0. 0 or -errno. */
static int restart_sequences(unsigned flags, unsigned cpu)
{
    int saved = errno;
    long failed =
        syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, flags, cpu);
    if (failed != 0 && errno == EPERM) {
        (void)syscall(
            SYS_membarrier, MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED_RSEQ, 0, 0);
        failed =
            syscall(SYS_membarrier, MEMBARRIER_CMD_PRIVATE_EXPEDITED_RSEQ, flags, cpu);
    }
    int result = failed == 0 ? 0 : -errno;
    errno = saved;
    return result;
}

static int is_empty(const uint16_t *counts)
{
    unsigned any = 0;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        any |= __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
    }
    return any == 0;
}

static struct strata__slots *new_table(void)
{
    struct strata__slots *table = NULL;
    if (strata__limit_buy(TABLE_BYTES) == 0 &&
        (table = strata__os->map(TABLE_BYTES, STRATA__PAGE_BYTES)) == NULL) {
        strata__limit_return(TABLE_BYTES);
    }
    if (table != NULL) {
        strata__region_add_place(table, TABLE_BYTES, STRATA_PLACE_TABLE);
        percpu.tables++;
    }
    return table;
}

/* Takes an empty table from a CPU that keeps nothing, since it has been idle for two looks.
 * NULL: there is none, and this CPU goes to the central lists. */
static struct strata__slots *take_idle_table(void)
{
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        struct strata__slots *table = percpu.owned[cpu].table;
        if (table == NULL || !is_empty(counts_of(cpu))) {
            continue;
        }
        __atomic_store_n(&strata__shared.caches[cpu], NULL, __ATOMIC_SEQ_CST);
        if (restart_sequences(MEMBARRIER_CMD_FLAG_CPU, cpu) == 0 &&
            is_empty(counts_of(cpu))) {
            percpu.owned[cpu] = (struct owned){0};
            return table;
        }
        __atomic_store_n(&strata__shared.caches[cpu], table, __ATOMIC_RELEASE);
    }
    return NULL;
}

static size_t batch_of(unsigned class)
{
    unsigned half = strata__room_of(class) / 2;
    return half > 0 ? half : 1;
}

/* Gives this CPU a table, if it has none at all and one may be had. */
static void make_table(void)
{
    if (strata__region_is_orphaned()) {
        strata__lock_take(&percpu.lock);
        notice_fork();
        strata__lock_drop(&percpu.lock);
    }
    unsigned cpu = current_cpu();
    if (cpu >= STRATA__CPUS_MAX ||
        __atomic_load_n(&strata__shared.caches[cpu], __ATOMIC_ACQUIRE) != NULL) {
        return;
    }
    strata__lock_take(&percpu.lock);
    if (percpu.owned[cpu].table == NULL && strata__percpu_offset != 0) {
        int may_have = percpu.most == 0 || percpu.tables < percpu.most;
        struct strata__slots *table = may_have ? new_table() : take_idle_table();
        if (table != NULL) {
            percpu.owned[cpu].table = table;
            percpu.end = cpu >= percpu.end ? cpu + 1 : percpu.end;
            show_tables();
            __atomic_store_n(&strata__shared.caches[cpu], table, __ATOMIC_RELEASE);
        }
    }
    strata__lock_drop(&percpu.lock);
}

void strata__percpu_bound(size_t tables)
{
    percpu.most = tables;
}

void *strata__percpu_refill(unsigned class)
{
    void *blocks[STRATA__BLOCK_BATCH_MAX];
    make_table();
    int keeps = current_cpu() < STRATA__CPUS_MAX;
    size_t wanted = keeps ? batch_of(class) : 1;
    size_t got = strata__central_refill(class, blocks, wanted);
    if (got == 0) {
        return NULL;
    }
    /* The lowest address is used first. */
    void *rest[STRATA__BLOCK_BATCH_MAX];
    for (size_t i = 1; i < got; i++) {
        rest[got - 1 - i] = blocks[i];
    }
    if (strata__percpu_push_many(strata__percpu_offset, class, rest, got - 1)) {
        return blocks[0];
    }
    /* The thread has come to another CPU, whose table has not room for all. */
    while (got > 1 && strata__percpu_push(strata__percpu_offset, class,
                          blocks[got - 1]) == STRATA__PUSH_DONE) {
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
    if (strata__percpu_push(strata__percpu_offset, class, block) == STRATA__PUSH_DONE) {
        return; /* into a new table */
    }
    count += strata__percpu_pop_many(
        strata__percpu_offset, class, blocks + 1, batch_of(class));
    strata__central_flush(class, blocks, count);
}

static uint64_t fingerprint(const uint16_t *counts)
{
    uint64_t hash = 1;
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        hash = hash * 31 + __atomic_load_n(&counts[i], __ATOMIC_RELAXED);
    }
    return hash;
}

/* They are written to: NOLINTNEXTLINE(readability-non-const-parameter) */
static void empty_table(struct strata__slots *table, uint16_t *counts)
{
    for (unsigned i = 0; i < STRATA__BLOCK_CLASSES; i++) {
        void **slots = table->blocks + strata__rooms[i].first;
        size_t left = counts[i];
        while (left > 0) {
            size_t count =
                left < STRATA__BLOCK_BATCH_MAX ? left : STRATA__BLOCK_BATCH_MAX;
            left -= count;
            strata__central_flush(i, slots + left, count);
        }
        __atomic_store_n(&counts[i], 0, __ATOMIC_RELAXED);
    }
}

static int drain(unsigned cpu)
{
    struct strata__slots *table = percpu.owned[cpu].table;
    __atomic_store_n(&strata__shared.caches[cpu], NULL, __ATOMIC_SEQ_CST);
    int failed = restart_sequences(MEMBARRIER_CMD_FLAG_CPU, cpu);
    if (failed == 0) {
        empty_table(table, counts_of(cpu));
    }
    __atomic_store_n(&strata__shared.caches[cpu], table, __ATOMIC_RELEASE);
    return failed == 0;
}

/* What CPUs may keep of the roomy classes follows what is in use, so that small programs
 * keep what they kept: a 28th, if each CPU had of each of these 15 classes all it may. Under
 * a limit they do too: what is rounded up to a class and waits would not be there for others. */
static void fit_rooms(void)
{
    if (percpu.tables == 0) {
        return;
    }
    size_t used = strata__limit_hard() == SIZE_MAX ? strata__units_used_bytes() : 0;
    size_t share = used / (ROOM_SHARE * percpu.tables);
    for (unsigned i = STRATA__ROOMY_CLASS; i < STRATA__BLOCK_CLASSES; i++) {
        const struct strata__block_class *class = &strata__block_classes[i];
        size_t room = (i < STRATA__WIDE_CLASS ? share : 2 * share) / class->bytes;
        room = room < class->capacity ? class->capacity : room;
        room = room > class->most ? class->most : room;
        __atomic_store_n(&strata__rooms[i].capacity, (uint16_t)room, __ATOMIC_RELAXED);
    }
}

/* Of some class a CPU keeps more than it may by now. */
static int is_above(const uint16_t *counts)
{
    unsigned above = 0;
    for (unsigned i = STRATA__ROOMY_CLASS; i < STRATA__BLOCK_CLASSES; i++) {
        above |= __atomic_load_n(&counts[i], __ATOMIC_RELAXED) > strata__room_of(i);
    }
    return above != 0;
}

unsigned strata__percpu_drain(int all)
{
    static const struct strata_layout_cpu nothing;
    uint64_t empty = fingerprint(nothing.counts);
    unsigned drained = 0;
    strata__lock_take(&percpu.lock);
    notice_fork();
    fit_rooms();
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        struct owned *owned = &percpu.owned[cpu];
        if (owned->table == NULL) {
            continue;
        }
        uint64_t seen = fingerprint(counts_of(cpu));
        if (seen != empty && (all || seen == owned->seen || is_above(counts_of(cpu)))) {
            drained += (unsigned)drain(cpu);
            seen = fingerprint(counts_of(cpu));
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
    notice_fork();
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        blocks += __atomic_load_n(&counts_of(cpu)[class], __ATOMIC_RELAXED);
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

/* Takes every table from its CPU. Without it, the child cannot have them. */
static int take_all(int alone)
{
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        __atomic_store_n(&strata__shared.caches[cpu], NULL, __ATOMIC_SEQ_CST);
    }
    if (!alone && percpu.end > 0 && restart_sequences(0, 0) != 0) {
        return 0;
    }
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        struct strata__slots *table = percpu.owned[cpu].table;
        if (table != NULL) {
            memcpy(&table->at_fork, counts_of(cpu), sizeof(table->at_fork));
        }
    }
    return 1;
}

static void put_all(void)
{
    for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
        __atomic_store_n(
            &strata__shared.caches[cpu], percpu.owned[cpu].table, __ATOMIC_RELEASE);
    }
}

void strata__percpu_fork_prepare(int alone)
{
    strata__lock_take(&percpu.lock);
    notice_fork();
    percpu.fork_took_tables = take_all(alone);
}

void strata__percpu_fork_parent(void)
{
    put_all();
    strata__lock_drop(&percpu.lock);
}

void strata__percpu_fork_child(int renewed)
{
    if (renewed != 0) {
        strata__percpu_stop();
        percpu.end = 0;
    } else if (!percpu.fork_took_tables) {
        forget_tables();
    } else {
        for (unsigned cpu = 0; cpu < percpu.end; cpu++) {
            const struct strata__slots *table = percpu.owned[cpu].table;
            if (table != NULL) {
                memcpy(counts_of(cpu), &table->at_fork, sizeof(table->at_fork));
            }
        }
        show_tables();
        put_all();
    }
    strata__lock_reset(&percpu.lock);
}
