/*
 * Owns names of tags, threads that used them, and records. A slot is used again when its
 * thread has ended and nothing of it is left.
 */
#include "tag_records.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

struct strata__tag_records strata__tag_records;

/* ---- showing */

void strata__tag_publish_thread(unsigned slot)
{
    const struct strata__tag_thread *thread = &strata__tag_records.threads[slot];
    struct strata_layout_thread *shown = &strata__shared.region.threads[slot];
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    shown->thread_id = thread->id;
    strata__region_set(&shown->used_bytes, thread->used_bytes);
    strata__region_set(&shown->peak_bytes, thread->peak_bytes);
    strata__region_set(&shown->ceiling_bytes, thread->ceiling_bytes);
    strata__region_set(&shown->refused, thread->refused);
    memcpy(shown->name, thread->name, sizeof(shown->name));
    strata__region_end(&shown->sequence);
}

void strata__tag_publish_record(unsigned number)
{
    const struct strata__tag_record *record = &strata__tag_records.records[number];
    struct strata_layout_record *shown = &strata__shared.region.records[number];
    if (!strata__region_is_open()) {
        return;
    }
    strata__region_begin(&shown->sequence);
    shown->thread = record->thread;
    shown->tag = record->tag;
    strata__region_set(&shown->used_bytes, record->stats.used_bytes);
    strata__region_set(&shown->used_blocks, record->stats.used_blocks);
    strata__region_set(&shown->peak_bytes, record->stats.peak_bytes);
    strata__region_set(&shown->allocations, record->stats.allocations);
    strata__region_end(&shown->sequence);
}

void strata__tag_publish_counts(void)
{
    struct strata_region *shown = &strata__shared.region;
    if (strata__region_is_open()) {
        __atomic_store_n(
            &shown->tag_count, strata__tag_records.names_count, __ATOMIC_RELEASE);
        __atomic_store_n(
            &shown->thread_count, strata__tag_records.threads_count, __ATOMIC_RELEASE);
        __atomic_store_n(
            &shown->record_count, strata__tag_records.records_count, __ATOMIC_RELEASE);
    }
}

void strata__tags_publish(void)
{
    strata__lock_take(&strata__tag_records.lock);
    if (strata__region_is_open()) {
        memcpy(strata__shared.region.tags, strata__tag_records.names,
            strata__tag_records.names_count * sizeof(strata__tag_records.names[0]));
    }
    for (unsigned i = 0; i < strata__tag_records.threads_count; i++) {
        strata__lock_take(&strata__tag_records.threads[i].lock);
        strata__tag_publish_thread(i);
        strata__lock_drop(&strata__tag_records.threads[i].lock);
    }
    for (unsigned i = 0; i < strata__tag_records.records_count; i++) {
        struct strata__tag_thread *thread =
            &strata__tag_records.threads[strata__tag_records.records[i].thread];
        strata__lock_take(&thread->lock);
        strata__tag_publish_record(i);
        strata__lock_drop(&thread->lock);
    }
    strata__tag_publish_counts();
    strata__lock_drop(&strata__tag_records.lock);
}

/* ---- names, threads, records */

