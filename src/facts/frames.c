/*
 * frames.c - unique and exclusive frames over the page tables of several processes.
 *
 * Bit 56 of a pagemap entry says that the page is mapped once, hence here: it is unique
 * and exclusive, and counting it is enough. Only the other pages need to be told apart
 * by frame, since another member may map the same. Of these, a frame is exclusive to the
 * group when the group maps it as often as /proc/kpagecount says that anybody does.
 * The kernel counts no mappings of the page of zeroes, so its count is 0; it belongs to no
 * resident set and is left out (fs/proc/page.c, mm/memory.c vm_normal_page()).
 *
 * Members run on meanwhile. A page that moves between two looks is counted by what was
 * seen; the error is what changed during the read.
 */
#include "facts/frames.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "facts/frame_table.h"
#include "facts/gap.h"
#include "facts/pagemap.h"
#include "facts/process_folder.h"
#include "facts/smaps.h"

enum {
    COUNT_WINDOW = 512, /* entries of kpagecount read at a time */
    COUNT_HOLE = 16,    /* frames that are read over rather than sought past */
};

/* Entries looked at in one process: 1 TiB of address space that may hold pages. */
#define ENTRIES_MAX (UINT64_C(1) << 28)

struct frame_scan {
    struct facts_root *root;
    struct frame_table shared;
    uint64_t exclusive_pages;
    uint64_t unknown_pages; /* present, not exclusive, and we may not see the frame */
    uint64_t entries_left;
};

static int take_slice(struct frame_scan *scan, const uint64_t *entries, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        const uint64_t entry = entries[i];
        if ((entry & PAGEMAP_PRESENT) == 0) {
            continue;
        }
        if ((entry & PAGEMAP_EXCLUSIVE) != 0) {
            scan->exclusive_pages++;
        } else if ((entry & PAGEMAP_FRAME_MASK) == 0) {
            scan->unknown_pages++;
        } else {
            int rc = frame_table_add(&scan->shared, entry & PAGEMAP_FRAME_MASK);
            if (rc != 0) {
                return rc;
            }
        }
    }
    return 0;
}

static int scan_range(
    struct frame_scan *scan, struct pagemap *pagemap, uint64_t start, uint64_t end)
{
    uint64_t entries[PAGEMAP_SLICE];

    while (start < end) {
        const uint64_t pages =
            (end - start + pagemap->page_bytes - 1) / pagemap->page_bytes;
        const size_t count = pages < PAGEMAP_SLICE ? (size_t)pages : PAGEMAP_SLICE;
        if (scan->entries_left < count) {
            return -EFBIG;
        }
        scan->entries_left -= count;
        int rc = pagemap_read(pagemap, start, count, entries);
        if (rc == 0) {
            rc = take_slice(scan, entries, count);
        }
        if (rc != 0) {
            return rc;
        }
        start += count * pagemap->page_bytes;
    }
    return 0;
}

static bool has_pages(const struct process_facts *process, const struct mapping *mapping)
{
    const struct fact *rss = &mapping->values[MAPPING_FACT_RSS];

    if ((mapping->flags & (MAPPING_HUGETLB | MAPPING_IO)) != 0 ||
        strcmp(mapping->path, "[vsyscall]") == 0) {
        return false;
    }
    return !process->mappings_have_values || rss->state != FACT_OK || rss->value > 0;
}

/* All that may be populated in [at, end), which is no more than this at a time. */
static int scan_populated(
    struct frame_scan *scan, struct pagemap *pagemap, uint64_t at, uint64_t end)
{
    uint64_t start;
    uint64_t stop;
    int rc = 0;

    if (end - at <= PAGEMAP_SLICE * pagemap->page_bytes) {
        return scan_range(scan, pagemap, at, end);
    }
    while (rc == 0 && pagemap_next_populated(pagemap, at, end, &start, &stop)) {
        rc = scan_range(scan, pagemap, start, stop);
        at = stop;
    }
    return rc;
}

/*
 * Mappings that touch are scanned as one: a process may have 65,000 of a page each. Of a process
 * alone smaps has told already how many pages are its own; in a group, whose members were read
 * one after the other and share pages anew with each fork, all are looked at here.
 */
static int scan_mappings(struct frame_scan *scan, struct pagemap *pagemap,
    const struct process_facts *process, bool alone)
{
    uint64_t start = 0;
    uint64_t end = 0; /* of what is still to be scanned */
    int rc = 0;

    scan->entries_left = ENTRIES_MAX;
    for (size_t i = 0; rc == 0 && i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];

        if (!has_pages(process, mapping)) {
            continue;
        }
        if (alone && smaps_is_private(mapping)) {
            scan->exclusive_pages +=
                mapping->values[MAPPING_FACT_RSS].value / pagemap->page_bytes;
            continue;
        }
        if (mapping->start != end) {
            rc = scan_populated(scan, pagemap, start, end);
            start = mapping->start;
        }
        end = mapping->end;
    }
    return rc == 0 ? scan_populated(scan, pagemap, start, end) : rc;
}

