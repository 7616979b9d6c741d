/*
 * heap_strata_source.c - finds the region that alloc/include/strata/layout.h describes.
 *
 * The process made its segment itself, so the kernel names it as the creator
 * (/proc/sysvipc/shm, ipc/shm.c sysvipc_shm_proc_show()), whoever reads; the id is the inode
 * of the mapping too, for readers that may see mappings. A segment of another namespace may
 * have the same id, so the creator is compared in any case. Attaching needs the mode of the
 * segment only; its size cannot change, so that no copy can fault. What the process has kept
 * private is found by its first bytes at the start of a page of the library's data.
 */
#include "facts/heap_strata_source.h"

#include <errno.h>
#include <string.h>
#include <strata/layout.h>
#include <strata/layout_places.h>
#include <sys/shm.h>
#include <unistd.h>

#include "base/number.h"
#include "facts/line_reader.h"
#include "facts/present_pages.h"

enum {
    LIST_LINES_MAX = 40000, /* kernel.shmmni is at most 32768, unless set higher */
    CANDIDATES_MAX = 64,
    SCAN_PAGES_MAX = 4096,
    COLUMN_ID = 1,
    COLUMN_SIZE = 3,
    COLUMN_CREATOR = 4,
    COLUMNS = 5,
};

static const char segment_prefix[] = "/SYSV5354";
static const char library_name[] = "libstrata-malloc";

static bool is_segment_size(uint64_t bytes)
{
    return bytes >= offsetof(struct strata_region, cpus) &&
           bytes <= STRATA_DIRECTORY_OFFSET;
}

/* ---- by the list of segments */

/* The numbers that a line of the list begins with; the first one, the key, may be negative. */
static bool parse_line(const char *line, uint64_t columns[COLUMNS])
{
    for (int i = 0; i < COLUMNS; i++) {
        line += strspn(line, " -");
        if (number_read(&line, 10, &columns[i]) != 0) {
            return false;
        }
    }
    return true;
}

/* Attaches the segment if it is the region of a process with that pid. 0 or -errno. */
static int attach(struct heap_strata_source *source, int id, int32_t pid)
{
    struct shmid_ds status;
    const void *segment;

    if (shmctl(id, IPC_STAT, &status) != 0) {
        return errno == EACCES ? -EACCES : -ENOENT;
    }
    if (status.shm_cpid != pid || !is_segment_size(status.shm_segsz)) {
        return -ENOENT;
    }
    segment = shmat(id, NULL, SHM_RDONLY);
    if (segment == (const void *)-1) { /* NOLINT(performance-no-int-to-ptr) */
        return errno == EACCES ? -EACCES : -ENOENT;
    }
    if (memcmp(segment, STRATA_LAYOUT_MAGIC, sizeof(STRATA_LAYOUT_MAGIC)) != 0) {
        (void)shmdt(segment);
        return -ENOENT;
    }
    source->segment = segment;
    source->bytes = status.shm_segsz;
    return 0;
}

static int search_list(
    struct heap_strata_source *source, struct line_reader *reader, int32_t pid)
{
    int outcome = -ENOENT;
    int candidates = 0;

    for (int i = 0; i < LIST_LINES_MAX && candidates < CANDIDATES_MAX; i++) {
        uint64_t columns[COLUMNS];
        char *line;
        int rc = line_reader_next(reader, &line);
        if (rc != 0 || line == NULL) {
            return rc != 0 ? rc : outcome;
        }
        if (!parse_line(line, columns) || columns[COLUMN_CREATOR] != (uint64_t)pid ||
            !is_segment_size(columns[COLUMN_SIZE]) || columns[COLUMN_ID] > INT32_MAX) {
            continue;
        }
        candidates++;
        rc = attach(source, (int)columns[COLUMN_ID], pid);
        if (rc == 0) {
            return 0;
        }
        outcome = rc == -EACCES ? rc : outcome;
    }
    return outcome;
}

static int find_in_list(
    struct heap_strata_source *source, struct facts_root *root, int32_t pid)
{
    struct line_reader reader;
    int fd = facts_open_file(root->proc_fd, "sysvipc/shm");

    if (fd < 0) {
        return -ENOENT;
    }
    line_reader_init(&reader, fd);
    int rc = search_list(source, &reader, pid);
    source->bytes_read += reader.bytes_read;
    close(fd);
    return rc;
}

