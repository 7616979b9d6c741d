/*
 * The list of blocks whose free had to wait is one for all threads, so whoever leaves a slow
 * path next frees them. It is taken whole: a pop of single blocks would have to fear that
 * the first was freed and pushed again in between.
 */
#include "busy.h"

#include <stddef.h>

__thread int strata__busy;

struct waiting {
    struct waiting *next;
};

static struct waiting *waiting;

static void push(struct waiting *first, struct waiting *last)
{
    struct waiting *head = __atomic_load_n(&waiting, __ATOMIC_RELAXED);
    do {
        last->next = head;
    } while (!__atomic_compare_exchange_n(
        &waiting, &head, first, 1, __ATOMIC_RELEASE, __ATOMIC_RELAXED));
}

void strata__busy_defer(void *block)
{
    push(block, block);
}

void *strata__busy_deferred(void)
{
    if (__atomic_load_n(&waiting, __ATOMIC_RELAXED) == NULL) {
        return NULL;
    }
    struct waiting *first = __atomic_exchange_n(&waiting, NULL, __ATOMIC_ACQUIRE);
    if (first == NULL || first->next == NULL) {
        return first;
    }
    struct waiting *last = first->next;
    while (last->next != NULL) {
        last = last->next;
    }
    push(first->next, last);
    return first;
}