int strata__tag_find_name(const char *name)
{
    uint32_t count = __atomic_load_n(&strata__tag_records.names_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(strata__tag_records.names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

int strata__tag_make_name(const char *name)
{
    int found = strata__tag_find_name(name);
    if (found >= 0 || strata__tag_records.names_count == STRATA_LAYOUT_TAGS) {
        return found;
    }
    char *place = strata__tag_records.names[strata__tag_records.names_count];
    memcpy(place, name, strlen(name) + 1);
    if (strata__region_is_open()) {
        memcpy(strata__shared.region.tags[strata__tag_records.names_count], place,
            STRATA_LAYOUT_TAG_BYTES);
    }
    __atomic_store_n(&strata__tag_records.names_count,
        strata__tag_records.names_count + 1, __ATOMIC_RELEASE);
    return (int)strata__tag_records.names_count - 1;
}

static int thread_has_ended(int id)
{
    int saved = errno;
    int ended = syscall(SYS_tgkill, getpid(), id, 0) != 0 && errno == ESRCH;
    errno = saved;
    return ended;
}

/* Its records go back to the list. */
static void forget_thread(struct strata__tag_thread *thread)
{
    while (thread->first_record != 0) {
        unsigned number = thread->first_record - 1U;
        struct strata__tag_record *record = &strata__tag_records.records[number];
        thread->first_record = record->next;
        record->stats = (struct strata__tag_stats){0};
        record->next = strata__tag_records.free_records;
        strata__tag_records.free_records = (uint16_t)(number + 1);
        strata__tag_publish_record(number);
    }
}

int strata__tag_make_thread(int id)
{
    unsigned slot = 0;
    for (; slot < strata__tag_records.threads_count; slot++) {
        struct strata__tag_thread *thread = &strata__tag_records.threads[slot];
        strata__lock_take(&thread->lock);
        int usable =
            thread->used_bytes == 0 && (thread->id == id || thread_has_ended(thread->id));
        if (usable) {
            forget_thread(thread);
        }
        strata__lock_drop(&thread->lock);
        if (usable) {
            break;
        }
    }
    if (slot == STRATA_LAYOUT_THREADS) {
        return -1;
    }
    struct strata__tag_thread *thread = &strata__tag_records.threads[slot];
    strata__lock_take(&thread->lock);
    thread->id = id;
    thread->peak_bytes = thread->ceiling_bytes = thread->refused = 0;
    memset(thread->name, 0, sizeof(thread->name));
    strata__tag_publish_thread(slot);
    strata__lock_drop(&thread->lock);
    strata__tag_records.threads_count = slot < strata__tag_records.threads_count
                                            ? strata__tag_records.threads_count
                                            : slot + 1;
    return (int)slot;
}

int strata__tag_find_record(const struct strata__tag_thread *thread, unsigned tag)
{
    for (unsigned next = thread->first_record; next != 0;
         next = strata__tag_records.records[next - 1].next) {
        if (strata__tag_records.records[next - 1].tag == tag) {
            return (int)next - 1;
        }
    }
    return -1;
}

int strata__tag_make_record(unsigned slot, unsigned tag)
{
    struct strata__tag_thread *thread = &strata__tag_records.threads[slot];
    unsigned number = strata__tag_records.records_count;
    if (strata__tag_records.free_records != 0) {
        number = strata__tag_records.free_records - 1U;
        strata__tag_records.free_records = strata__tag_records.records[number].next;
    } else if (number == STRATA_LAYOUT_RECORDS) {
        strata__shared.region.records_lost++;
        return -1;
    } else {
        strata__tag_records.records_count++;
    }
    strata__lock_take(&thread->lock);
    strata__tag_records.records[number] = (struct strata__tag_record){
        .thread = (uint16_t)slot, .tag = (uint16_t)tag, .next = thread->first_record};
    thread->first_record = (uint16_t)(number + 1);
    strata__tag_publish_record(number);
    strata__lock_drop(&thread->lock);
    return (int)number;
}

/* ---- what they hold */

void strata__tag_change(unsigned number, size_t bytes, size_t blocks)
{
    struct strata__tag_record *record = &strata__tag_records.records[number];
    struct strata__tag_thread *thread = &strata__tag_records.threads[record->thread];
    struct strata__tag_stats *stats = &record->stats;
    strata__lock_take(&thread->lock);
    stats->used_bytes += bytes;
    stats->used_blocks += blocks;
    stats->allocations += blocks == 1;
    stats->peak_bytes =
        stats->used_bytes > stats->peak_bytes ? stats->used_bytes : stats->peak_bytes;
    thread->used_bytes += bytes;
    thread->peak_bytes =
        thread->used_bytes > thread->peak_bytes ? thread->used_bytes : thread->peak_bytes;
    strata__tag_publish_record(number);
    strata__tag_publish_thread(record->thread);
    strata__lock_drop(&thread->lock);
}

void strata__tag_add_record(struct strata__tag_stats *out, unsigned number)
{
    const struct strata__tag_record *record = &strata__tag_records.records[number];
    struct strata__tag_thread *thread = &strata__tag_records.threads[record->thread];
    strata__lock_take(&thread->lock);
    out->used_bytes += record->stats.used_bytes;
    out->used_blocks += record->stats.used_blocks;
    out->peak_bytes += record->stats.peak_bytes;
    out->allocations += record->stats.allocations;
    strata__lock_drop(&thread->lock);
}