/* ---- by the mappings */

static const struct mapping *segment_mapping(const struct process_facts *process)
{
    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        if (strncmp(mapping->path, segment_prefix, sizeof(segment_prefix) - 1) == 0 &&
            is_segment_size(mapping->end - mapping->start)) {
            return mapping;
        }
    }
    return NULL;
}

static bool holds_magic(struct memory *memory, uint64_t address)
{
    char magic[sizeof(STRATA_LAYOUT_MAGIC)];

    return memory_read_present(memory, address, magic, sizeof(magic)) == 0 &&
           memcmp(magic, STRATA_LAYOUT_MAGIC, sizeof(magic)) == 0;
}

/* The pages of one mapping; a budget bounds what a program can make us look at. */
static uint64_t scan(
    struct memory *memory, const struct mapping *mapping, int *pages_left)
{
    struct present_pages pages;
    uint64_t address = mapping->start;
    uint64_t page;

    present_pages_init(&pages, memory);
    while (*pages_left > 0 &&
           present_pages_next(&pages, address, mapping->end, &page) == 1) {
        if (holds_magic(memory, page)) {
            return page;
        }
        address = page + memory->page_bytes;
        (*pages_left)--;
    }
    return 0;
}

/* The library's variables: its own writable mappings and the anonymous one behind. */
static uint64_t find_private(struct memory *memory, const struct process_facts *process)
{
    int pages_left = SCAN_PAGES_MAX;
    uint64_t library_end = 0;

    for (size_t i = 0; i < process->mapping_count; i++) {
        const struct mapping *mapping = &process->mappings[i];
        const bool ours = strstr(mapping->path, library_name) != NULL;
        const bool behind = mapping->inode == 0 && mapping->start == library_end;
        if (!ours && !behind) {
            continue;
        }
        library_end = mapping->end;
        if ((mapping->permissions & (MAPPING_WRITE | MAPPING_SHARED)) == MAPPING_WRITE) {
            const uint64_t found = scan(memory, mapping, &pages_left);
            if (found != 0) {
                return found;
            }
        }
    }
    return 0;
}

/* ---- all together */

static void find_address(
    struct heap_strata_source *source, const struct process_facts *process)
{
    const struct mapping *mapping = segment_mapping(process);

    if (mapping != NULL) {
        source->address = mapping->start;
        source->bytes = mapping->end - mapping->start;
    } else if (source->memory != NULL) {
        source->address = find_private(source->memory, process);
        source->bytes = source->address != 0 ? STRATA_DIRECTORY_OFFSET : 0;
    }
}

static int find_segment(struct heap_strata_source *source, struct process_folder *folder,
    const struct process_facts *process)
{
    const struct mapping *mapping = segment_mapping(process);
    int rc = -ENOENT;

    if (mapping != NULL && mapping->inode <= INT32_MAX) {
        rc = attach(source, (int)mapping->inode, process->pid);
    } else if (process->mapping_count == 0) {
        rc = find_in_list(source, folder->root, process->pid);
    }
    return rc;
}

int heap_strata_source_open(struct process_folder *folder, struct memory *memory,
    const struct process_facts *process, struct heap_strata_source *source)
{
    int rc = -ENOENT;

    *source = (struct heap_strata_source){.memory = memory};
    find_address(source, process);
    if (folder != NULL && folder->root->pids_are_ours) {
        rc = find_segment(source, folder, process);
    }
    if (rc == 0 || (memory != NULL && source->address != 0 &&
                       holds_magic(memory, source->address))) {
        return 0;
    }
    return source->address != 0 && memory == NULL ? -EACCES : rc;
}

void heap_strata_source_close(struct heap_strata_source *source)
{
    if (source->segment != NULL) {
        (void)shmdt(source->segment);
        source->segment = NULL;
    }
}

int heap_strata_source_read(
    struct heap_strata_source *source, uint64_t offset, void *data, size_t bytes)
{
    if (offset > source->bytes || bytes > source->bytes - offset) {
        return -EFAULT;
    }
    if (source->segment == NULL) {
        return memory_read_present(source->memory, source->address + offset, data, bytes);
    }
    memcpy(data, source->segment + offset, bytes);
    source->bytes_read += bytes;
    return 0;
}
