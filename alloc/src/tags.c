/*
 * What the calling thread does: which record its blocks belong to, and whether it may have
 * more. tag_records.c owns the records, tag_numbers.c the number of each block's.
 *
 * A thread that has neither pushed a tag nor set a ceiling has no slot, and nothing is
 * charged to it.
 */
#include "tags.h"

#include <errno.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"
#include "region.h"
#include "tag_numbers.h"
#include "tag_records.h"

#define NESTED_MAX 32U
#define NO_TAG "(none)"

int strata__tags_active;

/* What this thread is doing. */
static __thread struct {
    uint16_t slot; /* number + 1; 0: none yet */
    uint16_t depth;
    uint16_t stack[NESTED_MAX]; /* numbers of records + 1; 0: counts nowhere */
} mine __attribute__((tls_model("initial-exec")));

/* This thread's slot, made if need be; negative: there is none. */
static int my_slot(void)
{
    if (mine.slot == 0) {
        int slot = strata__tag_make_thread((int)syscall(SYS_gettid));
        mine.slot = (uint16_t)(slot + 1);
    }
    return mine.slot - 1;
}

/* The number of the record for this thread and a tag, made if need be; or negative. */
static int my_record(const char *name)
{
    strata__lock_take(&strata__tag_records.lock);
    int number = -1;
    int tag = strata__tag_make_name(name);
    int slot = tag < 0 ? -1 : my_slot();
    if (slot >= 0) {
        number =
            strata__tag_find_record(&strata__tag_records.threads[slot], (unsigned)tag);
        number =
            number >= 0 ? number : strata__tag_make_record((unsigned)slot, (unsigned)tag);
    }
    strata__tag_publish_counts();
    strata__lock_drop(&strata__tag_records.lock);
    return number;
}

/* ---- what malloc.h offers */

/* Written once: every call of malloc reads it from then on. */
static void activate(void)
{
    if (!strata__tags_are_active()) {
        __atomic_store_n(&strata__tags_active, 1, __ATOMIC_RELEASE);
    }
}

int strata__tags_push(const char *name)
{
    if (name == NULL || name[0] == '\0' || strlen(name) >= STRATA_LAYOUT_TAG_BYTES) {
        return EINVAL;
    }
    int number = mine.depth < NESTED_MAX ? my_record(name) : -1;
    if (mine.depth < NESTED_MAX) {
        mine.stack[mine.depth] = (uint16_t)(number + 1);
    }
    mine.depth++;
    activate();
    return number >= 0 ? 0 : ENOSPC;
}

void strata__tags_pop(void)
{
    if (mine.depth > 0) {
        mine.depth--;
    }
}

int strata__tags_get(const char *name, int of_all_threads, struct strata__tag_stats *out)
{
    *out = (struct strata__tag_stats){0};
    int tag = name == NULL ? -1 : strata__tag_find_name(name);
    if (tag < 0) {
        return ENOENT;
    }
    strata__lock_take(&strata__tag_records.lock);
    for (unsigned i = 0; i < strata__tag_records.records_count; i++) {
        const struct strata__tag_record *record = &strata__tag_records.records[i];
        if (record->tag == (unsigned)tag &&
            (of_all_threads || record->thread + 1U == mine.slot)) {
            strata__tag_add_record(out, i);
        }
    }
    strata__lock_drop(&strata__tag_records.lock);
    return 0;
}

int strata__tags_set_thread_name(const char *name)
{
    if (name == NULL) {
        return EINVAL;
    }
    strata__lock_take(&strata__tag_records.lock);
    int slot = my_slot();
    if (slot >= 0) {
        struct strata__tag_thread *thread = &strata__tag_records.threads[slot];
        strata__lock_take(&thread->lock);
        memset(thread->name, 0, sizeof(thread->name));
        memcpy(thread->name, name, strnlen(name, sizeof(thread->name) - 1));
        strata__tag_publish_thread((unsigned)slot);
        strata__lock_drop(&thread->lock);
        strata__tag_publish_counts();
    }
    strata__lock_drop(&strata__tag_records.lock);
    return slot >= 0 ? 0 : ENOSPC;
}

int strata__tags_set_ceiling(size_t bytes)
{
    if (my_record(NO_TAG) < 0) {
        return ENOSPC;
    }
    struct strata__tag_thread *thread = &strata__tag_records.threads[mine.slot - 1];
    strata__lock_take(&thread->lock);
    thread->ceiling_bytes = bytes;
    strata__tag_publish_thread(mine.slot - 1U);
    strata__lock_drop(&thread->lock);
    activate();
    return 0;
}

void strata__tags_reset_peaks(void)
{
    strata__lock_take(&strata__tag_records.lock);
    for (unsigned i = 0; i < strata__tag_records.threads_count; i++) {
        struct strata__tag_thread *thread = &strata__tag_records.threads[i];
        strata__lock_take(&thread->lock);
        thread->peak_bytes = thread->used_bytes;
        for (unsigned next = thread->first_record; next != 0;
             next = strata__tag_records.records[next - 1].next) {
            struct strata__tag_stats *stats =
                &strata__tag_records.records[next - 1].stats;
            stats->peak_bytes = stats->used_bytes;
            strata__tag_publish_record(next - 1);
        }
        strata__tag_publish_thread(i);
        strata__lock_drop(&thread->lock);
    }
    strata__lock_drop(&strata__tag_records.lock);
}

