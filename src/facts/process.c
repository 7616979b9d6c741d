/*
 * process.c - the steps that read one process, each once, through one descriptor.
 *
 * Cheap and always allowed first: stat, status. Then what needs permission; each file that is
 * denied is a gap of its own and stops nothing. At the end the folder is asked whether it
 * still is the same process and program; if it started another program meanwhile,
 * everything is read again, since facts of two programs must not be mixed.
 */
#include "facts/process.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "base/number.h"
#include "facts/cgroup.h"
#include "facts/collect.h"
#include "facts/collection.h"
#include "facts/environment.h"
#include "facts/fact_line.h"
#include "facts/gap.h"
#include "facts/limits.h"
#include "facts/process_memory.h"
#include "facts/process_name.h"
#include "facts/smaps.h"
#include "facts/status.h"

enum { SMALL_FILE_BYTES = 64 << 10, EXEC_TRIES = 4 };

static void set_fact(struct process_facts *process, enum process_fact id, uint64_t value)
{
    process->values[id] = (struct fact){.value = value, .state = FACT_OK};
}

int process_take_stat(struct process_reader *reader, int32_t pid,
    const struct process_stat *stat, struct process_facts *process)
{
    const struct host_facts *host = &reader->facts->host;
    const uint64_t page_bytes = (uint64_t)sysconf(_SC_PAGESIZE);

    *process = (struct process_facts){.pid = pid, .cgroup_index = -1};
    process->parent_pid = stat->parent_pid;
    process->start_time_ticks = stat->start_time_ticks;
    process->run_state = stat->run_state;
    process->kernel_thread = stat->kernel_thread;
    if (host->boot_unix_seconds != 0 && host->clock_ticks_per_second != 0) {
        process->start_unix_seconds = number_add(host->boot_unix_seconds,
            stat->start_time_ticks / host->clock_ticks_per_second);
    }
    set_fact(process, PROCESS_FACT_MINOR_FAULTS, stat->minor_faults);
    set_fact(process, PROCESS_FACT_MAJOR_FAULTS, stat->major_faults);
    set_fact(process, PROCESS_FACT_THREADS, stat->thread_count);
    if (stat->resident_pages <= UINT64_MAX / page_bytes) {
        set_fact(process, PROCESS_FACT_VM_RSS, stat->resident_pages * page_bytes);
    }
    process->name = region_copy_text(&reader->facts->region, stat->name);
    return process->name == NULL ? -ENOMEM : 0;
}

/* Parsers of small files get the text and the process. */
typedef void text_parser(char *text, size_t bytes, struct process_facts *process);

static void parse_limits(char *text, size_t bytes, struct process_facts *process)
{
    limits_parse(text, bytes, process->values);
}

static void parse_oom_score(char *text, size_t bytes, struct process_facts *process)
{
    uint64_t score;

    (void)bytes; /* the text ends with NUL */
    text[strcspn(text, "\n")] = '\0';
    if (number_parse(text, &score) == 0) {
        set_fact(process, PROCESS_FACT_OOM_SCORE, score);
    }
}

/*
 * Reads the file that is the source of some facts. A failure marks them and is a gap, unless
 * the process is gone.
 */
static int read_source(struct process_reader *reader, struct process_folder *folder,
    const char *source, text_parser *parse, struct process_facts *process)
{
    struct buffer buffer;

    buffer_init(&buffer);
    int rc = process_folder_read(folder, source, SMALL_FILE_BYTES, &buffer);
    if (rc == 0 && buffer.data != NULL) {
        parse(buffer.data, buffer.length_bytes, process);
    }
    buffer_release(&buffer);
    if (rc == 0 || rc == -ESRCH || rc == -ENOMEM) {
        return rc;
    }
    fact_line_mark(process_fact_table, PROCESS_FACT_COUNT, source, facts_state_of(rc),
        process->values);
    gap_add_failure(reader->facts, reader->root, source, process, rc);
    return 0;
}

static int read_status(struct process_folder *folder, struct process_facts *process)
{
    struct buffer buffer;
    int32_t group_pid;

    buffer_init(&buffer);
    int rc = process_folder_read(folder, "status", STATUS_MAX_BYTES, &buffer);
    if (rc == 0 && buffer.data != NULL) {
        status_parse(buffer.data, buffer.length_bytes, process, &group_pid);
    }
    buffer_release(&buffer);
    return rc;
}

/* Who it is: never needs permission, except where /proc is mounted with hidepid. */
static int read_identity(struct process_reader *reader, struct process_folder *folder,
    struct process_facts *process)
{
    struct region *region = &reader->facts->region;
    int rc = process_take_stat(reader, folder->pid, &folder->stat, process);

    if (rc == 0) {
        rc = read_status(folder, process);
    }
    if (rc == 0) {
        rc = process_title_read(folder, region, &process->title);
    }
    if (rc == 0 && (process->kernel_thread || process->run_state == 'Z')) {
        rc = -ENODATA;
    }
    if (rc == 0 && reader->cgroups != NULL) {
        rc = cgroup_read_process(
            reader->cgroups, folder->fd, reader->facts, &process->cgroup_index);
        rc = rc == -ESRCH || rc == -ENOMEM ? rc : 0;
    }
    return rc;
}

