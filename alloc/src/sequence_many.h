/*
 * The sequences of sequence.h for many blocks at once: one restart and one store that
 * decides for the whole batch.
 */
#ifndef STRATA_SEQUENCE_MANY_H
#define STRATA_SEQUENCE_MANY_H

#include <stddef.h>

#include "sequence.h"

#if STRATA__RSEQ

/* Puts `count` blocks there, the last of them on top. 0 if there is not room for all. */
static inline int strata__percpu_push_many(
    ptrdiff_t rseq, unsigned class, void *const *blocks, size_t count)
{
    if (__builtin_expect(rseq == 0, 0)) {
        return 0;
    }
    unsigned long result;
    __asm__ volatile(STRATA__RSEQ_BEGIN "leal (%%rcx, %[count]), %%r9d\n\t"
                                        "cmpl %[capacity], %%r9d\n\t"
                                        "ja 2f\n\t"
                                        "leaq (%%rdx, %%rcx, 8), %%rdi\n\t"
                                        "leaq (%%rdi, %[first], 8), %%rdi\n\t"
                                        "movq %[blocks], %%rsi\n\t"
                                        "movq %[count], %%rcx\n\t"
                                        "rep movsq\n\t"
                                        "movl $1, %%esi\n\t"
                                        "movw %%r9w, (%%rax, %[class], 2)\n\t"
                                        "2:\n\t"
                     : "=&S"(result)
                     : STRATA__RSEQ_INPUTS, [blocks] "r"(blocks), [count] "r"(count),
                     [capacity] "r"((uint32_t)strata__room_of(class))
                     : "rax", "rcx", "rdx", "rdi", "r9", "cc", "memory");
    return result != 0;
}

/* Takes at most `count` blocks, the youngest; returns how many. */
static inline size_t strata__percpu_pop_many(
    ptrdiff_t rseq, unsigned class, void **blocks, size_t count)
{
    if (__builtin_expect(rseq == 0, 0)) {
        return 0;
    }
    unsigned long taken;
    __asm__ volatile(STRATA__RSEQ_BEGIN "movl %%ecx, %%r9d\n\t"
                                        "cmpl %k[count], %%ecx\n\t"
                                        "cmoval %k[count], %%ecx\n\t"
                                        "subl %%ecx, %%r9d\n\t"
                                        "leaq (%%rdx, %%r9, 8), %%rdx\n\t"
                                        "leaq (%%rdx, %[first], 8), %%rsi\n\t"
                                        "movq %[blocks], %%rdi\n\t"
                                        "movl %%ecx, %%edx\n\t"
                                        "rep movsq\n\t"
                                        "movl %%edx, %%esi\n\t"
                                        "movw %%r9w, (%%rax, %[class], 2)\n\t"
                                        "2:\n\t"
                     : "=&S"(taken)
                     : STRATA__RSEQ_INPUTS, [blocks] "r"(blocks), [count] "r"(count)
                     : "rax", "rcx", "rdx", "rdi", "r9", "cc", "memory");
    return taken;
}

#else

static inline int strata__percpu_push_many(
    ptrdiff_t rseq, unsigned class, void *const *blocks, size_t count)
{
    (void)rseq;
    (void)class;
    (void)blocks;
    (void)count;
    return 0;
}

static inline size_t strata__percpu_pop_many(
    ptrdiff_t rseq, unsigned class, void **blocks, size_t count)
{
    (void)rseq;
    (void)class;
    (void)blocks;
    (void)count;
    return 0;
}

#endif

#endif