/* ---- charging */

/* The record that this thread's next block belongs to, + 1; 0: none. Under a ceiling
 * everything counts. */
static unsigned current(void)
{
    if (mine.slot == 0) {
        return 0;
    }
    if (mine.depth > 0) {
        unsigned top = mine.depth < NESTED_MAX ? mine.depth : NESTED_MAX;
        return mine.stack[top - 1];
    }
    const struct strata__tag_thread *thread = &strata__tag_records.threads[mine.slot - 1];
    int none = thread->ceiling_bytes > 0 ? strata__tag_find_name(NO_TAG) : -1;
    return none < 0 ? 0 : (unsigned)(strata__tag_find_record(thread, (unsigned)none) + 1);
}

static int has_room(const struct strata__tag_thread *thread, size_t bytes)
{
    return thread->ceiling_bytes == 0 ||
           (bytes <= thread->ceiling_bytes &&
               thread->used_bytes <= thread->ceiling_bytes - bytes);
}

/* Only this thread sets it. */
static int has_ceiling(void)
{
    return mine.slot > 0 && strata__tag_records.threads[mine.slot - 1].ceiling_bytes > 0;
}

static int ask(size_t bytes, int count_refusal)
{
    if (!has_ceiling()) {
        return 1;
    }
    struct strata__tag_thread *thread = &strata__tag_records.threads[mine.slot - 1];
    strata__lock_take(&thread->lock);
    int admitted = has_room(thread, bytes);
    if (!admitted && count_refusal) {
        thread->refused++;
        strata__tag_publish_thread(mine.slot - 1U);
    }
    strata__lock_drop(&thread->lock);
    return admitted;
}

int strata__tags_has_room(size_t bytes)
{
    return ask(bytes, 0);
}

int strata__tags_admit(size_t bytes)
{
    return ask(bytes, 1);
}

/* Whether what has this number counts for this thread; 0: for nobody. */
static int is_mine(unsigned number)
{
    return number != 0 &&
           strata__tag_records.records[number - 1].thread + 1U == mine.slot;
}

int strata__tags_may_grow(const void *block, size_t old_bytes, size_t bytes)
{
    const uint16_t *number = strata__tag_number(block);
    const int counts = number != NULL && is_mine(*number);
    return !has_ceiling() || ask(counts ? bytes - old_bytes : bytes, 0);
}

/* Where the number of a block stands; what is missing is made under the lock of all. */
static uint16_t *make_number(const void *block)
{
    uint16_t *number = strata__tag_number(block);
    if (number == NULL) {
        strata__lock_take(&strata__tag_records.lock);
        number = strata__tag_make_number(block);
        strata__lock_drop(&strata__tag_records.lock);
    }
    return number;
}

void strata__tags_charge(void *block, size_t bytes)
{
    unsigned record = current();
    uint16_t *number = record == 0 ? NULL : make_number(block);
    if (number != NULL) {
        *number = (uint16_t)record;
        strata__tag_change(record - 1, bytes, 1);
    }
}

void strata__tags_release(void *block, size_t bytes)
{
    uint16_t *number = strata__tag_number(block);
    if (number != NULL && *number != 0) {
        unsigned record = *number - 1U;
        *number = 0;
        strata__tag_change(record, -bytes, (size_t)-1);
    }
}

unsigned strata__tags_lift(const void *block)
{
    uint16_t *at = strata__tag_number(block);
    const unsigned number = at == NULL ? 0 : *at;
    if (number != 0) {
        *at = 0;
    }
    return number;
}

void strata__tags_settle(unsigned lifted, size_t old_bytes, void *block, size_t bytes)
{
    if (bytes > old_bytes && has_ceiling() && !is_mine(lifted)) {
        if (lifted != 0) {
            strata__tag_change(lifted - 1, -old_bytes, (size_t)-1);
        }
        strata__tags_charge(block, bytes);
        return;
    }
    if (lifted == 0) {
        return;
    }
    uint16_t *number = make_number(block);
    if (number == NULL) {
        strata__tag_change(lifted - 1, -old_bytes, (size_t)-1);
    } else {
        *number = (uint16_t)lifted;
        if (bytes != old_bytes) {
            strata__tag_change(lifted - 1, bytes - old_bytes, 0);
        }
    }
}

/* ---- fork */

void strata__tags_lock(void)
{
    strata__lock_take(&strata__tag_records.lock);
    for (unsigned i = 0; i < strata__tag_records.threads_count; i++) {
        strata__lock_take(&strata__tag_records.threads[i].lock);
    }
}

void strata__tags_unlock(void)
{
    for (unsigned i = strata__tag_records.threads_count; i > 0; i--) {
        strata__lock_drop(&strata__tag_records.threads[i - 1].lock);
    }
    strata__lock_drop(&strata__tag_records.lock);
}

void strata__tags_fork_child(void)
{
    for (unsigned i = 0; i < strata__tag_records.threads_count; i++) {
        strata__lock_reset(&strata__tag_records.threads[i].lock);
    }
    strata__lock_reset(&strata__tag_records.lock);
    if (mine.slot > 0) {
        strata__tag_records.threads[mine.slot - 1].id = (int)syscall(SYS_gettid);
    }
}
