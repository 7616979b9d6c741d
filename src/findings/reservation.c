/*
 * reservation.c - address space that was asked for and is not, or hardly, used.
 *
 * Address space is not memory: a page gets a frame when it is first written. So a block may
 * be counted by the program at its full size and be absent from the resident set.
 * The opposite happens to a table that is sized by the limit of open files and then filled
 * with zeros: all of it becomes resident.
 */
#include "findings/reservation.h"

#include <inttypes.h>
#include <stdbool.h>
#include <string.h>

#include "base/number.h"
#include "base/quantity.h"
#include "findings/finding_writer.h"
#include "findings/fix_text.h"
#include "findings/mysql.h"
#include "model/known.h"

enum {
    UNTOUCHED_MIN_PERCENT = 25,
    BYTES_PER_DESCRIPTOR = 8, /* the least that a table has for each open file */
};

/* A pod's manifest has no field for it. */
static const struct fix_setting open_files = {
    .property = "LimitNOFILE",
    .value = "65536",
    .compose = "ulimits:\n  nofile: {soft: 65536, hard: 65536}",
    .pod = "command: [sh, -c, 'ulimit -n 65536; exec \"$@\"', sh]\n"
           "args: [...]  # the command as it was, and its words",
};

static const uint64_t untouched_block_bytes = 16 * FINDING_MIB;
static const uint64_t untouched_min_bytes = 64 * FINDING_MIB;
/* systemd and container engines that mean "infinity" give the kernel's fs.nr_open. */
static const uint64_t nofile_suspicious = UINT64_C(1) << 24;
static const uint64_t table_critical_bytes = 256 * FINDING_MIB;

/* A private writable block of the address space without a recognised owner inside. */
struct block {
    uint64_t size_bytes;
    uint64_t resident_bytes;
};

struct block_list {
    uint64_t untouched_bytes; /* in blocks of which much was never touched */
    uint64_t blocks;
    struct block largest; /* by what is untouched */
    struct block widest;  /* by size */
};

static void add_block(struct block_list *blocks, uint64_t size, uint64_t resident)
{
    const uint64_t untouched = number_subtract(size, resident);

    if (size > blocks->widest.size_bytes) {
        blocks->widest = (struct block){size, resident};
    }
    if (untouched < untouched_block_bytes) {
        return;
    }
    blocks->blocks++;
    blocks->untouched_bytes = number_add(blocks->untouched_bytes, untouched);
    if (untouched >
        number_subtract(blocks->largest.size_bytes, blocks->largest.resident_bytes)) {
        blocks->largest = (struct block){size, resident};
    }
}

static bool is_plain_anonymous(const struct mapping *mapping)
{
    return mapping->inode == 0 && (mapping->permissions & MAPPING_WRITE) != 0 &&
           (mapping->permissions & MAPPING_SHARED) == 0 &&
           (mapping->path[0] == '\0' || strncmp(mapping->path, "[anon:", 6) == 0);
}

/* An allocator that maps in advance, and whose mappings carry no mark. */
static bool maps_in_advance(const struct process_facts *process)
{
    for (size_t i = 0; i < process->allocator_count; i++) {
        const uint32_t kind = process->allocators[i].kind;
        if (process->allocators[i].active && kind != ALLOCATOR_GLIBC &&
            kind != ALLOCATOR_ZEND && kind != ALLOCATOR_PYTHON) {
            return true;
        }
    }
    return false;
}

/* Mapped blocks of malloc, and mappings in which no span lies at all. */
static void add_blocks(struct block_list *blocks, const struct process_facts *process)
{
    size_t next = 0;

    for (size_t i = 0; i < process->span_count; i++) {
        const struct span *span = &process->spans[i];
        if (span->owner == SPAN_GLIBC_MMAPPED && fact_is_known(&span->resident)) {
            add_block(
                blocks, number_subtract(span->end, span->start), span->resident.value);
        }
    }
    if (maps_in_advance(process)) {
        return;
    }
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        const struct fact *rss = &mapping->values[MAPPING_FACT_RSS];

        while (next < process->span_count && process->spans[next].end <= mapping->start) {
            next++;
        }
        if (is_plain_anonymous(mapping) && fact_is_known(rss) &&
            (next == process->span_count || process->spans[next].start >= mapping->end)) {
            add_block(blocks, number_subtract(mapping->end, mapping->start), rss->value);
        }
    }
}

