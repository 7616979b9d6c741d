/*
 * watch_look.c - one look inside of one target, on the way that `strata explain` goes.
 *
 * Each look opens its own root, so that looks of different threads share nothing. What is kept
 * of a target with a thousand mappings is a few kilobytes.
 */
#include "cmd/watch_look.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/number.h"
#include "facts/collect.h"
#include "model/known.h"

enum { NS_PER_SECOND = 1000000000 };

static uint64_t clock_ns(clockid_t clock)
{
    struct timespec now = {0};

    (void)clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * NS_PER_SECOND + (uint64_t)now.tv_nsec;
}

uint64_t watch_now_ns(void)
{
    return clock_ns(CLOCK_MONOTONIC);
}

uint64_t watch_cpu_ns(void)
{
    return clock_ns(CLOCK_THREAD_CPUTIME_ID);
}

static int read_members(const struct watch_members *members, struct facts *facts)
{
    struct process_identity *processes = calloc(members->count + 1, sizeof(*processes));
    struct chosen_members chosen = {
        .kind = members->count > 1 ? TARGET_POOL : TARGET_PROCESS,
        .name = members->name,
        .processes = processes,
        .count = members->count};
    struct facts_root root;
    struct error error;

    if (processes == NULL) {
        return -ENOMEM;
    }
    for (size_t i = 0; i < members->count; i++) {
        processes[i].pid = members->processes[i].pid;
        processes[i].start_time_ticks = members->processes[i].start_time_ticks;
    }
    error_reset(&error);
    int rc = facts_root_open(&root, members->root, &error);
    if (rc == 0) {
        root.ask_nobody = members->ask_nobody;
        rc = facts_collect_members(&root, &chosen, COLLECT_EXPLAIN, facts, &error);
        facts_root_close(&root);
    }
    free(processes);
    return rc;
}

static void keep_largest(struct fact *largest, uint64_t value)
{
    if (!fact_is_known(largest) || value > largest->value) {
        *largest = (struct fact){.value = value, .state = FACT_OK};
    }
}

/* Private memory is known only when it is of all members. */
static void keep_sizing(const struct snapshot *snapshot, struct metrics_sizing *sizing)
{
    uint64_t sum = 0;
    size_t known_members = 0;

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_view *member = &snapshot->members[i];
        const struct zend_facts *zend = &member->facts->zend;
        bool known;
        sum = number_add(sum, layer_bytes(&member->layers[LAYER_EXCLUSIVE], &known));
        known_members += known ? 1 : 0;
        for (size_t j = 0; j < zend->heap_count; j++) {
            const struct zend_heap_facts *heap = &zend->heaps[j];
            if (!state_is_known(heap->state) || heap->custom) {
                continue;
            }
            keep_largest(&sizing->php_real_bytes, heap->peak_real_bytes);
            if (fact_is_known(&heap->limit_bytes)) {
                keep_largest(&sizing->php_limit_bytes, heap->limit_bytes.value);
            }
        }
    }
    if (known_members > 0 && known_members == snapshot->member_count) {
        sizing->private_bytes = (struct fact){.value = sum, .state = FACT_OK};
    }
}

static void keep_numbers(const struct account *account, struct watch_look *look)
{
    const struct facts *facts = &account->facts;

    for (int id = 0; id < LAYER_COUNT; id++) {
        look->layers[id] = account->snapshot.layers[id];
        look->layers[id].source = NULL;
        look->layers[id].parts = NULL;
        look->layers[id].part_count = 0;
    }
    for (size_t i = 0; i < facts->process_count; i++) {
        glibc_total_add(&look->glibc, &facts->processes[i].glibc);
    }
    keep_sizing(&account->snapshot, &look->sizing);
    look->processes = facts->process_count;
    look->denied = account_is_denied(facts);
    look->complete = account_lacks_only_frames(facts);
}

static int keep(struct account *account, bool full, struct watch_look *look)
{
    int rc = 0;

    keep_numbers(account, look);
    if (full) {
        /* The snapshot refers to the facts, which lie beside it: both move together. */
        look->account = *account;
        look->account.snapshot.facts = &look->account.facts;
        look->full = true;
    } else {
        rc = finding_list_copy(&account->list, &look->list);
        account_release(account);
    }
    return rc;
}

int watch_look_take(
    const struct watch_members *members, bool full, struct watch_look **result)
{
    const uint64_t cpu_before_ns = watch_cpu_ns();
    struct watch_look *look = calloc(1, sizeof(*look));
    struct account account;

    if (look == NULL) {
        return -ENOMEM;
    }
    atomic_init(&look->references, 1);
    look->taken_ns = watch_now_ns();
    int rc = read_members(members, &account.facts);
    if (rc == 0) {
        rc = account_judge_quietly(&account);
    }
    if (rc == 0) {
        rc = keep(&account, full, look);
    }
    look->wall_ns = watch_now_ns() - look->taken_ns;
    look->cpu_ns = watch_cpu_ns() - cpu_before_ns;
    if (rc != 0) {
        free(look);
        return rc;
    }
    *result = look;
    return 0;
}

struct watch_look *watch_look_hold(struct watch_look *look)
{
    if (look != NULL) {
        (void)atomic_fetch_add(&look->references, 1);
    }
    return look;
}

void watch_look_drop(struct watch_look *look)
{
    if (look == NULL || atomic_fetch_sub(&look->references, 1) != 1) {
        return;
    }
    if (look->full) {
        account_release(&look->account);
    } else {
        finding_list_release(&look->list);
    }
    free(look);
}

const struct finding_list *watch_look_findings(const struct watch_look *look)
{
    return look->full ? &look->account.list : &look->list;
}