static int scan_process(
    struct frame_scan *scan, const struct process_facts *process, bool alone)
{
    struct process_folder folder;
    struct pagemap pagemap;

    if (process->mappings_state == FACT_DENIED) {
        return -EACCES; /* a sum without it would be too small */
    }
    if (process->mappings_state == FACT_ABSENT) {
        return -ENOENT;
    }
    int rc = process_folder_open(scan->root, process->pid, &folder);
    if (rc != 0) {
        return rc;
    }
    if (folder.stat.start_time_ticks != process->start_time_ticks) {
        rc = -ESRCH;
    } else {
        rc = pagemap_open(&pagemap, &folder);
    }
    if (rc == 0) {
        rc = scan_mappings(scan, &pagemap, process, alone);
        scan->root->bytes_read += pagemap.bytes_read;
        pagemap_close(&pagemap);
    }
    process_folder_close(&folder);
    return rc;
}

/* Entries that lie close together are read at once: how many, and over how many frames. */
static size_t next_window(
    const struct frame_count *frames, size_t count, size_t *window_frames)
{
    size_t taken = 1;

    while (taken < count && frames[taken].frame - frames[taken - 1].frame <= COUNT_HOLE &&
           frames[taken].frame - frames[0].frame < COUNT_WINDOW) {
        taken++;
    }
    *window_frames = (size_t)(frames[taken - 1].frame - frames[0].frame) + 1;
    return taken;
}

/* Adds the shared frames to the sums, which so far hold the exclusive pages. */
static int sum_shared(
    struct frame_scan *scan, int fd, uint64_t *unique, uint64_t *exclusive)
{
    const size_t count = frame_table_sort(&scan->shared);
    const struct frame_count *frames = scan->shared.places;
    uint64_t counts[COUNT_WINDOW];
    size_t window;

    for (size_t i = 0; i < count;) {
        const size_t taken = next_window(frames + i, count - i, &window);
        const size_t bytes = window * sizeof(counts[0]);
        ssize_t got =
            pread(fd, counts, bytes, (off_t)(frames[i].frame * sizeof(counts[0])));
        if (got < 0) {
            return -errno;
        }
        if ((size_t)got != bytes) {
            return -EIO;
        }
        scan->root->bytes_read += bytes;
        for (size_t j = i; j < i + taken; j++) {
            const uint64_t mapped = counts[frames[j].frame - frames[i].frame];
            *unique += mapped > 0;
            *exclusive += mapped > 0 && frames[j].count >= mapped;
        }
        i += taken;
    }
    return 0;
}

static struct fact bytes_fact(uint64_t pages)
{
    return (struct fact){
        .value = pages * (uint64_t)sysconf(_SC_PAGESIZE), .state = FACT_OK};
}

static int finish(struct frame_scan *scan, struct facts *facts)
{
    uint64_t unique = scan->exclusive_pages;
    uint64_t exclusive = scan->exclusive_pages;

    if (scan->unknown_pages > 0) {
        return -EACCES;
    }
    int fd = facts_open_file(scan->root->proc_fd, "kpagecount");
    if (fd < 0) {
        return fd;
    }
    int rc = sum_shared(scan, fd, &unique, &exclusive);
    close(fd);
    if (rc == 0) {
        facts->unique_bytes = bytes_fact(unique);
        facts->exclusive_bytes = bytes_fact(exclusive);
    }
    return rc;
}

static void report(const struct frame_scan *scan, struct facts *facts, int rc)
{
    const char *why = "reading the page tables failed";

    facts->unique_bytes.state = facts_state_of(rc);
    facts->exclusive_bytes.state = facts_state_of(rc);
    if (rc == -EACCES || rc == -EPERM) {
        why = scan->unknown_pages > 0
                  ? "frame numbers are shown to CAP_SYS_ADMIN only: run with sudo"
                  : "the page tables of a process may not be read";
        if (facts->process_count == 1 && scan->exclusive_pages > 0) {
            facts->exclusive_bytes = bytes_fact(scan->exclusive_pages);
        }
    } else if (rc == -ENOENT) {
        why = "this kernel has no pagemap or kpagecount";
    } else if (rc == -EFBIG) {
        why = "the group has more address space or shared frames than are counted";
    }
    gap_add(facts, "frames", 0, facts_state_of(rc), why);
}

int frames_read(struct facts_root *root, struct facts *facts)
{
    struct frame_scan scan = {.root = root};
    int rc = 0;

    frame_table_init(&scan.shared);
    for (size_t i = 0; rc == 0 && i < facts->process_count; i++) {
        rc = scan_process(&scan, &facts->processes[i], facts->process_count == 1);
        if (rc == -ESRCH) {
            rc = 0; /* its frames went with it */
        }
    }
    if (rc == 0) {
        rc = finish(&scan, facts);
    }
    if (rc != 0 && rc != -ENOMEM) {
        report(&scan, facts, rc);
        rc = 0;
    }
    frame_table_release(&scan.shared);
    return rc;
}