int rule_untouched_reservation(const struct snapshot *snapshot, struct finding_list *list)
{
    const uint64_t resident = target_bytes(snapshot, LAYER_RESIDENT);
    struct block_list blocks = {0};
    struct finding finding = {.pid = target_pid(snapshot), .severity = SEVERITY_INFO};

    for (size_t i = 0; i < snapshot->member_count; i++) {
        add_blocks(&blocks, snapshot->members[i].facts);
    }
    if (!finding_reaches(blocks.untouched_bytes, untouched_min_bytes, resident,
            UNTOUCHED_MIN_PERCENT)) {
        return 0;
    }
    finding.summary = finding_printf(list,
        "%s was asked for in large blocks and never used: it has no memory behind it, "
        "yet the program counts it",
        quantity_bytes(blocks.untouched_bytes, false).text);
    finding.reasoning = "buffer pools and caches are taken at their full size at the "
                        "start; a page gets memory when it is first written, so the "
                        "resident set may still grow by this much";
    finding_add_bytes(&finding, "untouched", blocks.untouched_bytes);
    finding_add_count(&finding, "blocks", blocks.blocks);
    finding_add_bytes(&finding, "largest_block", blocks.largest.size_bytes);
    finding_add_bytes(&finding, "largest_block_resident", blocks.largest.resident_bytes);
    finding.fix = "# nothing to free; a limit must leave room for it: it may be used\n"
                  "# smaller buffers in the program's configuration make it smaller";
    finding.verify = finding_printf(list,
        "strata explain %s: tracked may exceed resident by this much",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}

/* The member whose widest block is largest, among those with a suspicious limit. */
struct nofile_case {
    const struct process_facts *process;
    uint64_t limit;
    struct block widest;
};

static struct nofile_case worst_nofile(const struct snapshot *snapshot)
{
    struct nofile_case worst = {.process = NULL};

    for (size_t i = 0; i < snapshot->member_count; i++) {
        const struct process_facts *process = snapshot->members[i].facts;
        const struct fact *limit = &process->values[PROCESS_FACT_LIMIT_OPEN_FILES];
        struct block_list blocks = {0};

        if (!fact_is_known(limit) || limit->value < nofile_suspicious) {
            continue;
        }
        add_blocks(&blocks, process);
        if (worst.process == NULL || blocks.widest.size_bytes > worst.widest.size_bytes) {
            worst = (struct nofile_case){process, limit->value, blocks.widest};
        }
    }
    return worst;
}

int rule_limit_nofile(const struct snapshot *snapshot, struct finding_list *list)
{
    const struct nofile_case worst = worst_nofile(snapshot);
    const struct process_view *server;
    struct finding finding = {.severity = SEVERITY_INFO};
    bool table;

    if (worst.process == NULL) {
        return 0;
    }
    table = worst.widest.size_bytes / BYTES_PER_DESCRIPTOR >= worst.limit;
    finding.pid = worst.process->pid;
    if (table) {
        finding.severity = worst.widest.resident_bytes >= table_critical_bytes
                               ? SEVERITY_CRITICAL
                               : SEVERITY_WARN;
        finding_predict(&finding, 0, worst.widest.resident_bytes, CONFIDENCE_LIKELY);
    }
    finding.summary =
        table ? finding_printf(list,
                    "the limit of open files is %" PRIu64
                    " and one block of %s is large enough for a table of that many: "
                    "programs such as mysqld size tables by it",
                    worst.limit, quantity_bytes(worst.widest.size_bytes, false).text)
              : finding_printf(list,
                    "the limit of open files is %" PRIu64
                    ": a program that sizes tables by it would take many GiB",
                    worst.limit);
    finding.reasoning =
        "LimitNOFILE=infinity became fs.nr_open, which newer systemd sets to 1073741816";
    finding_add_count(&finding, "limit_open_files", worst.limit);
    finding_add_bytes(&finding, "largest_block", worst.widest.size_bytes);
    finding_add_bytes(&finding, "largest_block_resident", worst.widest.resident_bytes);
    server = mysql_server_of(snapshot);
    if (server != NULL) {
        finding_add_count_fact(&finding, "open_files_limit",
            &server->facts->mysql->values[MYSQL_FACT_OPEN_FILES_LIMIT]);
    }
    finding.fix = fix_property(list, snapshot, &open_files);
    finding.verify = finding_printf(list,
        "after a restart, strata explain %s: resident is smaller, limit_open_files is "
        "65536",
        fix_target(list, snapshot));
    return finding_push(list, &finding);
}
