/*
 * cgroup_values.c - the files of a memory cgroup, of both versions, by one table each.
 *
 * Version 2 (Documentation/admin-guide/cgroup-v2.rst): the table is facts.def itself. A limit
 * of "max" is absent. Version 1 (cgroup-v1/memory.rst): the table below. There each key of
 * memory.stat exists twice; "total_" counts the children too, as version 2 always does, so
 * only that one is comparable. "rss" of version 1 is anonymous memory only, and shmem is
 * part of "cache", as it is part of "file". A limit that was never set reads as LONG_MAX
 * rounded down to a page.
 *
 * Network buffers of version 1 (memory.kmem.tcp) have a counter of their own that is not part
 * of the usage (memcg1_charge_skmem() in mm/memcontrol-v1.c, Linux 6.18), so "sock" is absent
 * there, while kmem is part of it.
 *
 * Keys come and go between kernels: what no row names is skipped, what is not there
 * stays absent.
 */
#include "facts/cgroup_values.h"

#include <errno.h>
#include <string.h>

#include "base/number.h"
#include "base/slice.h"
#include "facts/pressure.h"

enum { FILE_MAX_BYTES = 1 << 20 };

/* Limits of version 1 from here on mean none, whatever the page size is up to 64 KiB. */
static const uint64_t unlimited_bytes = (uint64_t)INT64_MAX >> 16 << 16;

struct row {
    enum cgroup_fact fact;
    const char *file;
    const char *key; /* "": the file is one number */
};

static const struct row rows_of_version_2[] = {
#define FACT_CGROUP(ID, name, source, key, ...) {CGROUP_FACT_##ID, source, key},
#include "facts_types/facts.def"
};

/* Rows of one file stand together, so that it is read once. */
static const struct row rows_of_version_1[] = {
    {CGROUP_FACT_USAGE, "memory.usage_in_bytes", ""},
    {CGROUP_FACT_LIMIT, "memory.limit_in_bytes", ""},
    {CGROUP_FACT_PEAK, "memory.max_usage_in_bytes", ""},
    {CGROUP_FACT_SWAP_LIMIT, "memory.memsw.limit_in_bytes", ""},
    {CGROUP_FACT_KERNEL, "memory.kmem.usage_in_bytes", ""},
    {CGROUP_FACT_EVENTS_MAX, "memory.failcnt", ""},
    {CGROUP_FACT_EVENTS_OOM_KILL, "memory.oom_control", "oom_kill"},
    {CGROUP_FACT_SWAP_USAGE, "memory.stat", "total_swap"},
    {CGROUP_FACT_ANON, "memory.stat", "total_rss"},
    {CGROUP_FACT_FILE, "memory.stat", "total_cache"},
    {CGROUP_FACT_SHMEM, "memory.stat", "total_shmem"},
    {CGROUP_FACT_FILE_MAPPED, "memory.stat", "total_mapped_file"},
    {CGROUP_FACT_FILE_DIRTY, "memory.stat", "total_dirty"},
    {CGROUP_FACT_FILE_WRITEBACK, "memory.stat", "total_writeback"},
    {CGROUP_FACT_ANON_THP, "memory.stat", "total_rss_huge"},
    {CGROUP_FACT_INACTIVE_FILE, "memory.stat", "total_inactive_file"},
    {CGROUP_FACT_ACTIVE_FILE, "memory.stat", "total_active_file"},
    {CGROUP_FACT_INACTIVE_ANON, "memory.stat", "total_inactive_anon"},
    {CGROUP_FACT_ACTIVE_ANON, "memory.stat", "total_active_anon"},
    {CGROUP_FACT_UNEVICTABLE, "memory.stat", "total_unevictable"},
    {CGROUP_FACT_SWAP_CACHED, "memory.stat", "total_swapcached"},
    {CGROUP_FACT_LOCAL_INACTIVE_FILE, "memory.stat", "inactive_file"},
};

static const struct table {
    const struct row *rows;
    size_t count;
} tables[] = {
    {rows_of_version_1, sizeof(rows_of_version_1) / sizeof(rows_of_version_1[0])},
    {rows_of_version_2, sizeof(rows_of_version_2) / sizeof(rows_of_version_2[0])},
};

/* One number, alone or in front of a line feed. */
static struct fact parse_number(struct slice text)
{
    struct fact fact = {.state = FACT_MALFORMED};
    const char *end = text.text;

    text = slice_cut_suffix(text, "\n");
    if (text.bytes > 0 && number_read(&end, 10, &fact.value) == 0 &&
        end == text.text + text.bytes) {
        fact.state = FACT_OK;
    } else {
        fact.value = 0;
    }
    return fact;
}

/* The number behind key in lines "key number". */
static struct fact parse_keyed(const char *text, const char *key)
{
    struct slice rest = {text, strlen(text)};
    struct slice line;
    struct slice word;

    while (slice_next(&rest, '\n', &line)) {
        if (slice_next(&line, ' ', &word) && slice_is(word, key)) {
            return parse_number(line);
        }
    }
    return (struct fact){.state = FACT_ABSENT};
}

