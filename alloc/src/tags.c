/*
 * Owns names of tags, threads that used them, records, and the numbers of records by block.
 *
 * The number of a block lies in an array beside its unit, by where the block starts. Numbers are 0 again when a block is freed, so a unit
 * that goes to another class has none. Arrays are 16 KiB of address space for each unit
 * of 64 KiB, 8 MiB at once, and pages only where a tagged block lies.
 *
 * Everything of a thread and its records is under the thread's lock, which its own
 * calls take and whoever frees its blocks; names, slots of threads and records are handed
 * out under the lock of all, which is taken first. A slot is used again when its thread has
 * ended and nothing of it is left. Names are only ever added, so looking one up needs no lock.
 */
#include "tags.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "lock.h"
#include "os.h"
#include "region.h"
#include "unitmap.h"

#define NESTED_MAX 32U
#define NO_TAG "(none)"
#define PAGE_BYTES ((size_t)4096)
#define CHUNK_BITS 25 /* 32 MiB of blocks */
#define CHUNK_UNITS ((size_t)1 << (CHUNK_BITS - STRATA__UNIT_BITS))
#define CHUNKS ((size_t)1 << (35 - CHUNK_BITS)) /* in a part of the root */
#define ROOTS ((size_t)1 << (STRATA__ADDRESS_BITS - 35))
#define UNIT_NUMBERS (STRATA__UNIT_BYTES / 8)

struct thread {
    struct strata__lock lock;
    int id;
    uint16_t first_record; /* number + 1 of a record; 0: none */
    size_t used_bytes, peak_bytes, ceiling_bytes, refused;
    char name[STRATA_LAYOUT_NAME_BYTES];
};

struct record {
    uint16_t thread;
    uint16_t tag;
    uint16_t next; /* of the same thread, number + 1 */
    struct strata__tag_stats stats;
};

/* Numbers of records + 1, of the blocks of each unit. */
struct chunk {
    uint16_t numbers[CHUNK_UNITS][UNIT_NUMBERS];
};
struct root {
    struct chunk *chunks[CHUNKS];
};

int strata__tags_active;

static struct {
    struct strata__lock lock;
    uint32_t names_count;
    uint32_t threads_count;
    uint32_t records_count;
    uint16_t free_records; /* a list, number + 1 */
    char names[STRATA_LAYOUT_TAGS][STRATA_LAYOUT_TAG_BYTES];
    struct thread threads[STRATA_LAYOUT_THREADS];
    struct record records[STRATA_LAYOUT_RECORDS];
    struct root *roots[ROOTS];
} tags;

/* What this thread is doing. */
static __thread struct {
    uint16_t slot; /* number + 1; 0: none yet */
    uint16_t depth;
    uint16_t stack[NESTED_MAX]; /* numbers of records + 1; 0: counts nowhere */
} mine __attribute__((tls_model("initial-exec")));

/* ---- showing */

