/*
 * The restartable sequences, inline, because two of them are the fast paths of malloc and
 * free: take a block from this CPU's table, put one there (many: sequence_many.h). The
 * kernel restarts a sequence whose thread was preempted, moved or interrupted by a signal
 * before the last store, so that store alone decides (kernel/rseq.c, rseq_ip_fixup).
 */
#ifndef STRATA_SEQUENCE_H
#define STRATA_SEQUENCE_H

#include <stddef.h>
#include <stdint.h>

#include "blockclass.h"
#include "region.h"
#include "room.h"

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
#    define STRATA__RSEQ 0 /* a sanitizer cannot see what the sequences do */
#elif defined(__x86_64__)
#    define STRATA__RSEQ 1
#else
#    define STRATA__RSEQ 0
#endif

/* The blocks that a CPU keeps. How many of each class is in its row of the region. */
struct strata__slots {
    void *blocks[STRATA__CPU_SLOTS];  /* of a class from the `first` of its room on */
    struct strata_layout_cpu at_fork; /* the row while fork goes on */
};

enum strata__push { STRATA__PUSH_FULL, STRATA__PUSH_DONE, STRATA__PUSH_TWICE };

/* Where the thread's struct rseq lies from the thread pointer; 0: there is none. For the
 * fast paths it is 0 as well when each call has to take the slow ones. */
extern ptrdiff_t strata__percpu_offset, strata__percpu_rseq;
static inline ptrdiff_t strata__percpu_fast_offset(void)
{
    return __atomic_load_n(&strata__percpu_rseq, __ATOMIC_RELAXED);
}

/* From the pointer of CPU 0 to its row, and from row to row. */
#define STRATA__ROWS_OFFSET                                                              \
    (offsetof(struct strata__shared, region.cpus) -                                      \
        offsetof(struct strata__shared, caches))
enum { STRATA__ROW_SHIFT = 7 };
_Static_assert(sizeof(struct strata_layout_cpu) == 1 << STRATA__ROW_SHIFT, "a shift");

#if STRATA__RSEQ

/* Names the sequence 1: to 2: to the kernel, restarting at 0:. The signature is glibc's
 * for x86 (sysdeps/unix/sysv/linux/x86/bits/rseq.h). */
#    define STRATA__RSEQ_BEGIN                                                           \
        ".pushsection __rseq_cs, \"aw\"\n\t"                                             \
        ".balign 32\n\t"                                                                 \
        "3: .long 0, 0\n\t"                                                              \
        ".quad 1f, 2f - 1f, 4f\n\t"                                                      \
        ".popsection\n\t"                                                                \
        ".pushsection __rseq_failure, \"ax\"\n\t"                                        \
        ".byte 0x0f, 0xb9, 0x3d\n\t"                                                     \
        ".long 0x53053053\n\t"                                                           \
        "4: jmp 0f\n\t"                                                                  \
        ".popsection\n\t"                                                                \
        "0: leaq 3b(%%rip), %%rax\n\t"                                                   \
        "movq %%rax, %%fs:8(%[rseq])\n\t"                                                \
        "xorl %%esi, %%esi\n\t"                                                          \
        "1: movl %%fs:4(%[rseq]), %%eax\n\t"                                             \
        "cmpl %[cpus], %%eax\n\t"                                                        \
        "jae 2f\n\t"                                                                     \
        "movq (%[caches], %%rax, 8), %%rdx\n\t"                                          \
        "testq %%rdx, %%rdx\n\t"                                                         \
        "jz 2f\n\t"                                                                      \
        "shll %[row_shift], %%eax\n\t"                                                   \
        "leaq %c[rows](%[caches], %%rax), %%rax\n\t"                                     \
        "movzwl (%%rax, %[class], 2), %%ecx\n\t"

#    define STRATA__RSEQ_INPUTS                                                          \
        [rseq] "r"(rseq), [caches] "r"(strata__shared.caches),                           \
            [cpus] "i"(STRATA__CPUS_MAX), [class] "r"((size_t) class),                   \
            [first] "r"((size_t)strata__rooms[class].first),                             \
            [row_shift] "i"(STRATA__ROW_SHIFT), [rows] "i"(STRATA__ROWS_OFFSET)

/* A block of the class that this CPU keeps, or NULL. rseq is one of the offsets above. */
static inline void *strata__percpu_pop(ptrdiff_t rseq, unsigned class)
{
    if (__builtin_expect(rseq == 0, 0)) {
        return NULL;
    }
    void *block;
    __asm__ volatile(STRATA__RSEQ_BEGIN "subl $1, %%ecx\n\t"
                                        "jb 2f\n\t"
                                        "leaq (%%rdx, %%rcx, 8), %%rdx\n\t"
                                        "movq (%%rdx, %[first], 8), %%rsi\n\t"
                                        "movw %%cx, (%%rax, %[class], 2)\n\t"
                                        "2:\n\t"
                     : "=&S"(block)
                     : STRATA__RSEQ_INPUTS
                     : "rax", "rcx", "rdx", "cc", "memory");
    return block;
}

/* TWICE: the block that was pushed last. */
static inline enum strata__push strata__percpu_push(
    ptrdiff_t rseq, unsigned class, void *block)
{
    if (__builtin_expect(rseq == 0, 0)) {
        return STRATA__PUSH_FULL;
    }
    unsigned long result;
    __asm__ volatile(STRATA__RSEQ_BEGIN "cmpl %[capacity], %%ecx\n\t"
                                        "jae 2f\n\t"
                                        "leaq (%%rdx, %%rcx, 8), %%rdx\n\t"
                                        "testl %%ecx, %%ecx\n\t"
                                        "jz 5f\n\t"
                                        "movl $2, %%esi\n\t"
                                        "cmpq %[block], -8(%%rdx, %[first], 8)\n\t"
                                        "je 2f\n\t"
                                        "5: movl $1, %%esi\n\t"
                                        "movq %[block], (%%rdx, %[first], 8)\n\t"
                                        "addl $1, %%ecx\n\t"
                                        "movw %%cx, (%%rax, %[class], 2)\n\t"
                                        "2:\n\t"
                     : "=&S"(result)
                     : STRATA__RSEQ_INPUTS, [block] "r"(block),
                     [capacity] "r"((uint32_t)strata__room_of(class))
                     : "rax", "rcx", "rdx", "cc", "memory");
    return (enum strata__push)result;
}

#else

static inline void *strata__percpu_pop(ptrdiff_t rseq, unsigned class)
{
    (void)rseq;
    (void)class;
    return NULL;
}

static inline enum strata__push strata__percpu_push(
    ptrdiff_t rseq, unsigned class, void *block)
{
    (void)rseq;
    (void)class;
    (void)block;
    return STRATA__PUSH_FULL;
}

#endif

#endif