/* The process's own settings and limits. */
static int read_settings(struct process_reader *reader, struct process_folder *folder,
    struct process_facts *process)
{
    int rc = read_source(reader, folder, "limits", parse_limits, process);

    if (rc == 0) {
        rc = environment_read(folder, &reader->facts->region, process);
        if (rc != 0 && rc != -ESRCH && rc != -ENOMEM) {
            gap_add_failure(reader->facts, reader->root, "environ", process, rc);
            rc = 0;
        }
    }
    return rc;
}

static int read_mappings(struct process_reader *reader, struct process_folder *folder,
    struct process_facts *process)
{
    const bool with_values = (reader->what & COLLECT_SMAPS) != 0;
    int rc = smaps_read(folder, with_values, &reader->facts->region, process);

    if (rc == 0 || rc == -ESRCH || rc == -ENOMEM) {
        return rc;
    }
    gap_add_failure(
        reader->facts, reader->root, with_values ? "smaps" : "maps", process, rc);
    return 0;
}

static bool needs_mappings(const struct process_reader *reader)
{
    return (reader->what &
               (COLLECT_SMAPS | COLLECT_ALLOCATOR | COLLECT_HEAPS | COLLECT_FRAMES)) != 0;
}

/* More than the few files that every process of a host is read by. */
static bool is_close_look(const struct process_reader *reader)
{
    return (reader->what & COLLECT_ROLLUP) != 0 || needs_mappings(reader);
}

static int read_steps(struct process_reader *reader, struct process_folder *folder,
    struct process_facts *process)
{
    const unsigned what = reader->what;
    int rc = read_identity(reader, folder, process);

    if (rc == 0) {
        rc = process_executable_read(folder, &reader->facts->region, &process->executable,
            &process->executable_deleted);
    }
    if (rc == 0 && is_close_look(reader)) {
        rc = read_source(reader, folder, "oom_score", parse_oom_score, process);
    }
    if (rc == 0 && (what & COLLECT_ALLOCATOR) != 0) {
        rc = read_settings(reader, folder, process);
    }
    if (rc == 0 && (what & COLLECT_ROLLUP) != 0) {
        rc = read_source(reader, folder, "smaps_rollup", smaps_rollup_parse, process);
    }
    if (rc == 0 && needs_mappings(reader)) {
        rc = read_mappings(reader, folder, process);
    }
    if (rc == 0 && (what & (COLLECT_ALLOCATOR | COLLECT_HEAPS)) != 0) {
        rc = process_memory_read(reader, folder, process);
    }
    return rc;
}

static int read_once(
    struct process_reader *reader, int32_t pid, struct process_facts *process)
{
    struct process_folder folder;

    *process = (struct process_facts){.pid = pid, .cgroup_index = -1};
    int rc = process_folder_open(reader->root, pid, &folder);
    if (rc != 0) {
        return rc;
    }
    if (is_close_look(reader)) {
        process_folder_watch(&folder);
    }
    rc = read_steps(reader, &folder, process);
    if (rc == 0 && is_close_look(reader)) {
        rc = process_folder_check(&folder);
    }
    process_folder_close(&folder);
    return rc;
}

int process_read(
    struct process_reader *reader, int32_t pid, struct process_facts *process)
{
    const size_t gaps_before = reader->facts->gap_count;
    int rc = -ESTALE;

    for (int tries = 0; tries < EXEC_TRIES && rc == -ESTALE; tries++) {
        reader->facts->gap_count = gaps_before;
        rc = read_once(reader, pid, process);
    }
    if (rc == -EPERM) {
        rc = -EACCES;
    }
    if (rc == -ESTALE) {
        gap_add(reader->facts, "process", pid, FACT_STALE,
            "it kept starting other programs while it was read; the figures may mix "
            "them");
        rc = 0;
    }
    return rc;
}

/* Its failure is a state of the facts, and no gap: of many processes one is enough. */
static int read_rollup_within(struct process_reader *reader,
    struct process_folder *folder, uint64_t *budget_ns, struct process_facts *process)
{
    const size_t gaps_before = reader->facts->gap_count;
    const uint64_t started_ns = collection_cpu_ns();
    int rc = read_source(reader, folder, "smaps_rollup", smaps_rollup_parse, process);

    *budget_ns = number_subtract(*budget_ns, collection_cpu_ns() - started_ns);
    reader->facts->gap_count = gaps_before;
    return rc;
}

int process_read_shortly(struct process_reader *reader, int32_t pid, uint64_t *rollup_ns,
    struct process_facts *process)
{
    struct process_folder folder;

    *process = (struct process_facts){.pid = pid, .cgroup_index = -1};
    int rc = process_folder_open(reader->root, pid, &folder);
    if (rc != 0) {
        return rc;
    }
    rc = read_identity(reader, &folder, process);
    if (rc == 0 && rollup_ns != NULL && *rollup_ns > 0) {
        rc = read_rollup_within(reader, &folder, rollup_ns, process);
    }
    process_folder_close(&folder);
    return rc;
}