/* Under the thread's lock. */
static void publish_thread(unsigned slot)
{
    const struct thread *thread = &tags.threads[slot];
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

static void publish_record(unsigned number)
{
    const struct record *record = &tags.records[number];
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

/* Under the lock of all, behind what the counts promise. */
static void publish_counts(void)
{
    struct strata_region *shown = &strata__shared.region;
    if (strata__region_is_open()) {
        __atomic_store_n(&shown->tag_count, tags.names_count, __ATOMIC_RELEASE);
        __atomic_store_n(&shown->thread_count, tags.threads_count, __ATOMIC_RELEASE);
        __atomic_store_n(&shown->record_count, tags.records_count, __ATOMIC_RELEASE);
    }
}

void strata__tags_publish(void)
{
    strata__lock_take(&tags.lock);
    if (strata__region_is_open()) {
        memcpy(strata__shared.region.tags, tags.names,
            tags.names_count * sizeof(tags.names[0]));
    }
    for (unsigned i = 0; i < tags.threads_count; i++) {
        strata__lock_take(&tags.threads[i].lock);
        publish_thread(i);
        strata__lock_drop(&tags.threads[i].lock);
    }
    for (unsigned i = 0; i < tags.records_count; i++) {
        struct thread *thread = &tags.threads[tags.records[i].thread];
        strata__lock_take(&thread->lock);
        publish_record(i);
        strata__lock_drop(&thread->lock);
    }
    publish_counts();
    strata__lock_drop(&tags.lock);
}

/* ---- numbers of blocks */

/* Where the number of a block stands; NULL: nowhere, and `make` could not help it. */
static uint16_t *number_of(const void *block, int make)
{
    uintptr_t address = (uintptr_t)block;
    struct root *root = __atomic_load_n(&tags.roots[address >> 35], __ATOMIC_ACQUIRE);
    if (root == NULL) {
        root = make ? strata__os->map(sizeof(*root), PAGE_BYTES) : NULL;
        if (root == NULL) {
            return NULL;
        }
        strata__region_add_place(root, sizeof(*root), STRATA_PLACE_MAP);
        __atomic_store_n(&tags.roots[address >> 35], root, __ATOMIC_RELEASE);
    }
    struct chunk **place = &root->chunks[address >> CHUNK_BITS & (CHUNKS - 1)];
    struct chunk *chunk = __atomic_load_n(place, __ATOMIC_ACQUIRE);
    if (chunk == NULL) {
        chunk = make ? strata__os->map(sizeof(*chunk), PAGE_BYTES) : NULL;
        if (chunk == NULL) {
            return NULL;
        }
        strata__region_add_place(chunk, sizeof(*chunk), STRATA_PLACE_MAP);
        __atomic_store_n(place, chunk, __ATOMIC_RELEASE);
    }
    /* By place, since a slab may become a mixed unit while its blocks live. Only slabs of
     * class 0 have blocks of 8 bytes. */
    unsigned shift = strata__entry_kind(strata__unitmap_get(block)) == 1 ? 3 : 4;
    size_t index = (address & (STRATA__UNIT_BYTES - 1)) >> shift;
    return &chunk->numbers[address >> STRATA__UNIT_BITS & (CHUNK_UNITS - 1)][index];
}

/* The same; what is missing is made under the lock of all. */
static uint16_t *make_number(const void *block)
{
    uint16_t *number = number_of(block, 0);
    if (number == NULL) {
        strata__lock_take(&tags.lock);
        number = number_of(block, 1);
        strata__lock_drop(&tags.lock);
    }
    return number;
}

/* ---- names, threads, records; under the lock of all */

static int find_name(const char *name)
{
    uint32_t count = __atomic_load_n(&tags.names_count, __ATOMIC_ACQUIRE);
    for (uint32_t i = 0; i < count; i++) {
        if (strcmp(tags.names[i], name) == 0) {
            return (int)i;
        }
    }
    return -1;
}

static int make_name(const char *name)
{
    int found = find_name(name);
    if (found >= 0 || tags.names_count == STRATA_LAYOUT_TAGS) {
        return found;
    }
    char *place = tags.names[tags.names_count];
    memcpy(place, name, strlen(name) + 1);
    if (strata__region_is_open()) {
        memcpy(
            strata__shared.region.tags[tags.names_count], place, STRATA_LAYOUT_TAG_BYTES);
    }
    __atomic_store_n(&tags.names_count, tags.names_count + 1, __ATOMIC_RELEASE);
    return (int)tags.names_count - 1;
}

static int thread_has_ended(int id)
{
    int saved = errno;
    int ended = syscall(SYS_tgkill, getpid(), id, 0) != 0 && errno == ESRCH;
    errno = saved;
    return ended;
}

/* Its records go back to the list. */
static void forget_thread(struct thread *thread)
{
    while (thread->first_record != 0) {
        unsigned number = thread->first_record - 1U;
        struct record *record = &tags.records[number];
        thread->first_record = record->next;
        record->stats = (struct strata__tag_stats){0};
        record->next = tags.free_records;
        tags.free_records = (uint16_t)(number + 1);
        publish_record(number);
    }
}

static int make_thread(int id)
{
    unsigned slot = 0;
    for (; slot < tags.threads_count; slot++) {
        struct thread *thread = &tags.threads[slot];
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
    struct thread *thread = &tags.threads[slot];
    strata__lock_take(&thread->lock);
    thread->id = id;
    thread->peak_bytes = thread->ceiling_bytes = thread->refused = 0;
    memset(thread->name, 0, sizeof(thread->name));
    publish_thread(slot);
    strata__lock_drop(&thread->lock);
    tags.threads_count = slot < tags.threads_count ? tags.threads_count : slot + 1;
    return (int)slot;
}

static int find_record(const struct thread *thread, unsigned tag)
{
    for (unsigned next = thread->first_record; next != 0;
         next = tags.records[next - 1].next) {
        if (tags.records[next - 1].tag == tag) {
            return (int)next - 1;
        }
    }
    return -1;
}

static int make_record(unsigned slot, unsigned tag)
{
    struct thread *thread = &tags.threads[slot];
    unsigned number = tags.records_count;
    if (tags.free_records != 0) {
        number = tags.free_records - 1U;
        tags.free_records = tags.records[number].next;
    } else if (number == STRATA_LAYOUT_RECORDS) {
        strata__shared.region.records_lost++;
        return -1;
    } else {
        tags.records_count++;
    }
    strata__lock_take(&thread->lock);
    tags.records[number] = (struct record){
        .thread = (uint16_t)slot, .tag = (uint16_t)tag, .next = thread->first_record};
    thread->first_record = (uint16_t)(number + 1);
    publish_record(number);
    strata__lock_drop(&thread->lock);
    return (int)number;
}

/* This thread's slot, made if need be; negative: there is none. */
static int my_slot(void)
{
    if (mine.slot == 0) {
        int slot = make_thread((int)syscall(SYS_gettid));
        mine.slot = (uint16_t)(slot + 1);
    }
    return mine.slot - 1;
}

/* The number of the record for this thread and a tag, made if need be; or negative. */
static int my_record(const char *name)
{
    strata__lock_take(&tags.lock);
    int number = -1;
    int tag = make_name(name);
    int slot = tag < 0 ? -1 : my_slot();
    if (slot >= 0) {
        number = find_record(&tags.threads[slot], (unsigned)tag);
        number = number >= 0 ? number : make_record((unsigned)slot, (unsigned)tag);
    }
    publish_counts();
    strata__lock_drop(&tags.lock);
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

static void add_record(struct strata__tag_stats *out, unsigned number)
{
    const struct record *record = &tags.records[number];
    struct thread *thread = &tags.threads[record->thread];
    strata__lock_take(&thread->lock);
    out->used_bytes += record->stats.used_bytes;
    out->used_blocks += record->stats.used_blocks;
    out->peak_bytes += record->stats.peak_bytes;
    out->allocations += record->stats.allocations;
    strata__lock_drop(&thread->lock);
}

int strata__tags_get(const char *name, int of_all_threads, struct strata__tag_stats *out)
{
    *out = (struct strata__tag_stats){0};
    int tag = name == NULL ? -1 : find_name(name);
    if (tag < 0) {
        return ENOENT;
    }
    strata__lock_take(&tags.lock);
    for (unsigned i = 0; i < tags.records_count; i++) {
        const struct record *record = &tags.records[i];
        if (record->tag == (unsigned)tag &&
            (of_all_threads || record->thread + 1U == mine.slot)) {
            add_record(out, i);
        }
    }
    strata__lock_drop(&tags.lock);
    return 0;
}

int strata__tags_set_thread_name(const char *name)
{
    if (name == NULL) {
        return EINVAL;
    }
    strata__lock_take(&tags.lock);
    int slot = my_slot();
    if (slot >= 0) {
        struct thread *thread = &tags.threads[slot];
        strata__lock_take(&thread->lock);
        memset(thread->name, 0, sizeof(thread->name));
        memcpy(thread->name, name, strnlen(name, sizeof(thread->name) - 1));
        publish_thread((unsigned)slot);
        strata__lock_drop(&thread->lock);
        publish_counts();
    }
    strata__lock_drop(&tags.lock);
    return slot >= 0 ? 0 : ENOSPC;
}

int strata__tags_set_ceiling(size_t bytes)
{
    if (my_record(NO_TAG) < 0) {
        return ENOSPC;
    }
    struct thread *thread = &tags.threads[mine.slot - 1];
    strata__lock_take(&thread->lock);
    thread->ceiling_bytes = bytes;
    publish_thread(mine.slot - 1U);
    strata__lock_drop(&thread->lock);
    activate();
    return 0;
}

void strata__tags_reset_peaks(void)
{
    strata__lock_take(&tags.lock);
    for (unsigned i = 0; i < tags.threads_count; i++) {
        struct thread *thread = &tags.threads[i];
        strata__lock_take(&thread->lock);
        thread->peak_bytes = thread->used_bytes;
        for (unsigned next = thread->first_record; next != 0;
             next = tags.records[next - 1].next) {
            struct strata__tag_stats *stats = &tags.records[next - 1].stats;
            stats->peak_bytes = stats->used_bytes;
            publish_record(next - 1);
        }
        publish_thread(i);
        strata__lock_drop(&thread->lock);
    }
    strata__lock_drop(&tags.lock);
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
    const struct thread *thread = &tags.threads[mine.slot - 1];
    int none = thread->ceiling_bytes > 0 ? find_name(NO_TAG) : -1;
    return none < 0 ? 0 : (unsigned)(find_record(thread, (unsigned)none) + 1);
}

static int has_room(const struct thread *thread, size_t bytes)
{
    return thread->ceiling_bytes == 0 ||
           (bytes <= thread->ceiling_bytes &&
               thread->used_bytes <= thread->ceiling_bytes - bytes);
}

static int ask(size_t bytes, int count_refusal)
{
    if (mine.slot == 0) {
        return 1;
    }
    struct thread *thread = &tags.threads[mine.slot - 1];
    if (thread->ceiling_bytes == 0) { /* which only this thread sets */
        return 1;
    }
    strata__lock_take(&thread->lock);
    int admitted = has_room(thread, bytes);
    if (!admitted && count_refusal) {
        thread->refused++;
        publish_thread(mine.slot - 1U);
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

/* Adds to a record what may be negative. */
static void change(unsigned number, size_t bytes, size_t blocks)
{
    struct record *record = &tags.records[number];
    struct thread *thread = &tags.threads[record->thread];
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
    publish_record(number);
    publish_thread(record->thread);
    strata__lock_drop(&thread->lock);
}

void strata__tags_charge(void *block, size_t bytes)
{
    unsigned record = current();
    uint16_t *number = record == 0 ? NULL : make_number(block);
    if (number != NULL) {
        *number = (uint16_t)record;
        change(record - 1, bytes, 1);
    }
}

void strata__tags_release(void *block, size_t bytes)
{
    uint16_t *number = number_of(block, 0);
    if (number != NULL && *number != 0) {
        unsigned record = *number - 1U;
        *number = 0;
        change(record, -bytes, (size_t)-1);
    }
}

void strata__tags_resized(void *old_block, size_t old_bytes, void *block, size_t bytes)
{
    uint16_t *number = number_of(old_block, 0);
    if (number == NULL || *number == 0) {
        return;
    }
    unsigned record = *number - 1U;
    *number = 0;
    number = make_number(block);
    if (number == NULL) {
        change(record, -old_bytes, (size_t)-1);
    } else {
        *number = (uint16_t)(record + 1);
        change(record, bytes - old_bytes, 0);
    }
}

/* ---- fork */

void strata__tags_lock(void)
{
    strata__lock_take(&tags.lock);
    for (unsigned i = 0; i < tags.threads_count; i++) {
        strata__lock_take(&tags.threads[i].lock);
    }
}

void strata__tags_unlock(void)
{
    for (unsigned i = tags.threads_count; i > 0; i--) {
        strata__lock_drop(&tags.threads[i - 1].lock);
    }
    strata__lock_drop(&tags.lock);
}

void strata__tags_fork_child(void)
{
    for (unsigned i = 0; i < tags.threads_count; i++) {
        strata__lock_reset(&tags.threads[i].lock);
    }
    strata__lock_reset(&tags.lock);
    if (mine.slot > 0) {
        tags.threads[mine.slot - 1].id = (int)syscall(SYS_gettid);
    }
}
