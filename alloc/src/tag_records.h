/*
 * Names of tags, threads that used them, and records: a record is a thread and a tag, with
 * what they hold. tags.c says which of them a call belongs to.
 *
 * Everything of a thread and its records is under the thread's lock; names, slots of
 * threads and records are handed out under the lock of all, which is taken first. A number
 * that may be missing is negative then.
 */
#ifndef STRATA_TAG_RECORDS_H
#define STRATA_TAG_RECORDS_H

#include <stddef.h>
#include <stdint.h>

#include "lock.h"
#include "region.h"

struct strata__tag_stats {
    size_t used_bytes, used_blocks, peak_bytes, allocations;
};

struct strata__tag_thread {
    struct strata__lock lock;
    int id;
    uint16_t first_record; /* number + 1 of a record; 0: none */
    size_t used_bytes, peak_bytes, ceiling_bytes, refused;
    char name[STRATA_LAYOUT_NAME_BYTES];
};

struct strata__tag_record {
    uint16_t thread;
    uint16_t tag;
    uint16_t next; /* of the same thread, number + 1 */
    struct strata__tag_stats stats;
};

struct strata__tag_records {
    struct strata__lock lock; /* of all */
    uint32_t names_count;
    uint32_t threads_count;
    uint32_t records_count;
    uint16_t free_records; /* a list, number + 1 */
    char names[STRATA_LAYOUT_TAGS][STRATA_LAYOUT_TAG_BYTES];
    struct strata__tag_thread threads[STRATA_LAYOUT_THREADS];
    struct strata__tag_record records[STRATA_LAYOUT_RECORDS];
};

extern struct strata__tag_records strata__tag_records;

/* The number of a name. Names are only ever added, so this needs no lock. */
int strata__tag_find_name(const char *name);
/* The number of the record for a thread and a tag. Under the thread's lock, or by that thread. */
int strata__tag_find_record(const struct strata__tag_thread *thread, unsigned tag);

/* The same, made if need be; and a slot for the thread of that id. Under the lock of all. */
int strata__tag_make_name(const char *name);
int strata__tag_make_record(unsigned slot, unsigned tag);
int strata__tag_make_thread(int id);

/* Adds to a record what may be negative. Takes its thread's lock. */
void strata__tag_change(unsigned number, size_t bytes, size_t blocks);
/* Adds a record to a sum. Takes its thread's lock. */
void strata__tag_add_record(struct strata__tag_stats *out, unsigned number);

/* Writes to the region: a thread or a record, under the lock of the thread. */
void strata__tag_publish_thread(unsigned slot);
void strata__tag_publish_record(unsigned number);
/* How many of each there are: under the lock of all, behind what the counts promise. */
void strata__tag_publish_counts(void);
/* All of them. */
void strata__tags_publish(void);

#endif