static struct fact parse_value(const char *text, const char *file, const char *key)
{
    struct slice all = {text, strlen(text)};

    if (key[0] == '\0') {
        return slice_is(all, "max\n") ? (struct fact){.state = FACT_ABSENT}
                                      : parse_number(all);
    }
    return strcmp(file, "memory.pressure") == 0 ? pressure_of_key(text, key)
                                                : parse_keyed(text, key);
}

/* Stores what text says for each row of that file; text NULL: the state of the failure. */
static void store_file(const struct table *table, const char *file, const char *text,
    uint32_t state, struct fact *values)
{
    for (size_t i = 0; i < table->count; i++) {
        const struct row *row = &table->rows[i];
        if (strcmp(row->file, file) == 0) {
            values[row->fact] = text != NULL
                                    ? parse_value(text, file, row->key)
                                    : (struct fact){.state = (enum fact_state)state};
        }
    }
}

static int read_table(struct facts_root *root, int folder_fd, const struct table *table,
    struct buffer *scratch, struct fact *values)
{
    const char *last = "computed"; /* no file: left to others */

    for (size_t i = 0; i < table->count; i++) {
        const char *file = table->rows[i].file;
        if (strcmp(file, last) == 0 || strcmp(file, "computed") == 0) {
            continue;
        }
        last = file;
        int rc = facts_read_file(root, folder_fd, file, FILE_MAX_BYTES, scratch);
        if (rc == -ENOMEM) {
            return rc;
        }
        store_file(table, file, rc == 0 ? buffer_text(scratch) : NULL, facts_state_of(rc),
            values);
    }
    return 0;
}

void cgroup_values_parse(uint32_t version, const char *file, const char *text,
    struct fact values[CGROUP_FACT_COUNT])
{
    store_file(&tables[version - 1], file, text, FACT_OK, values);
}

static void drop_when_unlimited(struct fact *limit)
{
    if (limit->state == FACT_OK && limit->value >= unlimited_bytes) {
        *limit = (struct fact){.state = FACT_ABSENT};
    }
}

/* Version 1 limits memory and swap together; what is left for swap is the difference. */
static void make_swap_limit(struct fact *both, const struct fact *memory)
{
    if (both->state == FACT_OK && memory->state == FACT_OK) {
        both->value = number_subtract(both->value, memory->value);
    }
}

int cgroup_values_read(struct facts_root *root, int folder_fd, uint32_t version,
    struct buffer *scratch, struct fact values[CGROUP_FACT_COUNT])
{
    int rc = read_table(root, folder_fd, &tables[version - 1], scratch, values);

    if (version == 1) {
        drop_when_unlimited(&values[CGROUP_FACT_LIMIT]);
        drop_when_unlimited(&values[CGROUP_FACT_SWAP_LIMIT]);
        make_swap_limit(&values[CGROUP_FACT_SWAP_LIMIT], &values[CGROUP_FACT_LIMIT]);
    }
    return rc;
}

int cgroup_limits_read(struct facts_root *root, int folder_fd, uint32_t version,
    struct buffer *scratch, struct cgroup_limits *limits)
{
    static const struct row limit_rows[] = {
        {CGROUP_FACT_LIMIT, "memory.limit_in_bytes", ""},
        {CGROUP_FACT_LIMIT, "memory.max", ""}};
    static const struct row usage_rows[] = {
        {CGROUP_FACT_USAGE, "memory.usage_in_bytes", ""},
        {CGROUP_FACT_USAGE, "memory.current", ""}};
    const struct table limit_table = {&limit_rows[version - 1], 1};
    const struct table usage_table = {&usage_rows[version - 1], 1};
    struct fact values[CGROUP_FACT_COUNT] = {0};
    int rc = read_table(root, folder_fd, &limit_table, scratch, values);

    limits->limit = values[CGROUP_FACT_LIMIT];
    drop_when_unlimited(&limits->limit);
    /* The kernel sums up all below for it: half a millisecond near the top of a busy tree. */
    if (rc == 0 && limits->limit.state == FACT_OK) {
        rc = read_table(root, folder_fd, &usage_table, scratch, values);
    }
    limits->usage = values[CGROUP_FACT_USAGE];
    return rc;
}

int cgroup_hierarchical_limit(
    struct facts_root *root, int folder_fd, struct buffer *scratch, struct fact *limit)
{
    static const char key[] = "hierarchical_memory_limit";
    int rc = facts_read_file(root, folder_fd, "memory.stat", FILE_MAX_BYTES, scratch);

    *limit = rc == 0 ? parse_keyed(buffer_text(scratch), key)
                     : (struct fact){.state = (enum fact_state)facts_state_of(rc)};
    drop_when_unlimited(limit);
    return rc == -ENOMEM ? rc : 0;
}

bool cgroup_is_charged_for_children(
    struct facts_root *root, int folder_fd, uint32_t version, struct buffer *scratch)
{
    return version != 1 ||
           facts_read_file(
               root, folder_fd, "memory.use_hierarchy", FILE_MAX_BYTES, scratch) != 0 ||
           strcmp(buffer_text(scratch), "0\n") != 0;
}
